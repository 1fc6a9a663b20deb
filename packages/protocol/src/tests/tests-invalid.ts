/** Which argument of `job.create` is at fault; `tests` is the zip itself, however it came. */
export type TestsField = 'tests' | 'tests_format' | 'samples'

/** Stable: programs switch on it. */
export type TestsFault =
  | 'no_cases'
  | 'no_manifest'
  | 'manifest_syntax'
  | 'manifest_field'
  | 'path_outside'
  | 'file_missing'
  | 'duplicate'
  | 'unknown_sample'

/** The tests cannot be judged as they are. `where` is the place in the manifest, such as `manifest.json cases[3].in`. */
export class TestsInvalid extends Error {
  readonly code: TestsFault
  readonly field: TestsField
  readonly where: string | undefined
  readonly hint: string | undefined
  constructor(
    code: TestsFault,
    message: string,
    more: { readonly field?: TestsField; readonly where?: string; readonly hint?: string } = {},
  ) {
    super(more.where === undefined ? message : `${more.where}: ${message}`)
    this.name = 'TestsInvalid'
    this.code = code
    this.field = more.field ?? 'tests'
    this.where = more.where
    this.hint = more.hint
  }
}

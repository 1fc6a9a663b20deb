import { ToolError } from '@parley/protocol'
import { StoreError } from '@parley/store'

/** Where a zip came from, by the argument's name. */
export type ZipField = 'tests_zip_b64' | 'tests_blob'

const NAME_SHOWN_CHARS = 200

/** The zip cannot be taken; the message says which entry and why, the hint what to do. */
export class ZipRefused extends Error {
  readonly code = 'zip_refused'
  readonly hint: string | undefined
  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ZipRefused'
    this.hint = hint
  }
}

/** An entry that cannot be taken. Its name is quoted, because it may hold anything. */
export const refuseEntry = (name: string, fault: string, hint?: string, options?: ErrorOptions): ZipRefused =>
  new ZipRefused(`entry ${shown(name)} ${fault}`, hint, options)

export const shown = (name: string): string =>
  name.length <= NAME_SHOWN_CHARS ? JSON.stringify(name) : `${JSON.stringify(name.slice(0, NAME_SHOWN_CHARS))}…`

/** Passes on what is ours or the store's; anything else went wrong because of the bytes. */
export function asRefusal(error: unknown, otherwise: (cause: Error) => ZipRefused): Error {
  if (!(error instanceof Error)) return otherwise(new Error(String(error)))
  return error instanceof ZipRefused || error instanceof StoreError || error instanceof ToolError ? error : otherwise(error)
}

/** Runs what reads a zip; a refusal becomes an error at the argument that the zip came in. */
export async function atField<Result>(field: ZipField, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ZipRefused)) throw error
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    throw new ToolError('invalid_argument', `${field}: ${error.message}`, { field, ...hint, cause: error })
  }
}

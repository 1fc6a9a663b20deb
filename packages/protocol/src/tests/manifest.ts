import * as z from 'zod'
import { CompareMode, FloatTolerance } from '../job/compare.ts'
import { Language, languageOfFile } from '../job/language.ts'
import { JOB_LIMITS } from '../job/limits.ts'
import { parseJson } from '../json.ts'
import { TestsInvalid } from './tests-invalid.ts'

const MANIFEST = 'manifest.json'
const NAME_CHARS_MAX = 256
const PATH_CHARS_MAX = 1_024
const POINTS_MAX = 1e9

/** Where the manifest stands among a job's inputs, and how much of it is read. */
export const MANIFEST_PATH = `tests/${MANIFEST}`
export const MANIFEST_BYTES_MAX = 1024 * 1024

const { timeLimitMs, memoryLimitMb } = JOB_LIMITS
const Name = z
  .string()
  .min(1)
  .max(NAME_CHARS_MAX)
  .refine((name) => !/\p{Cc}/u.test(name) && name.isWellFormed(), 'must not contain control characters')
const Path = z.string().min(1).max(PATH_CHARS_MAX)
const Points = z.number().min(0).max(POINTS_MAX)
const Program = z.union([Path, z.strictObject({ file: Path, language: Language.optional() })])

const ManifestCase = z.strictObject({
  name: Name.optional(),
  group: Name.default('default'),
  in: Path,
  out: Path.nullable().optional(),
  compare_mode: CompareMode.optional(),
  hidden: z.boolean().default(false),
  points: Points.optional(),
})

const ManifestGroup = z.strictObject({ points: Points.optional() })

/** `tests/manifest.json`. Closed: a misspelt `hidden` would show what must not be seen. Paths are relative to `tests/`. */
export const TestsManifest = z.strictObject({
  $schema: z.string().optional(),
  schema_version: z.union([z.string(), z.number()]).optional(),
  compare_mode: CompareMode.optional(),
  float_tolerance: FloatTolerance.optional(),
  time_limit_ms: z.int().min(timeLimitMs.min).max(timeLimitMs.max).optional(),
  memory_limit_mb: z.int().min(memoryLimitMb.min).max(memoryLimitMb.max).optional(),
  checker: Program.optional(),
  interactor: Program.optional(),
  groups: z
    .union([z.array(ManifestGroup.extend({ name: Name })).max(JOB_LIMITS.zipEntries), z.record(Name, ManifestGroup)])
    .optional(),
  cases: z.array(ManifestCase).max(JOB_LIMITS.zipEntries),
})
export type TestsManifest = z.infer<typeof TestsManifest>

/** A program that the manifest names: its path among the inputs and what it is written in. */
export interface TestsProgram {
  readonly path: string
  readonly language: Language
}

/** Reads the text of a manifest; throws `TestsInvalid` that names the place. */
export function parseManifest(text: string): TestsManifest {
  const value = parseJson(text.startsWith('\uFEFF') ? text.slice(1) : text)
  if (value === undefined) throw new TestsInvalid('manifest_syntax', 'is not JSON', { where: MANIFEST })
  const parsed = TestsManifest.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = deepest(parsed.error.issues)
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const path = unknown === undefined ? (issue?.path ?? []) : [...(issue?.path ?? []), unknown]
  const fault = unknown === undefined ? (issue?.message ?? 'is wrong') : 'is not known'
  throw new TestsInvalid('manifest_field', fault, { where: whereOf(path) })
}

/** The inputs' name of a file that the manifest names. It must be there, below `tests/`, and written in one plain way. */
export function manifestFile(path: string, at: readonly PropertyKey[], files: ReadonlySet<string>): string {
  const where = whereOf(at)
  const shown = path.slice(0, NAME_CHARS_MAX)
  const isPlain = path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
  if (!isPlain || path.includes('\\') || /^[A-Za-z]:/.test(path))
    throw new TestsInvalid('path_outside', `${shown} is not a path below tests/`, {
      where,
      hint: 'paths are relative to tests/, with /, without . and ..',
    })
  const name = `tests/${path.normalize('NFC')}`
  if (!files.has(name))
    throw new TestsInvalid('file_missing', `there is no file ${shown}`, { where, hint: 'paths are relative to tests/' })
  return name
}

export function manifestProgram(
  program: z.infer<typeof Program> | undefined,
  at: 'checker' | 'interactor',
  files: ReadonlySet<string>,
): TestsProgram | undefined {
  if (program === undefined) return undefined
  const { file, language = languageOfFile(file) } = typeof program === 'string' ? { file: program } : program
  const path = manifestFile(file, typeof program === 'string' ? [at] : [at, 'file'], files)
  if (language === undefined)
    throw new TestsInvalid('manifest_field', `${file} does not say what it is written in`, {
      where: whereOf([at]),
      hint: `write {"file": …, "language": one of ${Language.options.join(', ')}}`,
    })
  return { path, language }
}

/** `manifest.json cases[3].in` */
export function whereOf(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part).slice(0, NAME_CHARS_MAX)}`)).join('')
  return text === '' ? MANIFEST : `${MANIFEST} ${text.replace(/^\./, '')}`
}

/** Of a choice between forms, what is wrong inside the form that was meant: the one that was followed deepest. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [issue] = issues
  if (issue?.code !== 'invalid_union') return issue
  const inner = issue.errors
    .map(deepest)
    .filter((found) => found !== undefined)
    .toSorted((a, b) => b.path.length - a.path.length)[0]
  return inner === undefined || inner.path.length === 0
    ? { ...issue, message: 'has the wrong form' }
    : { ...inner, path: [...issue.path, ...inner.path] }
}

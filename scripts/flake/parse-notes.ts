import { SEED_LIMIT, TIMES_LIMIT, type Order } from './arguments.ts'
import type { Finding, Findings } from './compare.ts'
import type { PlannedPart } from './plan.ts'
import type { FinishedPart } from './report.ts'

/** How far a run has come. A part stands in it once all its runs are over. */
export interface Notes {
  readonly form: typeof FORM
  readonly order: Order
  readonly commit: string
  readonly parts: readonly PlannedPart[]
  readonly finished: readonly FinishedPart[]
}

/** Raised when notes of old can no longer be read. */
export const FORM = 2
/** A part's name is a part of the paths of its logs. */
const PART_NAME = /^[a-z0-9-]{1,100}$/
const COMMIT = /^(?:[0-9a-f]{40,64}|no commit)$/
const COUNT_LIMIT = 1_000_000

/** Notes as they were written, or an error: what is read there decides which files are run and written. */
export function parseNotes(text: string): Notes {
  const notes = record(JSON.parse(text))
  if (notes['form'] !== FORM) throw new TypeError('the notes have another form')
  return {
    form: FORM,
    order: order(notes['order']),
    commit: matching(COMMIT)(notes['commit']),
    parts: list(notes['parts'], plannedPart),
    finished: list(notes['finished'], finishedPart),
  }
}

function order(value: unknown): Order {
  const { paths, times, load, seed, part } = record(value)
  if (typeof load !== 'boolean') throw new TypeError('load is neither true nor false')
  const only = part === undefined ? {} : { part: partName(part) }
  return { paths: list(paths, words), times: count(times, 1, TIMES_LIMIT), load, seed: count(seed, 1, SEED_LIMIT), ...only }
}

function plannedPart(value: unknown): PlannedPart {
  const { name, files } = record(value)
  return { name: partName(name), files: list(files, testFile) }
}

function finishedPart(value: unknown): FinishedPart {
  const { name, tests, findings, logs } = record(value)
  return {
    name: partName(name),
    tests: count(tests, 0, COUNT_LIMIT),
    findings: findingsOf(findings),
    logs: list(logs, words),
  }
}

function findingsOf(value: unknown): Findings {
  const { changing, failing, outside } = record(value)
  return { changing: list(changing, finding), failing: list(failing, finding), outside: list(outside, finding) }
}

function finding(value: unknown): Finding {
  const { what, runs, of } = record(value)
  const run = (one: unknown) => {
    const { run: number, seed, words: said } = record(one)
    return { run: count(number, 1, TIMES_LIMIT), seed: count(seed, 1, SEED_LIMIT + TIMES_LIMIT), words: words(said) }
  }
  return { what: words(what), runs: list(runs, run), of: count(of, 0, TIMES_LIMIT) }
}

/** A test inside the clone. */
function testFile(value: unknown): string {
  const file = words(value)
  if (!file.endsWith('.test.ts') && !file.endsWith('.test.tsx')) throw new TypeError(`${file} is no test`)
  if (file.startsWith('/') || file.includes('\\') || file.split('/').includes('..'))
    throw new TypeError(`${file} is outside of the clone`)
  return file
}

const partName = matching(PART_NAME)

function matching(pattern: RegExp): (value: unknown) => string {
  return (value) => {
    const text = words(value)
    if (!pattern.test(text)) throw new TypeError(`${text} does not match ${pattern}`)
    return text
  }
}

function words(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a text is missing')
  return value
}

function count(value: unknown, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw new TypeError(`a whole number from ${least} to ${most} is missing`)
  return value
}

function list<T>(value: unknown, parse: (entry: unknown) => T): readonly T[] {
  if (!Array.isArray(value)) throw new TypeError('a list is missing')
  return value.map((entry: unknown) => parse(entry))
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('an object is missing')
  return Object.fromEntries(Object.entries(value))
}

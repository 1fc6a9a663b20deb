import { type JobSpec, type JsonObject, type JsonValue, type Solution, mainFile } from '@parley/protocol'
import { cutChars } from '../status/cut.ts'
import { fullDiff } from './full-diff.ts'

const TEXT_CHARS = 100_000
const LINES_MAX = 10_000
const ITEMS_MAX = 100
const ISSUES = ['wrong_approach', 'minor_bug', 'no_seed_code'] as const

export interface SolutionParts {
  readonly spec: JobSpec
  readonly code: string
  /** What the model said about it; anything may be missing or of another kind. */
  readonly document: JsonObject
  readonly tolerated: readonly string[]
  readonly attempt: number
}

/** `solution.json`: what the model said, brought into shape, and the whole difference to the user's code. */
export function makeSolution({ spec, code, document, tolerated, attempt }: SolutionParts): Solution {
  const seed = spec.seed.current_code
  return {
    schema_version: 'solution.v1',
    job_id: spec.job_id,
    solution_idea: textOf(document['solution_idea']),
    seed_code_idea: textOf(document['seed_code_idea']),
    seed_code_bug_reason: textOf(document['seed_code_bug_reason']),
    user_feedback_md: textOf(document['user_feedback_md']),
    seed_code_issue_type: issueOf(document['seed_code_issue_type'], seed),
    seed_code_wrong_lines: linesOf(document['seed_code_wrong_lines'], seed),
    seed_code_fix_diff: textOf(document['seed_code_fix_diff']),
    seed_code_full_diff: fullDiff(seed, code, mainFile(spec.language)),
    assumptions: textsOf(document['assumptions']),
    complexity: textOf(document['complexity']),
    attempt,
    tolerated: [...tolerated],
  }
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return cutChars(value, TEXT_CHARS)
  return value === undefined || value === null ? '' : cutChars(JSON.stringify(value), TEXT_CHARS)
}

function textsOf(value: JsonValue | undefined): string[] {
  const items = Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value]
  return items.slice(0, ITEMS_MAX).map(textOf)
}

/** Without code of the user there is nothing wrong with it, whatever the model says. */
function issueOf(value: JsonValue | undefined, seed: string): Solution['seed_code_issue_type'] {
  if (seed.trim() === '') return 'no_seed_code'
  const found = ISSUES.find((issue) => issue === value)
  return found === undefined || found === 'no_seed_code' ? 'wrong_approach' : found
}

/** Lines that the user's code has. */
function linesOf(value: JsonValue | undefined, seed: string): number[] {
  const most = Math.min(LINES_MAX, seed.trim() === '' ? 0 : seed.split('\n').length)
  const numbers = (Array.isArray(value) ? value : []).map(Number)
  return [...new Set(numbers.filter((line) => Number.isInteger(line) && line >= 1 && line <= most))].toSorted((a, b) => a - b)
}

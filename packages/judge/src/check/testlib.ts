import { viewOf } from './bytes.ts'

/** What a checker or interactor of the problem's author said. `score` is a part of the case's points, 0 to 1. */
export interface CheckerVerdict {
  readonly verdict: 'AC' | 'WA' | 'PE' | 'SE'
  readonly score: number
  readonly message: string
}

const MESSAGE_BYTES = 1_024
/** Of a partly right answer: `_pc(n)` counts up to this. */
const PARTIAL_FULL = 200
const PARTIAL_BASE = 16
const POINTS_FULL = 100

/**
 * Reads testlib's exit codes: 0 right, 1 wrong, 2 wrong format, 3 the checker or its data failed, 4 more output than
 * expected, 5 and 7 points, 8 output ends too soon, 16 and more partly right. `_pc(n)` ends with a code that may stand for
 * something else, so its words on standard error count first. A partly right answer is `WA` with a score. Points are a
 * part of 1; above 1 they are taken as percent. Every other code, and a checker that a signal ended (null), is `SE`:
 * the author's program failed, not the answer.
 */
export function readCheckerVerdict(exitCode: number | null, stderr: Uint8Array): CheckerVerdict {
  const text = firstWords(stderr)
  const partial = /^partially correct \((-?\d+)\)/.exec(text)
  if (exitCode === null) return { verdict: 'SE', score: 0, message: text === '' ? 'the checker was killed' : text }
  if (partial !== null && exitCode !== FAILED) return scored(Number(partial[1]) / PARTIAL_FULL, text)
  if (exitCode === POINTS || exitCode === POINTS_BY_NUMBER) return readPoints(text)
  if (exitCode >= PARTIAL_BASE && exitCode <= PARTIAL_BASE + PARTIAL_FULL) {
    return scored((exitCode - PARTIAL_BASE) / PARTIAL_FULL, text === '' ? 'partly right' : text)
  }
  const known = CODES.get(exitCode)
  if (known === undefined) return { verdict: 'SE', score: 0, message: `the checker ended with code ${exitCode}: ${text}` }
  return { verdict: known.verdict, score: known.verdict === 'AC' ? 1 : 0, message: text === '' ? known.message : text }
}

const FAILED = 3
const POINTS_BY_NUMBER = 5
const POINTS = 7

const CODES: ReadonlyMap<number, Pick<CheckerVerdict, 'verdict' | 'message'>> = new Map([
  [0, { verdict: 'AC', message: 'ok' }],
  [1, { verdict: 'WA', message: 'wrong answer' }],
  [2, { verdict: 'PE', message: 'wrong output format' }],
  [FAILED, { verdict: 'SE', message: 'the checker failed' }],
  [4, { verdict: 'PE', message: 'more output than expected' }],
  [8, { verdict: 'WA', message: 'the output ends too soon' }],
])

function readPoints(text: string): CheckerVerdict {
  const found = /^(?:points )?([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?=\s|$)/.exec(text)
  const points = Number(found?.[1])
  if (!Number.isFinite(points)) return { verdict: 'SE', score: 0, message: `the checker gave no number of points: ${text}` }
  return scored(points > 1 ? points / POINTS_FULL : points, text)
}

function scored(score: number, message: string): CheckerVerdict {
  const bounded = Math.min(1, Math.max(0, score))
  return { verdict: bounded === 1 ? 'AC' : 'WA', score: bounded, message }
}

/** Without control characters: the words end up in terminals, and each would take six bytes in a report. */
function firstWords(stderr: Uint8Array): string {
  const text = viewOf(stderr.subarray(0, MESSAGE_BYTES))
    .toString('utf8')
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\P{Cc}\n\t]+/gu, '\uFFFD')
    .trim()
  return stderr.length > MESSAGE_BYTES ? `${text}…` : text
}

import type { CaseDiff, CompareMode, FloatTolerance } from '@parley/protocol'
import { samePrefix, viewOf } from './bytes.ts'
import { compareFloats } from './floats.ts'
import { compareLines, TRIMMED_LINES, WHOLE_LINES } from './lines.ts'
import type { Mismatch } from './mismatch.ts'
import { previewBytes, quote } from './preview.ts'
import { compareTokens, sameTokens } from './tokens.ts'
import { compareUnorderedLines } from './unordered-lines.ts'

/** What a program wrote and what it should have written, as bytes: nothing is decoded, so any output can be compared. */
export interface AnswerPair {
  readonly mode: CompareMode
  /** For `floats`. */
  readonly tolerance: FloatTolerance
  readonly expected: Uint8Array
  readonly actual: Uint8Array
}

export interface AnswerVerdict {
  readonly verdict: 'AC' | 'WA' | 'PE'
  readonly diff: CaseDiff
}

/**
 * Compares an answer with what is expected, at one go: large ones take seconds. `PE` stands for white space alone: the answer
 * differs under `exact`, `lines` or `trim_ws`, and would be right under `tokens`. The other modes know only right and wrong.
 * `checker` and `interactive` are decided by a program; to ask for them here is a bug.
 */
export function compareWhole({ mode, tolerance, expected, actual }: AnswerPair): AnswerVerdict {
  const wanted = viewOf(expected)
  const got = viewOf(actual)
  const mismatch = wanted.equals(got) ? undefined : compareUnder(mode, tolerance, wanted, got)
  if (mismatch === undefined) {
    return { verdict: 'AC', diff: { ok: true, mode, message: 'ok', expected_preview_b64: '', actual_preview_b64: '' } }
  }
  const layoutOnly = COUNTS_LAYOUT.has(mode) && sameTokens(wanted, got)
  return {
    verdict: layoutOnly ? 'PE' : 'WA',
    diff: {
      ok: false,
      mode,
      message: layoutOnly ? `only white space differs: ${mismatch.message}` : mismatch.message,
      expected_preview_b64: viewOf(mismatch.expectedPreview).toString('base64'),
      actual_preview_b64: viewOf(mismatch.actualPreview).toString('base64'),
    },
  }
}

const COUNTS_LAYOUT: ReadonlySet<CompareMode> = new Set<CompareMode>(['exact', 'lines', 'trim_ws'])

function compareUnder(mode: CompareMode, tolerance: FloatTolerance, expected: Buffer, actual: Buffer): Mismatch | undefined {
  switch (mode) {
    case 'tokens':
      return compareTokens(expected, actual)
    case 'trim_ws':
      return compareLines(expected, actual, TRIMMED_LINES)
    case 'exact':
      return compareExact(expected, actual)
    case 'lines':
      return compareLines(expected, actual, WHOLE_LINES)
    case 'unordered_lines':
      return compareUnorderedLines(expected, actual)
    case 'floats':
      return compareFloats(expected, actual, tolerance)
    case 'checker':
    case 'interactive':
      throw new TypeError(`a program decides under ${mode}: there is nothing to compare`)
  }
}

function compareExact(expected: Buffer, actual: Buffer): Mismatch | undefined {
  const at = samePrefix(expected, actual)
  if (at === expected.length && at === actual.length) return undefined
  return {
    message: exactWords(expected, actual, at),
    expectedPreview: previewBytes(expected, at),
    actualPreview: previewBytes(actual, at),
  }
}

function exactWords(expected: Buffer, actual: Buffer, at: number): string {
  if (at === actual.length) return `answer ends after byte ${at}, ${expected.length - at} more expected`
  if (at === expected.length) return `answer goes on after byte ${at} with "${quote(actual, at, actual.length)}"`
  return `byte ${at + 1}: expected "${quote(expected, at, expected.length)}", got "${quote(actual, at, actual.length)}"`
}

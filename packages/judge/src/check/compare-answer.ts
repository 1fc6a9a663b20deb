import { type CompareMode, FloatTolerance } from '@parley/protocol'
import { open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { viewOf } from './bytes.ts'
import { type Comparers, type ComparisonPlace, TURN_BYTES } from './comparers.ts'
import { type AnswerVerdict, compareWhole } from './compare-whole.ts'
import { AT_ONCE_BYTES, type ExpectedAnswer, ExpectedUnreadable } from './comparison.ts'

const DEFAULT_TOLERANCE = FloatTolerance.parse({})
const NOTHING = new Uint8Array()

export interface AnswerQuestion {
  readonly mode: CompareMode
  /** For `floats`; null stands for one millionth, absolute or relative. */
  readonly tolerance: FloatTolerance | null
  readonly expected: ExpectedAnswer
  readonly actual: Uint8Array
}

/**
 * Compares an answer with what is expected. All jobs of a judge share one event loop, and their claims are renewed there: answers
 * that would hold it for long are compared in a thread. Throws `ExpectedUnreadable`, and `Cancelled` or `NoPlace` once the signal has fired.
 */
export async function compareAnswer(
  question: AnswerQuestion,
  comparers: Comparers,
  place: ComparisonPlace,
): Promise<AnswerVerdict> {
  const { mode, expected, actual } = question
  const tolerance = question.tolerance ?? DEFAULT_TOLERANCE
  if (expected.kind === 'bytes' && expected.bytes.length + actual.length <= AT_ONCE_BYTES) {
    return compareWhole({ mode, tolerance, expected: expected.bytes, actual })
  }
  // Most answers are right to the byte: those need neither a thread nor a copy.
  if (await areSame(expected, actual, place.signal)) {
    return compareWhole({ mode, tolerance, expected: NOTHING, actual: NOTHING })
  }
  return comparers.compare({ mode, tolerance, expected, actual }, place)
}

async function areSame(expected: ExpectedAnswer, actual: Uint8Array, signal: AbortSignal): Promise<boolean> {
  if (expected.kind === 'bytes') return viewOf(expected.bytes).equals(actual)
  if (expected.sizeBytes !== actual.length) return false
  const file = await open(expected.path).catch((cause: unknown) => Promise.reject(new ExpectedUnreadable({ cause })))
  try {
    const piece = new Uint8Array(Math.min(TURN_BYTES, actual.length))
    for (let at = 0; at < actual.length && !signal.aborted;) {
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0 || !viewOf(piece.subarray(0, bytesRead)).equals(actual.subarray(at, at + bytesRead))) return false
      at += bytesRead
      await nextTurn()
    }
    return !signal.aborted
  } catch (cause) {
    throw new ExpectedUnreadable({ cause })
  } finally {
    await file.close()
  }
}

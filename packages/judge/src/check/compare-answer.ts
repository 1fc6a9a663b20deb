import { FloatTolerance } from '@parley/protocol'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { viewOf } from './bytes.ts'
import { compareInThread, TURN_BYTES } from './compare-thread.ts'
import { type AnswerPair, type AnswerVerdict, compareWhole } from './compare-whole.ts'

/** Both sides together: so much is compared in less time than a thread takes to begin. */
const AT_ONCE_BYTES = 256 * 1024
const DEFAULT_TOLERANCE = FloatTolerance.parse({})

/** As in `AnswerPair`; a null tolerance stands for one millionth, absolute or relative. */
export interface AnswerQuestion extends Omit<AnswerPair, 'tolerance'> {
  readonly tolerance: FloatTolerance | null
}

/**
 * Compares an answer with what is expected. All jobs of a judge share one event loop, and their claims are renewed there: answers
 * that would hold it for long are compared in a thread.
 */
export async function compareAnswer(question: AnswerQuestion): Promise<AnswerVerdict> {
  const { expected, actual } = question
  const pair = { ...question, tolerance: question.tolerance ?? DEFAULT_TOLERANCE }
  if (expected.length + actual.length <= AT_ONCE_BYTES) return compareWhole(pair)
  // Most answers are right to the byte: those need neither a thread nor a copy.
  if (await areSame(expected, actual)) return compareWhole({ ...pair, expected: NOTHING, actual: NOTHING })
  return compareInThread(pair)
}

const NOTHING = new Uint8Array()

async function areSame(left: Uint8Array, right: Uint8Array): Promise<boolean> {
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at += TURN_BYTES) {
    if (!viewOf(left.subarray(at, at + TURN_BYTES)).equals(right.subarray(at, at + TURN_BYTES))) return false
    await nextTurn()
  }
  return true
}

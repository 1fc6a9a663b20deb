import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { type AnswerVerdict, compareWhole } from './compare-whole.ts'
import type { Comparison, ExpectedAnswer } from './comparison.ts'

// A schema would have to be loaded first, which takes longer than most comparisons.
const isComparison = (value: unknown): value is Comparison => typeof value === 'object' && value !== null && 'expected' in value

const given: unknown = workerData
if (!isComparison(given)) throw new TypeError('the thread that compares got nothing to compare')
parentPort?.postMessage(compare(given))

/** Null when what is expected cannot be read. */
function compare(comparison: Comparison): AnswerVerdict | null {
  const expected = read(comparison.expected)
  return expected === undefined ? null : compareWhole({ ...comparison, expected })
}

function read(expected: ExpectedAnswer): Uint8Array | undefined {
  if (expected.kind === 'bytes') return expected.bytes
  try {
    return readFileSync(expected.path)
  } catch {
    return undefined
  }
}

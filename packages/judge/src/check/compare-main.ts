import { parentPort, workerData } from 'node:worker_threads'
import { type AnswerPair, compareWhole } from './compare-whole.ts'

// A schema would have to be loaded first, which takes longer than most comparisons.
const isPair = (value: unknown): value is AnswerPair => typeof value === 'object' && value !== null && 'expected' in value

const given: unknown = workerData
if (!isPair(given)) throw new TypeError('the thread that compares got nothing to compare')
parentPort?.postMessage(compareWhole(given))

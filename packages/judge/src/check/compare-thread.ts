import { CaseDiff } from '@parley/protocol'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import * as z from 'zod'
import type { AnswerPair, AnswerVerdict } from './compare-whole.ts'

/** How many bytes are copied or compared between two turns of the event loop. */
export const TURN_BYTES = 4 * 1024 * 1024
/** Each thread has a copy of both sides and a core: more of them would crowd out the programs that are being measured. */
const THREADS_AT_ONCE = 2

const Answered = z.object({ verdict: z.enum(['AC', 'WA', 'PE']), diff: CaseDiff })
const waiting: (() => void)[] = []
let threads = 0

/** Compares in a thread of its own. Nothing of the work is done on the event loop but the copy of both sides, in pieces. */
export async function compareInThread(pair: AnswerPair): Promise<AnswerVerdict> {
  await begin()
  try {
    return await ask({ ...pair, expected: await copyOf(pair.expected), actual: await copyOf(pair.actual) })
  } finally {
    end()
  }
}

async function ask(pair: AnswerPair & { readonly expected: Uint8Array<ArrayBuffer>; readonly actual: Uint8Array<ArrayBuffer> }) {
  const worker = new Worker(new URL('./compare-main.ts', import.meta.url), {
    workerData: pair,
    transferList: [pair.expected.buffer, pair.actual.buffer],
    env: {},
    execArgv: [],
  })
  const answered = Promise.withResolvers<unknown>()
  worker.once('message', answered.resolve)
  worker.once('error', answered.reject)
  worker.once('exit', () => answered.reject(new Error('the thread that compares ended without an answer')))
  try {
    return Answered.parse(await answered.promise)
  } finally {
    await worker.terminate()
  }
}

/** The caller keeps its bytes: they go into the report too. */
async function copyOf(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at += TURN_BYTES) {
    copy.set(bytes.subarray(at, at + TURN_BYTES), at)
    await nextTurn()
  }
  return copy
}

async function begin(): Promise<void> {
  if (threads < THREADS_AT_ONCE) threads += 1
  else await new Promise<void>((resolve) => waiting.push(resolve))
}

/** Whoever waits longest goes on in the place that gets free. */
function end(): void {
  const next = waiting.shift()
  if (next === undefined) threads -= 1
  else next()
}

import { CaseDiff } from '@parley/protocol'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import * as z from 'zod'
import { type HeldPlace, SharedPlaces } from '../box/shared-places.ts'
import { Cancelled } from '../compile/shared-work.ts'
import type { AnswerVerdict } from './compare-whole.ts'
import { type Comparison, ExpectedUnreadable } from './comparison.ts'

const MIB = 1024 * 1024
/** How many bytes are copied or compared between two turns of the event loop. */
export const TURN_BYTES = 4 * MIB
/** Each thread has both sides in its memory: more of them at once would take more of it than programs are left with. */
const THREADS_AT_ONCE = 2
/**
 * The table of `unordered_lines` takes up to eighteen times what is expected, when all lines are short and differ. Beyond this much
 * expected no other comparison goes on meanwhile, so that there is one such table at a time.
 */
const SEVERAL_TABLES_BYTES = 8 * MIB

/** For whom something is compared. */
export interface ComparisonPlace {
  /** The threads are shared out among owners, as cores are. */
  readonly owner: string | null
  /** Who is cancelled leaves the line at once, and a comparison under way is stopped. */
  readonly signal: AbortSignal
  /** Told of the wait for a thread that others have. */
  readonly whileWaiting: HeldPlace<unknown>['whileWaiting']
}

/**
 * The threads in which a judge compares. Whoever waits for one keeps the core on which the answer was made (`judge-case.ts`): there are never
 * more answers in memory than cores, and what they are compared with is read by the thread.
 */
export class Comparers {
  readonly #threads = new SharedPlaces(Array.from({ length: THREADS_AT_ONCE }, (_, index) => ({ name: `compare ${index}` })))

  async compare(comparison: Comparison, { owner, signal, whileWaiting }: ComparisonPlace): Promise<AnswerVerdict> {
    const lease = await whileWaiting(() =>
      takesMuch(comparison) ? this.#threads.all({ owner }, signal) : this.#threads.one({ owner }, signal),
    )
    try {
      // The caller keeps its bytes: the start of them goes into the report.
      return await inThread(lease.place.name, { ...comparison, actual: await copyOf(comparison.actual, signal) }, signal)
    } finally {
      lease.release()
    }
  }
}

function takesMuch({ mode, expected }: Comparison): boolean {
  return mode === 'unordered_lines' && expected.kind === 'file' && expected.sizeBytes > SEVERAL_TABLES_BYTES
}

type Copied = Comparison & { readonly actual: Uint8Array<ArrayBuffer> }

const Answered = z.object({ verdict: z.enum(['AC', 'WA', 'PE']), diff: CaseDiff }).nullable()

/** Nothing of the work is done on the event loop. The thread has ended, and its memory is free, when this has. */
async function inThread(name: string, comparison: Copied, signal: AbortSignal): Promise<AnswerVerdict> {
  const worker = new Worker(new URL('./compare-main.ts', import.meta.url), {
    name,
    workerData: comparison,
    transferList: [comparison.actual.buffer],
    env: {},
    execArgv: [],
  })
  const answered = Promise.withResolvers<unknown>()
  const stop = (): void => answered.reject(new Cancelled({ cause: signal.reason }))
  worker.once('message', answered.resolve)
  worker.once('error', answered.reject)
  worker.once('exit', () => answered.reject(new Error('the thread that compares ended without an answer')))
  signal.addEventListener('abort', stop, { once: true })
  try {
    const answer = Answered.parse(await answered.promise)
    if (answer === null) throw new ExpectedUnreadable()
    return answer
  } finally {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
  }
}

async function copyOf(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at += TURN_BYTES) {
    copy.set(bytes.subarray(at, at + TURN_BYTES), at)
    await nextTurn()
    if (signal.aborted) throw new Cancelled({ cause: signal.reason })
  }
  return copy
}

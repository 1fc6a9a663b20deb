import { AgentStatusItem, CaseItem, type JobId, JOB_LIMITS, type JobState, isEnd, parseJson } from '@parley/protocol'
import { neverStarted } from './never-started.ts'
import type { SteadyCaller } from './steady-caller.ts'

/** What is heard of a job while it is followed, in the order in which it happened. */
export interface JobListener {
  state(state: JobState): void
  status(item: AgentStatusItem): void
  caseDone(item: CaseItem): void
}

const WAIT_MS = 25_000
/** A job that waits is asked more often why: nothing says so in its logs. */
const QUEUED_WAIT_MS = 2_000
const READ_BYTES = JOB_LIMITS.previewBytes.max
const LINE_BYTES = JOB_LIMITS.chunkBytes

/**
 * Follows a job from its beginning to its end by the byte offsets of its logs, so that a lost connection neither repeats
 * nor loses anything. Answers the last state; ends early, by throwing, when the signal fires, and for a job that nobody
 * has started.
 */
export async function followJob(
  caller: SteadyCaller,
  jobId: JobId,
  listener: JobListener,
  signal: AbortSignal,
): Promise<JobState> {
  const states = new StateReader(caller, jobId, listener, signal)
  const { status } = await states.look()
  if (status === 'created') throw neverStarted(jobId)
  await Promise.all([
    followLog(caller, { jobId, stream: 'cases', signal }, (line) => {
      const item = CaseItem.safeParse(parseJson(line))
      if (item.success) listener.caseDone(item.data)
    }),
    followLog(caller, { jobId, stream: 'agent_status', signal, onBatch: () => states.look() }, (line) => {
      const item = AgentStatusItem.safeParse(parseJson(line))
      if (item.success) listener.status(item.data)
    }),
    states.untilEnd(),
  ])
  return states.tellEnd()
}

interface LogToFollow {
  readonly jobId: JobId
  readonly stream: 'cases' | 'agent_status'
  readonly signal: AbortSignal
  readonly onBatch?: () => Promise<unknown>
}

async function followLog(
  caller: SteadyCaller,
  { jobId, stream, signal, onBatch }: LogToFollow,
  onLine: (line: string) => void,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  for (let offset = 0; ;) {
    const answer = await caller.call(
      'job.read_log',
      { job_id: jobId, stream, offset, max_bytes: READ_BYTES, wait_ms: WAIT_MS },
      signal,
    )
    offset = answer.next_offset
    rest = Buffer.concat([rest, Buffer.from(answer.chunk_b64, 'base64')])
    const hadBytes = answer.chunk_b64 !== ''
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      onLine(rest.toString('utf8', 0, end))
      rest = rest.subarray(end + 1)
    }
    // A line without an end is none of ours.
    if (rest.length > LINE_BYTES) rest = Buffer.alloc(0)
    if (answer.eof) return
    if (hadBytes) await onBatch?.()
  }
}

class StateReader {
  readonly #caller: SteadyCaller
  readonly #jobId: JobId
  readonly #listener: JobListener
  readonly #signal: AbortSignal
  #last: JobState | undefined

  constructor(caller: SteadyCaller, jobId: JobId, listener: JobListener, signal: AbortSignal) {
    this.#caller = caller
    this.#jobId = jobId
    this.#listener = listener
    this.#signal = signal
  }

  async look(): Promise<JobState> {
    if (this.#last !== undefined && isEnd(this.#last.status)) return this.#last
    return this.#take(await this.#caller.call('job.get_state', { job_id: this.#jobId }, this.#signal))
  }

  async untilEnd(): Promise<void> {
    for (;;) {
      const { state } = await this.#caller.call(
        'job.wait',
        { job_id: this.#jobId, wait_ms: this.#last?.status === 'queued' ? QUEUED_WAIT_MS : WAIT_MS },
        this.#signal,
      )
      if (isEnd(this.#take(state).status)) return
    }
  }

  /** Answers may overtake each other; an end is never taken back. */
  #take(state: JobState): JobState {
    if (this.#last !== undefined && isEnd(this.#last.status)) return this.#last
    const isNew =
      this.#last?.status !== state.status ||
      this.#last.attempt !== state.attempt ||
      this.#last.claims !== state.claims ||
      this.#last.waiting?.message !== state.waiting?.message
    const isFirst = this.#last === undefined
    this.#last = state
    // The end is told when everything that came before it has been; the first state at once, whatever it is.
    if (isFirst || (isNew && !isEnd(state.status))) this.#listener.state(state)
    return state
  }

  async tellEnd(): Promise<JobState> {
    const state = await this.look()
    this.#listener.state(state)
    return state
  }
}

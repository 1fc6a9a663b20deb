import { JOB_LIMITS, type JobId, type JobLogName, isEnd } from '@parley/protocol'
import { bytesOf } from '../base64.ts'
import type { SteadyClient } from '../steady-client.ts'
import type { JobTeller } from './job-teller.ts'

/** How long a question waits at the gateway. */
export const WAIT_MS = 25_000
/** A job that waits is asked more often why: nothing says so in its logs. */
export const QUEUED_WAIT_MS = 2_000
const READ_BYTES = JOB_LIMITS.previewBytes.max
/** A gateway that answers without waiting, and with nothing new, is not asked again before this. */
const PAUSE_MS = 1_000

/** A job that is asked about: by whom, and until when. */
export interface PolledJob {
  readonly client: SteadyClient
  readonly jobId: JobId
  readonly teller: JobTeller
  readonly signal: AbortSignal
}

/** Reads a log from where it was told to, until the job has ended and nothing more can come. `onBatch` follows each piece. */
export async function readToEnd(asked: PolledJob, stream: JobLogName, onBatch?: () => Promise<void>): Promise<void> {
  const { client, jobId, teller, signal } = asked
  for (;;) {
    const offset = teller.readFrom(stream)
    const input = { job_id: jobId, stream, offset, max_bytes: READ_BYTES, wait_ms: WAIT_MS }
    const askedAt = client.clock.now()
    const { chunk_b64, eof } = await client.call('job.read_log', input, { signal })
    signal.throwIfAborted()
    if (chunk_b64 !== '') teller.read(stream, bytesOf(chunk_b64))
    if (eof) return
    if (chunk_b64 === '') await pauseAfter(asked, askedAt, WAIT_MS)
    else await onBatch?.()
  }
}

export async function readState({ client, jobId, teller, signal }: PolledJob): Promise<void> {
  if (teller.hasEnded) return
  const state = await client.call('job.get_state', { job_id: jobId }, { signal })
  signal.throwIfAborted()
  teller.take(state)
}

/** Waits for the end of the job, and takes each state that is answered meanwhile. */
export async function waitForEnd(asked: PolledJob, queuedWaitMs: number): Promise<void> {
  const { client, jobId, teller, signal } = asked
  for (;;) {
    const wait_ms = teller.state?.status === 'queued' ? queuedWaitMs : WAIT_MS
    const askedAt = client.clock.now()
    const { state } = await client.call('job.wait', { job_id: jobId, wait_ms }, { signal })
    signal.throwIfAborted()
    teller.take(state)
    if (isEnd(state.status)) return
    await pauseAfter(asked, askedAt, wait_ms)
  }
}

async function pauseAfter({ client, signal }: PolledJob, askedAt: number, waitMs: number): Promise<void> {
  const leftMs = Math.min(waitMs, PAUSE_MS) - (client.clock.now() - askedAt)
  if (leftMs > 0) await client.clock.sleep(leftMs, signal)
}

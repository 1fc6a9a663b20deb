import { type GatewayCaller, type Wait } from '@parley/access'
import { type JobId, JobLogName, TOOLS, ToolError, isEnd, wrongArgument } from '@parley/protocol'
import type { Link } from '@parley/rpc'
import { type JobRecord, type Store, jobLog } from '@parley/store'
import { findJob, noSuchJob } from './find-job.ts'
import { untilJob } from './follow-job.ts'
import { logEnds, readLog } from './log-read.ts'
import { waitSignal } from './tools.ts'
import { type JobContext, serveTool } from './job-world.ts'

/** Nothing that survives the connection is changed, so that the audit log need not be waited for. */
const SOON = { audit: 'soon' } as const

export const jobSubscribe = serveTool(
  TOOLS['job.subscribe'],
  async (args, context) => {
    const link = linkOf(context, args.job_id)
    const { store, watch } = context.world
    context.target = args.job_id
    await findJob(store, args.job_id, context.caller)
    const ends = await logEnds(store, args.job_id)
    const logs = new Map<JobLogName, number>()
    for (const name of JobLogName.options) {
      if (!args.streams.includes(name)) continue
      const offset = args[`${name}_offset`] ?? 0
      if (offset > ends[name]) throw pastTheEnd(`${name}_offset`, name, ends[name])
      logs.set(name, offset)
    }
    const streams = watch.streams.subscribe(link, args.job_id, { logs, state: args.streams.includes('state') })
    return { job_id: args.job_id, streams }
  },
  SOON,
)

export const jobUnsubscribe = serveTool(
  TOOLS['job.unsubscribe'],
  (args, context) => {
    const link = linkOf(context, args.job_id)
    context.target = args.job_id
    return { job_id: args.job_id, streams: context.world.watch.streams.unsubscribe(link, args.job_id, args.streams) }
  },
  SOON,
)

export const jobReadLog = serveTool(TOOLS['job.read_log'], async (args, context) => {
  const { job_id, stream, offset, wait_ms: waitMs } = args
  const { store } = context.world
  const read = (wait?: Wait) => readLog(store.logs, jobLog(job_id, stream), offset, args.max_bytes, wait)
  // The job first and the bytes after it: what was written before the end is then among them.
  let over = await isOver(store, await findJob(store, job_id, context.caller))
  let bytes = await read()
  let ends = await logEnds(store, job_id)
  if (offset > ends[stream]) throw pastTheEnd('offset', stream, ends[stream])
  if (bytes.length === 0 && !over && waitMs > 0) {
    const waited = await bytesOrEnd(store, job_id, read, { waitMs, signal: waitSignal(context) })
    if (waited.job === undefined) throw noSuchJob(job_id)
    bytes = waited.bytes
    over = await isOver(store, waited.job)
    ends = await logEnds(store, job_id)
  }
  const next_offset = offset + bytes.length
  return {
    job_id,
    stream,
    offset,
    chunk_b64: bytes.toString('base64'),
    next_offset,
    eof: over && next_offset >= ends[stream],
    ends,
  }
})

/** Waits for bytes or for the end of the job, whichever is first. A log is read once more when its wait ends, so after the job was. */
async function bytesOrEnd(
  store: Pick<Store, 'jobs' | 'topics'>,
  id: JobId,
  read: (wait: Wait) => Promise<Buffer>,
  { waitMs, signal }: Wait,
): Promise<{ readonly bytes: Buffer; readonly job: JobRecord | undefined }> {
  const enough = new AbortController()
  const end = () => enough.abort()
  const wait = { waitMs, signal: AbortSignal.any([signal, enough.signal]) }
  const job = untilJob(store, id, (now) => isOver(store, now), wait)
  void job.then(end, end)
  const bytes = await read(wait).finally(end)
  return { bytes, job: await job }
}

/** Whether nothing can come any more. The judge of a cancelled job may still flush what it has, until it lets go. */
async function isOver({ jobs }: Pick<Store, 'jobs'>, job: JobRecord): Promise<boolean> {
  if (!isEnd(job.status)) return false
  if (job.status !== 'cancelled' || job.claim === null) return true
  return !(await jobs.heldBy()).some(({ jobId }) => jobId === job.id)
}

/** The connection that notifications go to. A request that stands by itself has none, even where others share its socket. */
function linkOf({ call }: JobContext, id: JobId): Link<GatewayCaller> {
  if (call?.link !== undefined && call.era === 'legacy') return call.link
  throw new ToolError('no_session', 'this request stands by itself: there is no connection to send notifications to', {
    hint:
      `subscriptions/listen on resource://jobs/${id}/state, /report, /terminal, /agent-status or /cases, ` +
      'and job.read_log with wait_ms for the bytes; or open a session with initialize',
  })
}

const pastTheEnd = (field: string, log: JobLogName, end: number): ToolError =>
  wrongArgument(field, `is past the end of ${log}, which is at ${end}`, `go on from ${end} or before`)

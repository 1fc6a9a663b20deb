import { cursorOf, type GatewayCaller, nameOf, pageOf, readCursor, type ToolContext } from '@parley/access'
import { JobId, type JobListItem, type JobStatus, TOOLS, ToolError, UserId, isEnd } from '@parley/protocol'
import type { JobRecord } from '@parley/store'
import { checkPriced } from './check-priced.ts'
import { currentItems, currentState } from './current-state.ts'
import { findJob, noSuchJob } from './find-job.ts'
import { untilJob } from './follow-job.ts'
import { JOB_TASK } from './job-task.ts'
import { withinShare } from '../blob/inputs-share.ts'
import { type JobContext, type JobWorld, serveTool } from './job-world.ts'

type Page = Parameters<JobWorld['store']['jobs']['list']>[0]

export const jobStart = serveTool(
  TOOLS['job.start'],
  async ({ job_id }, context) => {
    const { store, creations, quotas } = context.world
    context.target = job_id
    const { ownerId: userId } = await findJob(store, job_id, context.caller)
    const job = await creations.run({ userId }, async () => {
      const found = await findJob(store, job_id, context.caller)
      if (found.status !== 'created') return found
      const bounds = await quotas.checkStart(found)
      await checkPriced(context.world, found)
      const whose = userId === context.caller.userId ? 'your' : 'the owner’s'
      const started = await withinShare({ field: 'job_id', whose }, () => store.jobs.start(job_id, bounds))
      if (started === undefined) throw noSuchJob(job_id)
      return started
    })
    if (isEnd(job.status)) throw ended(job)
    return { job_id, status: job.status }
  },
  { task: JOB_TASK },
)

export const jobCancel = serveTool(TOOLS['job.cancel'], async ({ job_id }, context) => {
  const job = await changed(context, job_id, (jobs) => jobs.cancel(job_id, { by: nameOf(context.caller) }))
  return { job_id, status: job.status }
})

export const jobDelete = serveTool(TOOLS['job.delete'], async ({ job_id }, context) => {
  const { store } = context.world
  context.target = job_id
  await findJob(store, job_id, context.caller)
  if (!(await store.jobs.delete(job_id))) {
    const job = await findJob(store, job_id, context.caller)
    throw new ToolError('conflict', `the job is ${job.status}`, {
      field: 'job_id',
      hint: isEnd(job.status) ? 'it ended just now; try again' : 'job.cancel first',
    })
  }
  return { job_id, deleted: true as const }
})

export const jobGetState = serveTool(TOOLS['job.get_state'], async ({ job_id }, { world, caller }) =>
  currentState(world.here, await findJob(world.store, job_id, caller)),
)

export const jobWait = serveTool(TOOLS['job.wait'], async ({ job_id, wait_ms }, context) => {
  const { store, here } = context.world
  await findJob(store, job_id, context.caller)
  const signal = waitSignal(context)
  const job = await untilJob(store, job_id, ({ status }) => isEnd(status), { waitMs: wait_ms, signal })
  if (job === undefined) throw noSuchJob(job_id)
  return { job_id, status: job.status, ended: isEnd(job.status), state: await currentState(here, job) }
})

export const jobList = serveTool(TOOLS['job.list'], ({ status, owner_user_id, cursor, limit }, { world, caller }) => {
  const owner = owner_user_id === undefined ? undefined : ownerOf(owner_user_id)
  // As with ids: what is somebody else's is not there, and nobody learns whether that somebody is.
  if (!caller.admin && owner !== undefined && owner !== caller.userId) return { items: [], next_cursor: null }
  return jobPage(world, caller, {
    ...(owner === undefined ? {} : { ownerId: owner }),
    ...(status === undefined ? {} : { statuses: status }),
    ...(cursor === undefined ? {} : readCursor(cursor, JobId, 'job.list')),
    limit,
  })
})

/** A page of the jobs that the caller may see, newest first; the cursor is the time and the id of the last one before. */
export async function jobPage(
  world: Pick<JobWorld, 'store' | 'here'>,
  caller: Pick<GatewayCaller, 'admin' | 'userId'>,
  page: Page,
): Promise<{ items: JobListItem[]; next_cursor: string | null }> {
  const owner = caller.admin ? {} : { ownerId: caller.userId }
  const found = await world.store.jobs.list({ ...page, ...owner, limit: page.limit + 1 })
  const { items, next } = pageOf(found, page.limit, cursorOf)
  return { items: await currentItems(world.here, items), next_cursor: next }
}

/** Ends a wait when the client takes its call back, and when the gateway closes. */
export function waitSignal({ world, call }: Pick<ToolContext<Pick<JobWorld, 'watch'>>, 'world' | 'call'>): AbortSignal {
  const { closing } = world.watch
  return call === undefined ? closing : AbortSignal.any([call.signal, closing])
}

/** Looks whether the job is the caller's, then does what is asked for. */
async function changed(
  context: JobContext,
  id: JobId,
  change: (jobs: JobWorld['store']['jobs']) => Promise<JobRecord | undefined>,
): Promise<JobRecord> {
  const { store } = context.world
  context.target = id
  await findJob(store, id, context.caller)
  const job = await change(store.jobs)
  if (job === undefined) throw noSuchJob(id)
  return job
}

const ENDED: Partial<Record<JobStatus, string>> = { succeeded: 'has succeeded', failed: 'has failed', cancelled: 'was cancelled' }

function ended({ status }: JobRecord): ToolError {
  return new ToolError('conflict', `the job ${ENDED[status] ?? 'has ended'} already`, {
    field: 'job_id',
    hint: 'job.retry makes a new job from the same inputs',
  })
}

function ownerOf(text: string): UserId {
  const id = UserId.safeParse(text)
  if (!id.success) throw new ToolError('invalid_argument', 'owner_user_id is not the id of a user', { field: 'owner_user_id' })
  return id.data
}

import { type BegunTask, lineOf, nameOf, structuredText, type TaskKind } from '@parley/access'
import { iso, isEnd, JobId } from '@parley/protocol'
import type { JobRecord } from '@parley/store'
import { taskText, type TaskView } from '@parley/task'
import { currentState } from './current-state.ts'
import { maySee } from './find-job.ts'
import type { JobContext, JobWorld } from './job-world.ts'

/** A job lasts for seconds at least, and who cannot wait listens. */
const POLL_MS = 2_000

/**
 * A job that was started, as a task. Its id is the job's and all that is told comes from the store: so any gateway answers for it, also after a
 * restart, and any token of its owner.
 */
export const JOB_TASK: TaskKind<JobWorld> = {
  idOf: (result) => ('job_id' in result ? String(result.job_id) : ''),
  find: async (id, context) => {
    const job = await jobOf(id, context)
    return job === undefined || job.status === 'created' ? undefined : taskOfJob(job, context)
  },
}

async function jobOf(id: string, { world, caller }: JobContext): Promise<JobRecord | undefined> {
  const parsed = JobId.safeParse(id)
  const job = parsed.success ? await world.store.jobs.byId(parsed.data) : undefined
  return job !== undefined && maySee(job, caller) ? job : undefined
}

function taskOfJob(found: JobRecord, context: JobContext): BegunTask {
  const { caller, world } = context
  const { store, here } = world
  const { id } = found
  return {
    view: () => viewOf(found),
    detailed: async () => {
      const job = (await store.jobs.byId(id)) ?? found
      if (!isEnd(job.status) || job.status === 'cancelled') return taskText(viewOf(job))
      // As `job.wait` tells it.
      const result = { job_id: id, status: job.status, ended: true, state: await currentState(here, job) }
      return taskText(viewOf(job), { member: 'result', text: structuredText(result) })
    },
    // A job asks nothing.
    answer: () => undefined,
    cancel: async () => {
      const line = { outcome: 'ok', target: id } as const
      await world.audit.record(lineOf(caller, 'job.cancel', { ...line, at: world.now(), code: 'begun' }))
      await store.jobs.cancel(id, { by: nameOf(caller) })
      // What was done is answered, also where this is written later.
      await world.audit.record(lineOf(caller, 'job.cancel', { ...line, at: world.now() })).catch(() => undefined)
    },
    watch: (changed) => store.topics.subscribe(`job/${id}`, changed),
  }
}

function viewOf(job: JobRecord): TaskView {
  const { id, status, createdAt, startedAt, finishedAt, expiresAt } = job
  return {
    taskId: id,
    status: status === 'cancelled' ? 'cancelled' : isEnd(status) ? 'completed' : 'working',
    statusMessage: `the job is ${status}`,
    createdAt: iso(createdAt),
    lastUpdatedAt: iso(finishedAt ?? startedAt ?? createdAt),
    ttlMs: expiresAt === null ? null : expiresAt - createdAt,
    pollIntervalMs: POLL_MS,
  }
}

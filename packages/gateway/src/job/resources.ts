import { LISTED_MAX, type ResourceRequest, type ServedResource, watchTopics } from '@parley/access'
import { JOB_LOGS, JobId, type JobLogName, RESOURCES, ToolError } from '@parley/protocol'
import { type JobRecord, jobLog } from '@parley/store'
import { currentState } from './current-state.ts'
import { findJob } from './find-job.ts'
import { readTail } from './log-read.ts'
import { readArtifact } from './read-artifact.ts'
import { jobPage } from './tools.ts'
import type { JobWorld } from './job-world.ts'

/** How much of the end of a log is read as a resource. */
const TAIL_BYTES = 256 * 1024

const list: ServedResource<JobWorld> = {
  spec: RESOURCES['resource://jobs/list'],
  read: ({ world, caller }) => jobPage(world, caller, { limit: LISTED_MAX }),
  watch: (request, changed) => {
    const { admin, userId } = request.caller
    return watchTopics(request, [admin ? 'jobs' : `jobs/${userId ?? '-'}`], changed)
  },
}

const state: ServedResource<JobWorld> = {
  spec: RESOURCES['resource://jobs/{id}/state'],
  read: async (request) => currentState(request.world.here, await jobOf(request)),
  watch: watchState,
}

/** Not there until a judge has handed it in; whoever watches is told when it is. */
const report: ServedResource<JobWorld> = {
  spec: RESOURCES['resource://jobs/{id}/report'],
  read: async (request) => {
    const { store } = request.world
    const { id } = await jobOf(request)
    const artifact = (await store.jobs.artifacts(id)).find(({ name }) => name === 'report.json')
    if (artifact === undefined) throw new ToolError('not_found', 'there is no report yet')
    return readArtifact(store.blobs, artifact)
  },
  watch: watchJob,
}

export const JOB_RESOURCES: readonly ServedResource<JobWorld>[] = [
  list,
  state,
  report,
  logTail('terminal'),
  logTail('agent_status'),
  logTail('cases'),
]

function logTail(log: JobLogName): ServedResource<JobWorld> {
  return {
    spec: RESOURCES[JOB_LOGS[log].resource],
    read: async (request) => readTail(request.world.store.logs, jobLog((await jobOf(request)).id, log), TAIL_BYTES),
    watch: async (request, changed) => request.world.watch.logs.watch(jobLog((await jobOf(request)).id, log), changed),
  }
}

async function watchJob(request: ResourceRequest<JobWorld>, changed: () => void): Promise<() => void> {
  const { id } = await jobOf(request)
  return watchTopics(request, [`job/${id}`], changed)
}

/** Told by what everybody here who follows the job is told by: it also knows when the judges change why the job waits. */
async function watchState(request: ResourceRequest<JobWorld>, changed: () => void): Promise<() => void> {
  const { id } = await jobOf(request)
  return request.world.watch.states.join(id, changed).leave
}

async function jobOf({ world, caller, id }: ResourceRequest<JobWorld>): Promise<JobRecord> {
  const parsed = JobId.safeParse(id)
  if (!parsed.success) throw new ToolError('not_found', 'there is no such job')
  return findJob(world.store, parsed.data, caller)
}

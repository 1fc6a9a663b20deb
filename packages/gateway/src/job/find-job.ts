import { type GatewayCaller } from '@parley/access'
import { type JobId, ToolError } from '@parley/protocol'
import type { JobRecord, Store } from '@parley/store'

/** Whether a job is this caller's to see: their own, or any for an admin. */
export function maySee(job: Pick<JobRecord, 'ownerId'>, caller: Pick<GatewayCaller, 'admin' | 'userId'>): boolean {
  return caller.admin || (job.ownerId !== null && job.ownerId === caller.userId)
}

/** The job, or `not_found`: a foreign one is as unknown as one that never was. */
export async function findJob(store: Pick<Store, 'jobs'>, id: JobId, caller: GatewayCaller): Promise<JobRecord> {
  const job = await store.jobs.byId(id)
  if (job === undefined || !maySee(job, caller)) throw noSuchJob(id)
  return job
}

export const noSuchJob = (id: JobId): ToolError => new ToolError('not_found', `there is no job ${id}`, { field: 'job_id' })

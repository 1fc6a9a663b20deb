import type { JobId } from '@parley/protocol'
import { type Queries, type Sql, type Transaction, LeaseLost } from '@parley/database'
import type { LeaseFence } from '../../lease/fence.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { type ClaimKey, JOB_QUEUE, type JobRecord } from './job.ts'
import { toJob } from './row.ts'
import { HELD_JOB_FOR_CHANGE, JOB } from './statements.ts'

export async function readJob(queries: Queries, id: JobId, statement: Sql = JOB): Promise<JobRecord | undefined> {
  const row = await queries.get(statement, [id])
  return row && toJob(row)
}

/** The job as it is now. A statement that waited for its row can show an older state of what is joined to it, so this reads again. */
export async function changedJob(tx: Transaction, id: JobId): Promise<JobRecord> {
  const job = await readJob(tx, id)
  if (job === undefined) throw new TypeError(`job ${id} vanished inside a transaction`)
  return job
}

/** The job and its lease, kept until the commit; `LeaseLost` unless this claim holds now. A job that is gone is lost, too. */
export async function lockHeld(tx: Transaction, { jobId, claimId }: ClaimKey, now: number): Promise<JobRecord> {
  const row = await tx.get(HELD_JOB_FOR_CHANGE, [jobId, claimId, now])
  if (row === undefined) throw new LeaseLost(leaseOf(jobId))
  return toJob(row)
}

export const leaseOf = (id: JobId): Pick<LeaseFence, 'queue' | 'key'> => ({ queue: JOB_QUEUE, key: id })

/** Tells those who look at this job. */
export function announceJob(tx: Transaction, { id }: Pick<JobRecord, 'id'>): void {
  tx.signal(topicSignal(`job/${id}`))
}

/** Tells those who look at this job, and those who look at a list that it is in. */
export function announceListed(tx: Transaction, job: Pick<JobRecord, 'id' | 'ownerId'>): void {
  announceJob(tx, job)
  tx.signal(topicSignal('jobs'))
  tx.signal(topicSignal(`jobs/${job.ownerId ?? '-'}`))
}

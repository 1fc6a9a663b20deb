import { JOB_LIMITS, type UserId } from '@parley/protocol'
import { type Queries, type Transaction, ShareExceeded, integer, integerOrNull } from '@parley/database'
import { leftHolder, personHolder } from './holder.ts'
import { BOUNDS, LOCK_SHARE, jobCountsSql, usedBytesSql } from './statements.ts'

/** How much one person may have us keep. */
export interface Bounds {
  readonly bytes: number
  readonly jobs: number
}

/** The first step of every transaction that adds to a share: two at once, from two gateways too, cannot pass it together. */
export async function lockShare(tx: Transaction, ownerId: UserId | null): Promise<Bounds> {
  await tx.get(LOCK_SHARE, [personHolder(ownerId)])
  return boundsOf(tx, ownerId)
}

export async function boundsOf(queries: Queries, ownerId: UserId | null): Promise<Bounds> {
  const row = ownerId === null ? undefined : await queries.get(BOUNDS, [ownerId])
  const own = row === undefined ? undefined : { bytes: integerOrNull(row, 'kept_bytes'), jobs: integerOrNull(row, 'kept_jobs') }
  return { bytes: own?.bytes ?? JOB_LIMITS.userBytes, jobs: own?.jobs ?? JOB_LIMITS.keptJobs }
}

export async function usedBytes(queries: Queries, ownerId: UserId | null): Promise<number> {
  const row = await queries.get(usedBytesSql(ownerId), [personHolder(ownerId), leftHolder(ownerId), ...placeOf(ownerId)])
  return row === undefined ? 0 : integer(row, 'used')
}

export async function jobCounts(
  queries: Queries,
  ownerId: UserId | null,
): Promise<{ readonly jobs: number; readonly unfinished: number; readonly atOnce: number }> {
  const row = await queries.get(jobCountsSql(ownerId), placeOf(ownerId))
  if (row === undefined) return { jobs: 0, unfinished: 0, atOnce: 0 }
  return { jobs: integer(row, 'jobs'), unfinished: integer(row, 'unfinished'), atOnce: integer(row, 'at_once') }
}

/** Throws unless so many bytes more fit. */
export async function checkBytes(queries: Queries, ownerId: UserId | null, bounds: Bounds, addedBytes: number): Promise<void> {
  if ((await usedBytes(queries, ownerId)) + addedBytes > bounds.bytes) throw new ShareExceeded('bytes', bounds.bytes)
}

/** Throws unless so many jobs more fit. */
export async function checkJobCount(queries: Queries, ownerId: UserId | null, bounds: Bounds, added: number): Promise<void> {
  const { jobs, unfinished } = await jobCounts(queries, ownerId)
  if (unfinished + added > JOB_LIMITS.unfinishedJobs) throw new ShareExceeded('unfinished', JOB_LIMITS.unfinishedJobs)
  if (jobs + added > bounds.jobs) throw new ShareExceeded('jobs', bounds.jobs)
}

/** Throws unless one more of their jobs may wait or run. */
export async function checkAtOnce(queries: Queries, ownerId: UserId | null, most: number): Promise<void> {
  if ((await jobCounts(queries, ownerId)).atOnce >= most) throw new ShareExceeded('jobs_at_once', most)
}

const placeOf = (ownerId: UserId | null): readonly string[] => (ownerId === null ? [] : [ownerId])

import { type JobError, isEnd } from '@parley/protocol'
import { type Database, type Row, type Transaction, LeaseLost, flag, integer, integerOrNull } from '@parley/database'
import { fenceValues } from '../../lease/fence.ts'
import type { Lease } from '../../lease/lease.ts'
import { queueSignal } from '../../lease/sql-leases.ts'
import { COMPLETE, RELEASE, RENEW, SERVE } from '../../lease/statements.ts'
import { putReport } from './artifacts.ts'
import { type ClaimKey, JOB_QUEUE, type JobRecord, type Jobs } from './job.ts'
import { OWNER_DISABLED } from './owner.ts'
import { errorColumn, toJob } from './row.ts'
import * as sql from './statements.ts'
import { announceJob, announceListed, changedJob, leaseOf } from './steps.ts'
import { cancelJob, cancelled } from './transitions.ts'

/** A lease that has lost less than a tenth of its time is not renewed: most calls of a judge then cost a read and no commit. */
const RENEW_PART = 10

type NewClaim = Parameters<Jobs['claimed']>[1]

/** Marks the job of a lease as claimed, unless it is gone, has ended, or was lost by too many judges. */
export async function markClaimed(tx: Transaction, lease: Lease, claim: NewClaim, now: number): ReturnType<Jobs['claimed']> {
  const row = await tx.get(sql.JOB_TO_CLAIM, [lease.key])
  if ((await tx.get(sql.LEASE_FOR_CHANGE, [lease.queue, lease.key, lease.fence, now])) === undefined) throw new LeaseLost(lease)
  const job = row && toJob(row)
  if (job === undefined || isEnd(job.status)) {
    await tx.run(COMPLETE, fenceValues(lease, now))
    return undefined
  }
  // The owner was deleted or disabled: nobody could see the result.
  const gone = row === undefined ? undefined : ownerGone(row)
  if (gone !== undefined) {
    await tx.run(COMPLETE, fenceValues(lease, now))
    await cancelJob(tx, job.id, { reason: gone, now, keptMs: claim.keptMs })
    return undefined
  }
  // A resend: the first answer got lost on its way from the database.
  if (job.claim?.id === claim.id && job.claim.fence === lease.fence) return { kind: 'claimed', job }
  const lostClaims = job.lostClaims + (job.claim?.begun === true ? 1 : 0)
  if (lostClaims >= claim.maxLost) return poison(tx, job, { lease, claim, lostClaims, now })
  await tx.run(sql.MARK_CLAIMED, [
    job.id,
    claim.id,
    lease.fence,
    claim.machineId,
    now,
    lostClaims,
    claim.judgeName ?? claim.machineId,
  ])
  await tx.run(SERVE, [lease.queue, lease.key])
  if (job.status === 'queued') announceJob(tx, job)
  else announceListed(tx, job)
  return { kind: 'claimed', job: await changedJob(tx, job.id) }
}

/** Why nobody may work on a job for its owner any more; `undefined` while somebody may. */
function ownerGone(row: Row): JobError | undefined {
  if (integerOrNull(row, 'owner_deleted_at') !== null) return cancelled(undefined)
  return integerOrNull(row, 'owner_disabled') === 1 ? OWNER_DISABLED : undefined
}

/** Ends a job that brings its judges down, so that it cannot go round for ever. */
async function poison(
  tx: Transaction,
  job: JobRecord,
  given: { readonly lease: Lease; readonly claim: NewClaim; readonly lostClaims: number; readonly now: number },
): ReturnType<Jobs['claimed']> {
  const { lease, claim, lostClaims, now } = given
  if (claim.report !== undefined) await putReport(tx, job, claim.report, now)
  const message = `${lostClaims} ${lostClaims === 1 ? 'judge was' : 'judges were'} lost while at work on this job`
  await tx.run(sql.POISON, [job.id, errorColumn({ code: 'poisoned', message }), now, now + claim.keptMs, lostClaims])
  await tx.run(COMPLETE, fenceValues(lease, now))
  announceListed(tx, job)
  return { kind: 'poisoned', job: await changedJob(tx, job.id) }
}

/** Renews the lease of a claim that holds it; the first call of a claim also marks it as begun. */
export async function renewClaim(db: Database, key: ClaimKey, ttlMs: number, now: number): ReturnType<Jobs['renew']> {
  const row = await db.get(sql.HELD_JOB, [key.jobId, key.claimId, now])
  const job = row && toJob(row)
  if (row === undefined || job === undefined || job.claim === null) throw new LeaseLost(leaseOf(key.jobId))
  const fence = { ...leaseOf(job.id), fence: job.claim.fence }
  const until = integer(row, 'lease_until')
  if (job.claim.begun && until >= now + ttlMs - ttlMs / RENEW_PART) return { job, fence, expiresAt: until }
  const expiresAt = Math.max(until, now + ttlMs)
  const values = [...fenceValues(fence, now), expiresAt]
  // The fence alone tells this claim from all others, so no other may have come between the read and this.
  if (job.claim.begun) {
    if ((await db.run(RENEW, values)) === 0) throw new LeaseLost(fence)
  } else {
    await db.transaction(async (tx) => {
      await tx.run(sql.BEGIN, [key.jobId, key.claimId])
      if ((await tx.run(RENEW, values)) === 0) throw new LeaseLost(fence)
    })
  }
  return { job: { ...job, claim: { ...job.claim, begun: true } }, fence, expiresAt }
}

/** Lets go of a job. Of one that has ended it is not asked whether the lease still holds, because nothing more is written to it. */
export async function releaseClaim(
  tx: Transaction,
  { jobId, claimId }: ClaimKey,
  { countLoss, notBefore = 0 }: Parameters<Jobs['release']>[1],
  now: number,
): Promise<void> {
  const row = await tx.get(sql.JOB_FOR_CHANGE, [jobId])
  if (row === undefined || row['claim_id'] !== claimId) throw new LeaseLost(leaseOf(jobId))
  if (flag(row, 'released')) return
  const job = toJob(row)
  const fence = { ...leaseOf(jobId), fence: integer(row, 'fence') }
  if (isEnd(job.status)) {
    await tx.run(sql.END_LEASE, [JOB_QUEUE, jobId, fence.fence])
    await tx.run(sql.RELEASE_ENDED, [jobId, claimId])
    return announceJob(tx, job)
  }
  if ((await tx.run(RELEASE, [...fenceValues(fence, now), notBefore, countLoss ? 0 : 1])) === 0) throw new LeaseLost(fence)
  await tx.run(countLoss ? sql.RELEASE_COUNTED : sql.RELEASE_FORGOTTEN, [jobId, claimId])
  tx.signal(queueSignal(JOB_QUEUE))
  if (job.status === 'queued') announceJob(tx, job)
  else announceListed(tx, job)
}

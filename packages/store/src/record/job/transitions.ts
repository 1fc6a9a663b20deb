import { type EndStatus, type JobError, type JobId, type JobStatus, isEnd } from '@parley/protocol'
import { type Transaction, Conflict } from '@parley/database'
import { queueSignal } from '../../lease/sql-leases.ts'
import { OFFER } from '../../lease/statements.ts'
import { MAX_PAYLOAD_BYTES, checkInteger, checkText } from '../../limits.ts'
import { type ClaimKey, JOB_QUEUE, type JobRecord, type StatePatch, laneOf } from './job.ts'
import { errorColumn, summaryColumn } from './row.ts'
import { CANCEL, COUNT_CANCELLED, MOVE, START, WITHDRAW_UNHELD } from './statements.ts'
import { announceListed, announceJob, changedJob, readJob, lockHeld } from './steps.ts'

/** Why a job is cancelled, in words. */
export function cancelled(by: string | undefined): JobError {
  return by === undefined
    ? { code: 'cancelled', message: 'the job was cancelled' }
    : { code: 'cancelled', message: `cancelled by ${by}`, by }
}

/** created → queued, with its lease in the lane of its owner. */
export async function startJob(tx: Transaction, id: JobId): Promise<JobRecord | undefined> {
  if ((await tx.run(START, [id])) === 0) return readJob(tx, id)
  const job = await changedJob(tx, id)
  await tx.run(OFFER, [JOB_QUEUE, id, '', 0, laneOf(job.ownerId)])
  tx.signal(queueSignal(JOB_QUEUE))
  announceListed(tx, job)
  return job
}

/** Whatever has not ended → cancelled. A lease that somebody holds stays: its judge still has things to hand in. */
export async function cancelJob(
  tx: Transaction,
  id: JobId,
  { reason, now, keptMs }: { readonly reason: JobError; readonly now: number; readonly keptMs: number },
): Promise<JobRecord | undefined> {
  if ((await tx.run(CANCEL, [id, now, now + keptMs, errorColumn(reason)])) === 0) return readJob(tx, id)
  await tx.run(WITHDRAW_UNHELD, [JOB_QUEUE, id, now])
  const job = await changedJob(tx, id)
  announceListed(tx, job)
  return job
}

/** Moves a job on for the judge that holds it. */
export async function patchJob(
  tx: Transaction,
  key: ClaimKey,
  patch: StatePatch,
  { now, keptMs }: { readonly now: number; readonly keptMs: number },
): Promise<JobRecord> {
  checkPatch(patch)
  const job = await lockHeld(tx, key, now)
  if (job.status === 'cancelled') {
    // How far its judge had come is known only after the word to stop has reached it.
    if (patch.summary !== undefined) {
      await tx.run(COUNT_CANCELLED, [job.id, summaryColumn(patch.summary)])
      announceListed(tx, job)
    }
    return changedJob(tx, job.id)
  }
  if (isEnd(job.status)) {
    // The claim that holds an ended job is the one that ended it: this is its resend.
    if (patch.status === job.status) return changedJob(tx, job.id)
    throw new Conflict(`job ${job.id} has ended as ${job.status}`)
  }
  const status = patch.status ?? running(job.status)
  const { attempt = job.attempt, error = job.error, summary = job.summary, containers = job.containers } = patch
  const end = isEnd(status) ? [now, now + keptMs] : [null, null]
  const values = [job.id, attempt, errorColumn(error), summaryColumn(summary), containers, startOf(job, status, now), ...end]
  if ((await tx.run(MOVE[status], values)) === 0) {
    throw new Conflict(`job ${job.id} is ${job.status}: ${status} cannot follow`)
  }
  if (status !== job.status || patch.error !== undefined || patch.summary !== undefined) announceListed(tx, job)
  else announceJob(tx, job)
  return changedJob(tx, job.id)
}

/** A job that somebody holds was started. */
function running(status: Exclude<JobStatus, EndStatus>): Exclude<JobStatus, 'created'> {
  if (status === 'created') throw new Conflict('a job that was not started cannot be changed')
  return status
}

function startOf({ startedAt }: JobRecord, status: JobStatus, now: number): number | null {
  return startedAt ?? (status === 'running_generate' || status === 'running_test' ? now : null)
}

function checkPatch({ attempt, containers }: StatePatch): void {
  if (attempt !== undefined) checkInteger('attempt', attempt, 0)
  if (typeof containers === 'string') checkText('containers', containers, MAX_PAYLOAD_BYTES)
}

import { JOB_LIMITS, type JobError, JobId, UserId } from '@parley/protocol'
import { type Database, type Transaction, integerOrNull, text } from '@parley/database'
import { JOB_QUEUE } from './job.ts'
import { errorColumn } from './row.ts'
import { CANCEL_OF, OWNERS_GONE, WITHDRAW_UNHELD_OF } from './statements.ts'
import { announceListed } from './steps.ts'
import { cancelled } from './transitions.ts'

/** Owners looked up at once; each has a transaction of its own. */
const OWNERS_PER_STEP = 100

/** Why jobs of a disabled user are cancelled. */
export const OWNER_DISABLED: JobError = { code: 'owner_disabled', message: 'the account of its owner was disabled' }

/** Cancels whatever of an owner has not ended, in few statements however many jobs there are. Held ones keep their lease. */
export async function cancelAllOf(
  tx: Transaction,
  ownerId: UserId,
  { reason, now }: { readonly reason: JobError; readonly now: number },
): Promise<number> {
  const error = errorColumn(reason)
  const rows = await tx.all(CANCEL_OF, [ownerId, now, now + JOB_LIMITS.keptMs, error])
  if (rows.length > 0) await tx.run(WITHDRAW_UNHELD_OF, [JOB_QUEUE, ownerId, now])
  for (const row of rows) announceListed(tx, { id: JobId.parse(text(row, 'id')), ownerId })
  return rows.length
}

/**
 * Cancels what deleted and disabled owners left: an earlier version left the jobs of disabled ones, and may have died between
 * deleting an account and cancelling its jobs.
 */
export async function cancelLeft(db: Database, now: number): Promise<number> {
  let total = 0
  for (;;) {
    const rows = await db.all(OWNERS_GONE, [OWNERS_PER_STEP])
    let step = 0
    for (const row of rows) {
      const reason = integerOrNull(row, 'deleted_at') === null ? OWNER_DISABLED : cancelled(undefined)
      step += await db.transaction((tx) => cancelAllOf(tx, UserId.parse(text(row, 'id')), { reason, now }))
    }
    if (step === 0) return total
    total += step
  }
}

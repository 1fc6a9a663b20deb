import { JobId, UserId } from '@parley/protocol'
import { type Database, type Sql, type Transaction, parsedOrNull, text, textOrNull } from '@parley/database'
import { WITHDRAW } from '../../lease/statements.ts'
import { leftHolder } from '../../share/holder.ts'
import { JOB_QUEUE, jobHolder } from './job.ts'
import { deleteLogs } from './logs.ts'
import { cancelLeft } from './owner.ts'
import { DELETE, EXPIRED } from './statements.ts'
import { announceListed } from './steps.ts'

/** How many are looked up at once; each job goes in a transaction of its own. */
const JOBS_PER_STEP = 100
/** Holds that go in one transaction. */
const HOLDS_PER_STEP = 100
/** How long inputs may lie there without a job: whoever adds one stores its inputs first. */
const ORPHAN_AGE_MS = 60 * 60_000

/** Removes a job that is not at work, and everything that is its own. */
export async function deleteJob(tx: Transaction, id: JobId, now: number): Promise<boolean> {
  const row = await tx.get(DELETE, [id])
  if (row === undefined) return false
  // A judge that has not released it yet finds its lease lost.
  await tx.run(WITHDRAW, [JOB_QUEUE, id])
  await deleteLogs(tx, id)
  const ownerId = parsedOrNull(UserId, textOrNull(row, 'owner_id'))
  await tx.run(TOUCH_HELD, [jobHolder(id), now])
  await tx.run(LEAVE_ALL, [jobHolder(id), leftHolder(ownerId)])
  await tx.run(DROP_ALL, [jobHolder(id)])
  announceListed(tx, { id, ownerId })
  return true
}

/** Cancels what deleted owners left and removes what is over. A crash in between leaves the rest to the next sweep. */
export async function sweepJobs(db: Database, now: number): Promise<number> {
  await cancelLeft(db, now)
  let removed = 0
  for (;;) {
    const rows = await db.all(EXPIRED, [now, JOBS_PER_STEP])
    let step = 0
    for (const row of rows) {
      if (await db.transaction((tx) => deleteJob(tx, JobId.parse(text(row, 'id')), now))) step += 1
    }
    removed += step
    if (step === 0) break
  }
  while ((await dropOrphans(db, now - ORPHAN_AGE_MS)) > 0);
  return removed
}

/** Holds of jobs that never came to be. */
function dropOrphans(db: Database, before: number): Promise<number> {
  return db.transaction(async (tx) => {
    const orphans = await tx.all(ORPHANS, [before, HOLDS_PER_STEP])
    let dropped = 0
    for (const row of orphans) dropped += await tx.run(DROP_ORPHAN, [text(row, 'sha256'), text(row, 'holder')])
    return dropped
  })
}

/** Collecting leaves alone for a while what was touched lately. Letting go is a touch, so that the while begins now. */
const TOUCH_HELD: Sql = 'UPDATE blobs SET touched_at = $2 WHERE sha256 IN (SELECT sha256 FROM blob_holders WHERE holder = $1)'
/** A blob that was let go of counts for its owner until it is collected. */
const LEAVE_ALL: Sql = `INSERT INTO blob_holders (sha256, holder) SELECT sha256, CAST($2 AS TEXT) FROM blob_holders WHERE holder = $1
  ON CONFLICT (sha256, holder) DO NOTHING`
const DROP_ALL: Sql = 'DELETE FROM blob_holders WHERE holder = $1'

/** Names that start with `job/`, since `0` is the character after the slash. What follows the slash is the job's id. */
const WITHOUT_JOB = `h.holder >= 'job/' AND h.holder < 'job0' AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = substr(h.holder, 5))`
const orphans = (lock: string) => `SELECT h.sha256, h.holder FROM blob_holders h JOIN blobs b ON b.sha256 = h.sha256
  WHERE ${WITHOUT_JOB} AND b.touched_at < $1 ORDER BY h.sha256, h.holder LIMIT $2 ${lock}`
const ORPHANS: Sql = { sqlite: orphans(''), postgres: orphans('FOR UPDATE OF b SKIP LOCKED') }
/** Asked again with the blob's row locked: a job may have come meanwhile. */
const DROP_ORPHAN: Sql = `DELETE FROM blob_holders AS h WHERE h.sha256 = $1 AND h.holder = $2 AND ${WITHOUT_JOB}`

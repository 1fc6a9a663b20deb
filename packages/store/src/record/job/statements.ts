import { END_STATUSES, JobStatus, STATUS_BEFORE } from '@parley/protocol'
import { type Sql, jsonTexts } from '@parley/database'
import { heldUnder, sameFence } from '../../lease/fence.ts'
import { JOB_QUEUE } from './job.ts'

/** What is read with every job, whose table is called so. The owner is one look by its key, so that a rename shows everywhere at once. */
export function besideJob(jobs: string): { readonly sqlite: string; readonly postgres: string } {
  const ownerName = `(SELECT username FROM users u WHERE u.id = ${jobs}.owner_id) AS owner_name`
  const names = `FROM job_artifacts WHERE job_id = ${jobs}.id`
  return {
    sqlite: `${ownerName}, (SELECT json_group_array(name) FROM (SELECT name ${names} ORDER BY name)) AS artifact_names`,
    postgres: `${ownerName}, (SELECT CAST(coalesce(json_agg(name ORDER BY name), '[]') AS TEXT) ${names}) AS artifact_names`,
  }
}
const BESIDE = besideJob('j')
/** Jobs, and `more` columns of what the rest joins them with. */
export const selectJobs = (rest: string, { lock = '', more = '' } = {}): Sql => ({
  sqlite: `SELECT j.*, ${BESIDE.sqlite} ${more} ${rest}`,
  postgres: `SELECT j.*, ${BESIDE.postgres} ${more} ${rest} ${lock}`,
})
const isOneOf = (statuses: readonly JobStatus[]): string => `status IN (${statuses.map((status) => `'${status}'`).join(', ')})`

const BY_ID = 'FROM jobs j WHERE j.id = $1'
export const JOB: Sql = selectJobs(BY_ID)
/** Everybody who changes a job locks its row first and its lease after it, so that no two wait for each other. */
export const JOB_FOR_CHANGE: Sql = selectJobs(BY_ID, { lock: 'FOR UPDATE OF j' })
/** The same, with what became of its owner. */
export const JOB_TO_CLAIM: Sql = selectJobs(BY_ID, {
  lock: 'FOR UPDATE OF j',
  more: `, (SELECT deleted_at FROM users u WHERE u.id = j.owner_id) AS owner_deleted_at,
    (SELECT disabled FROM users u WHERE u.id = j.owner_id) AS owner_disabled`,
})

/** $1 job, $2 claim, $3 now: the job if this claim is its last and holds the lease now. */
const HELD = `FROM jobs j JOIN leases l ON l.queue = '${JOB_QUEUE}' AND l.key = j.id
  WHERE j.id = $1 AND j.claim_id = $2 AND ${heldUnder('l', 'j.fence', '$3')}`
export const HELD_JOB: Sql = selectJobs(HELD, { more: ', l.available_at AS lease_until' })
/** Both rows are kept to the end of the transaction: nobody can claim the lease before what it guards is written. */
export const HELD_JOB_FOR_CHANGE: Sql = selectJobs(HELD, { lock: 'FOR UPDATE OF j, l' })

/** One text for each kind of owner and for a list with and without statuses; the latter are always as many as there are. */
export function listSql(owner: 'anybody' | 'nobody' | 'one', hasStatuses: boolean): Sql {
  const ofOwner = { anybody: '', nobody: 'AND j.owner_id IS NULL', one: 'AND j.owner_id = $4' }[owner]
  const first = owner === 'one' ? 5 : 4
  const places = JobStatus.options.map((_, index) => `$${first + index}`).join(', ')
  return selectJobs(`FROM jobs j WHERE (j.created_at, j.id) < ($1, $2) ${ofOwner} ${hasStatuses ? `AND j.status IN (${places})` : ''}
    ORDER BY j.created_at DESC, j.id DESC LIMIT $3`)
}

export const ADD: Sql = `INSERT INTO jobs (id, owner_id, status, outline, retry_of, created_at, expires_at, kept_bytes)
  VALUES ($1, $2, 'created', $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`
export const ADD_INPUTS: Sql = 'INSERT INTO job_inputs (job_id, spec, blob, files, cases) VALUES ($1, $2, $3, $4, $5)'
export const INPUTS: Sql = 'SELECT spec, blob, files, cases FROM job_inputs WHERE job_id = $1'

export const OWNER_OF: Sql = 'SELECT owner_id, status FROM jobs WHERE id = $1'
export const START: Sql = `UPDATE jobs SET status = 'queued', expires_at = NULL WHERE id = $1 AND status = 'created'`
export const CANCEL: Sql = `UPDATE jobs SET status = 'cancelled', finished_at = $2, expires_at = $3, error = $4
  WHERE id = $1 AND ${isOneOf(STATUS_BEFORE.cancelled)}`
/** $1 job, $2 summary: what its judge had found when it was cancelled. */
export const COUNT_CANCELLED: Sql = `UPDATE jobs SET summary = $2 WHERE id = $1 AND status = 'cancelled'`
/** $1 queue, $2 key, $3 now: an item that nobody holds. */
export const WITHDRAW_UNHELD: Sql = 'DELETE FROM leases WHERE queue = $1 AND key = $2 AND (holder IS NULL OR available_at <= $3)'

/** $1 owner, $2 now, $3 expires, $4 error: every job of theirs that has not ended. */
export const CANCEL_OF: Sql = `UPDATE jobs SET status = 'cancelled', finished_at = $2, expires_at = $3, error = $4
  WHERE owner_id = $1 AND ${isOneOf(STATUS_BEFORE.cancelled)} RETURNING id`
/** $1 queue, $2 owner, $3 now: the items of their cancelled jobs that nobody holds. */
export const WITHDRAW_UNHELD_OF: Sql = `DELETE FROM leases WHERE queue = $1 AND (holder IS NULL OR available_at <= $3)
  AND key IN (SELECT id FROM jobs WHERE owner_id = $2 AND status = 'cancelled')`
/** $1 rows: deleted and disabled accounts with jobs that have not ended. */
export const OWNERS_GONE: Sql = `SELECT u.id, u.deleted_at FROM users u WHERE (u.deleted_at IS NOT NULL OR u.disabled = 1)
  AND EXISTS (SELECT 1 FROM jobs j WHERE j.owner_id = u.id AND j.${isOneOf(STATUS_BEFORE.cancelled)}) ORDER BY u.id LIMIT $1`

/** $1 job, $2 attempt, $3 error, $4 summary, $5 containers, $6 started, $7 finished, $8 expires. */
const move = (status: JobStatus): Sql => `UPDATE jobs SET status = '${status}', attempt = $2, error = $3, summary = $4,
  containers = $5, started_at = $6, finished_at = $7, expires_at = $8 WHERE id = $1 AND ${isOneOf(STATUS_BEFORE[status])}`
export const MOVE = {
  queued: move('queued'),
  running_generate: move('running_generate'),
  running_test: move('running_test'),
  succeeded: move('succeeded'),
  failed: move('failed'),
  cancelled: move('cancelled'),
} satisfies Record<Exclude<JobStatus, 'created'>, Sql>

const held = (lock: string) => `SELECT 1 AS one FROM leases l
  WHERE l.queue = $1 AND l.key = $2 AND ${heldUnder('l', 'CAST($3 AS BIGINT)', '$4')} ${lock}`
/** $1 queue, $2 key, $3 fence, $4 now. */
export const LEASE_FOR_CHANGE: Sql = { sqlite: held(''), postgres: held('FOR UPDATE') }
/** $1 job, $2 claim, $3 fence, $4 machine, $5 now, $6 lost claims, $7 name of the judge. */
export const MARK_CLAIMED: Sql = `UPDATE jobs SET status = 'queued', claim_id = $2, fence = $3, machine_id = $4, claimed_at = $5,
  lost_claims = $6, judge_name = $7, claims = claims + 1, begun = 0, released = 0 WHERE id = $1 AND ${isOneOf(STATUS_BEFORE.queued)}`
/** $1 job, $2 error, $3 now, $4 expires, $5 lost claims. */
export const POISON: Sql = `UPDATE jobs SET status = 'failed', error = $2, finished_at = $3, expires_at = $4, lost_claims = $5
  WHERE id = $1 AND ${isOneOf(STATUS_BEFORE.failed)}`
/** $1 queue, $2 key, $3 fence: the item if nobody has taken it since, held or run out. */
export const END_LEASE: Sql = `DELETE FROM leases WHERE queue = $1 AND key = $2 AND ${sameFence('leases', 'CAST($3 AS BIGINT)')}`
export const BEGIN: Sql = 'UPDATE jobs SET begun = 1 WHERE id = $1 AND claim_id = $2'
export const RELEASE_ENDED: Sql = `UPDATE jobs SET released = 1 WHERE id = $1 AND claim_id = $2 AND ${isOneOf(END_STATUSES)}`
const release = (more: string) => `UPDATE jobs SET status = 'queued', released = 1 ${more}
  WHERE id = $1 AND claim_id = $2 AND ${isOneOf(STATUS_BEFORE.queued)}`
export const RELEASE_COUNTED: Sql = release('')
/** Only the id stays, so that a second release is recognised. */
export const RELEASE_FORGOTTEN: Sql = release(
  ', claims = claims - 1, begun = 0, machine_id = NULL, judge_name = NULL, claimed_at = NULL',
)

/** $1 queue, $2 now, $3 rows. */
export const HELD_BY: Sql = `SELECT j.machine_id, j.id, j.claim_id, j.owner_id FROM leases l JOIN jobs j ON j.id = l.key
  WHERE l.queue = $1 AND ${heldUnder('l', 'j.fence', '$2')} AND j.machine_id IS NOT NULL ORDER BY j.machine_id, j.id LIMIT $3`

/** $1 queue, $2 now, $3 jobs as a JSON array: those that a claim holds, and whose they are. */
const heldAmong = (
  jobs: string,
) => `SELECT j.id, j.claim_id, j.owner_id FROM jobs j JOIN leases l ON l.queue = $1 AND l.key = j.id
  WHERE j.id IN (${jobs}) AND ${heldUnder('l', 'j.fence', '$2')}`
export const HELD_AMONG: Sql = { sqlite: heldAmong(jsonTexts('$3').sqlite), postgres: heldAmong(jsonTexts('$3').postgres) }

/** The rows of inputs, artifacts and keys to models go with it; what its calls came to stays. */
export const DELETE: Sql = `DELETE FROM jobs WHERE id = $1 AND ${isOneOf(['created', ...END_STATUSES])} RETURNING owner_id`
/** One that was never started has its time too: nobody may know of it, when the answer to its creation got lost. */
export const EXPIRED: Sql = `SELECT id FROM jobs WHERE expires_at < $1 AND ${isOneOf(['created', ...END_STATUSES])}
  ORDER BY expires_at LIMIT $2`

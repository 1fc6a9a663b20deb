import { END_STATUSES, type UserId } from '@parley/protocol'
import { type Sql, lockNamed } from '@parley/database'

/** Whoever adds to a share waits here for the one before, so that each sees what the other wrote. Taken before any row is locked. */
export const LOCK_SHARE: Sql = lockNamed('share')

export const BOUNDS: Sql = 'SELECT kept_bytes, kept_jobs FROM quotas WHERE user_id = $1'

/** $1 the person as a holder of blobs and owner of uploads, $2 as a holder of what was let go of, $3 the owner of jobs if there is one. */
export function usedBytesSql(ownerId: UserId | null): Sql {
  const mine = ofOwner(ownerId, '$3')
  return `SELECT CAST(
    (SELECT coalesce(sum(j.kept_bytes), 0) FROM jobs j WHERE ${mine})
    + (SELECT coalesce(sum(b.size), 0) FROM blobs b WHERE b.sha256 IN (
        SELECT h.sha256 FROM jobs j JOIN blob_holders h ON h.holder = 'job/' || j.id WHERE ${mine}
        UNION SELECT h.sha256 FROM blob_holders h WHERE h.holder IN ($1, $2)))
    + (SELECT coalesce(sum(u.size), 0) FROM uploads u WHERE u.owner = $1) AS BIGINT) AS used`
}

/** $1 the owner if there is one. */
export const jobCountsSql = (ownerId: UserId | null): Sql => `SELECT count(*) AS jobs,
  coalesce(sum(CASE WHEN j.status IN (${ENDS}) THEN 0 ELSE 1 END), 0) AS unfinished,
  coalesce(sum(CASE WHEN j.status IN (${ENDS}, 'created') THEN 0 ELSE 1 END), 0) AS at_once
  FROM jobs j WHERE ${ofOwner(ownerId, '$1')}`

const ENDS = END_STATUSES.map((status) => `'${status}'`).join(', ')
const ofOwner = (ownerId: UserId | null, place: string): string =>
  ownerId === null ? 'j.owner_id IS NULL' : `j.owner_id = ${place}`

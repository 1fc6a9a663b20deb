import type { Sql } from '@parley/database'

export const BEGIN_UPLOAD: Sql = 'INSERT INTO uploads (id, owner, touched_at) VALUES ($1, $2, $3)'

/**
 * An upload whose bytes are being removed has this as the time of its last use. It counts for its owner until they are gone, and can
 * no longer be written or committed.
 */
const REMOVED_AT = -1
const upload = (lock: string) => `SELECT size FROM uploads WHERE id = $1 AND owner = $2 AND touched_at > ${REMOVED_AT} ${lock}`
/** The row is held to the end of the transaction: two writers of one upload go one after the other. */
export const UPLOAD_FOR_WRITE: Sql = { sqlite: upload(''), postgres: upload('FOR UPDATE') }
export const UPLOAD: Sql = upload('')
export const GROW_UPLOAD: Sql = 'UPDATE uploads SET size = $2, touched_at = $3 WHERE id = $1'
/** Only while it has the size that was hashed. */
export const END_UPLOAD: Sql = `UPDATE uploads SET touched_at = ${REMOVED_AT} WHERE id = $1 AND owner = $2 AND size = $3 AND touched_at > ${REMOVED_AT}`
export const ABORT_UPLOAD: Sql = `UPDATE uploads SET touched_at = ${REMOVED_AT} WHERE id = $1 AND owner = $2 AND touched_at > ${REMOVED_AT}`
/** Only one that is being removed. */
export const FORGET_UPLOAD: Sql = `DELETE FROM uploads WHERE id = $1 AND touched_at = ${REMOVED_AT}`
export const UPLOADS: Sql = `SELECT (SELECT count(*) FROM uploads WHERE owner = $1) AS under_way,
  (SELECT count(*) FROM blob_holders WHERE holder = $1) AS kept`
export const STALE_UPLOADS: Sql = 'DELETE FROM uploads WHERE touched_at < $1 RETURNING id'

export const CHUNK: Sql = 'SELECT bytes FROM blob_chunks WHERE content = $1 AND number = $2'
export const CHUNKS: Sql =
  'SELECT number, bytes FROM blob_chunks WHERE content = $1 AND number >= $2 AND number <= $3 ORDER BY number'
export const PUT_CHUNK: Sql =
  'INSERT INTO blob_chunks (content, number, bytes) VALUES ($1, $2, $3) ON CONFLICT (content, number) DO UPDATE SET bytes = excluded.bytes'

/** Whoever comes second finds the first one's content, locked against collection until the holder is in. */
export const PUT_BLOB: Sql = `INSERT INTO blobs (sha256, size, content, touched_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (sha256) DO UPDATE SET touched_at = excluded.touched_at RETURNING content`
export const BLOB: Sql = 'SELECT size, content FROM blobs WHERE sha256 = $1'
export const TOUCH_BLOB: Sql = 'UPDATE blobs SET touched_at = $2 WHERE sha256 = $1'
export const HOLD: Sql = 'INSERT INTO blob_holders (sha256, holder) VALUES ($1, $2) ON CONFLICT (sha256, holder) DO NOTHING'
export const DROP: Sql = 'DELETE FROM blob_holders WHERE sha256 = $1 AND holder = $2'

const unreferenced = (lock: string) => `SELECT sha256 FROM blobs b WHERE touched_at < $1
  AND NOT EXISTS (SELECT 1 FROM blob_holders h WHERE h.sha256 = b.sha256) ORDER BY sha256 LIMIT $2 ${lock}`
export const UNREFERENCED: Sql = { sqlite: unreferenced(''), postgres: unreferenced('FOR UPDATE OF b SKIP LOCKED') }
export const DELETE_BLOB: Sql = `DELETE FROM blobs WHERE sha256 = $1 AND touched_at < $2
  AND NOT EXISTS (SELECT 1 FROM blob_holders h WHERE h.sha256 = blobs.sha256) RETURNING content`

export const ADD_GARBAGE: Sql = 'INSERT INTO blob_garbage (content) VALUES ($1) ON CONFLICT (content) DO NOTHING'
export const GARBAGE: Sql = 'SELECT content FROM blob_garbage ORDER BY content LIMIT 1'
export const DELETE_CHUNKS: Sql = `DELETE FROM blob_chunks WHERE content = $1
  AND number IN (SELECT number FROM blob_chunks WHERE content = $1 ORDER BY number LIMIT $2)`
export const FORGET_GARBAGE: Sql = 'DELETE FROM blob_garbage WHERE content = $1'

export const IS_HELD: Sql = 'SELECT 1 AS one FROM blob_holders WHERE sha256 = $1 AND holder = $2'
/** The blobs' rows are locked, so that nobody comes to hold them meanwhile. One that another has locked is in use and is left out. */
const staleHolders = (lock: string) => `SELECT h.sha256, h.holder FROM blob_holders h JOIN blobs b ON b.sha256 = h.sha256
  WHERE h.holder >= $1 AND h.holder < $2 AND b.touched_at < $3 ORDER BY h.sha256, h.holder LIMIT $4 ${lock}`
/** $1 and $2 the first holder and the one after the last, $3 before, $4 rows. */
export const STALE_HOLDERS: Sql = { sqlite: staleHolders(''), postgres: staleHolders('FOR UPDATE OF b SKIP LOCKED') }

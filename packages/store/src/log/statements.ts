import type { Sql } from '../database/database.ts'
import { heldBy } from '../lease/fence.ts'

const LAST_ENTRY = `log_entries h ON h.log_id = l.id AND h.seq = (SELECT max(seq) FROM log_entries WHERE log_id = l.id)`

export const CREATE: Sql = 'INSERT INTO logs (name, max_bytes, max_entries) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING'
const createFenced = (lock: string) => `INSERT INTO logs (name, max_bytes, max_entries)
  SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT) FROM leases WHERE ${heldBy(4)} ${lock} ON CONFLICT (name) DO NOTHING`
export const CREATE_FENCED: Sql = { sqlite: createFenced(''), postgres: createFenced('FOR SHARE') }
export const CLOSE: Sql = 'UPDATE logs SET closed = 1 WHERE name = $1 AND closed = 0'
export const DELETE: Sql = 'DELETE FROM logs WHERE name = $1'

export const HEAD: Sql = {
  sqlite: `SELECT l.id, l.closed, l.max_bytes, l.max_entries, coalesce(h.seq + 1, 0) AS seq, coalesce(h.end_offset, 0) AS end_offset
    FROM logs l LEFT JOIN ${LAST_ENTRY} WHERE l.name = $1`,
  postgres: 'SELECT id, closed, max_bytes, max_entries, next_seq AS seq, end_offset FROM logs WHERE name = $1',
}

/**
 * Appends one entry at the end, if the log is open, has room for this and the rest of the same append, ends where the
 * writer says, and the writer's lease holds.
 * $1 name, $2 at, $3 bytes, $4 length, $5 length of all that is to come, $6 entries to come, $7 and $8 expected offset
 * and seq or null, then the fence.
 */
const appendOne = (fenced: string) => `
  INSERT INTO log_entries (log_id, seq, end_offset, at, bytes)
  SELECT l.id, coalesce(h.seq + 1, 0), coalesce(h.end_offset, 0) + $4, $2, $3
  FROM logs l LEFT JOIN ${LAST_ENTRY}
  WHERE l.name = $1 AND l.closed = 0
    AND coalesce(h.end_offset, 0) + $5 <= l.max_bytes AND coalesce(h.seq + 1, 0) + $6 <= l.max_entries
    AND ($7 IS NULL OR coalesce(h.end_offset, 0) = $7) AND ($8 IS NULL OR coalesce(h.seq + 1, 0) = $8) ${fenced}
  RETURNING log_id, seq + 1 AS seq, end_offset`
export const APPEND_ONE = appendOne('')
export const APPEND_ONE_FENCED = appendOne(`AND EXISTS (SELECT 1 FROM leases WHERE ${heldBy(9)})`)

/**
 * Appends all entries in one statement under the same conditions. The log's row is the lock that writers of all
 * processes queue at; the lease's row is held until the commit, so that nobody claims it in between.
 * $1 name, $2 at, $3 all bytes, $4 where each entry starts in them, $5 where it ends, $6 expected offset or null,
 * $7 expected seq or null, then the fence.
 */
const appendAll = (lease: string, fenced: string) => `
  WITH ${lease} piece AS (
    SELECT starts, ends, number FROM unnest(CAST($4 AS INTEGER[]), CAST($5 AS INTEGER[])) WITH ORDINALITY AS part (starts, ends, number)
  ), total AS (SELECT max(ends) AS size, count(*) AS entries FROM piece), head AS (
    UPDATE logs SET next_seq = next_seq + total.entries, end_offset = end_offset + total.size
    FROM total
    WHERE name = $1 AND closed = 0 AND end_offset + total.size <= max_bytes AND next_seq + total.entries <= max_entries
      AND (CAST($6 AS BIGINT) IS NULL OR end_offset = $6) AND (CAST($7 AS BIGINT) IS NULL OR next_seq = $7) ${fenced}
    RETURNING id, next_seq, end_offset, next_seq - total.entries AS first_seq, end_offset - total.size AS first_offset
  ), entry AS (
    INSERT INTO log_entries (log_id, seq, end_offset, at, bytes)
    SELECT head.id, head.first_seq + piece.number - 1, head.first_offset + piece.ends, CAST($2 AS BIGINT),
      substring(CAST($3 AS BYTEA) FROM piece.starts + 1 FOR piece.ends - piece.starts)
    FROM head, piece
  )
  SELECT id AS log_id, next_seq AS seq, end_offset FROM head`
export const APPEND_ALL = appendAll('', '')
export const APPEND_ALL_FENCED = appendAll(
  `lease AS (SELECT 1 FROM leases WHERE ${heldBy(8)} FOR SHARE),`,
  'AND EXISTS (SELECT 1 FROM lease)',
)

/** $1 log, $2 first seq, $3 last byte that may be passed, $4 entries. The first entry comes whatever its size. */
export const PAGE: Sql = `SELECT seq, end_offset, at, bytes FROM log_entries
  WHERE log_id = $1 AND seq >= $2 AND (seq = $2 OR end_offset <= $3) ORDER BY seq LIMIT $4`

export const OFFSET_BEFORE: Sql = 'SELECT end_offset FROM log_entries WHERE log_id = $1 AND seq = CAST($2 AS BIGINT) - 1'

/** Finds the entry that byte $2 is in by halving $3 entries: entries are in the order of their bytes, so no index is needed. */
export const SEQ_AT_OFFSET: Sql = `
  WITH RECURSIVE span (low, high) AS (
    SELECT CAST(0 AS BIGINT), CAST($3 AS BIGINT)
    UNION ALL
    SELECT CASE WHEN m.end_offset <= $2 THEN m.seq + 1 ELSE low END, CASE WHEN m.end_offset <= $2 THEN high ELSE m.seq END
    FROM span JOIN log_entries m ON m.log_id = $1 AND m.seq = (low + high) / 2
    WHERE low < high
  ) SELECT low AS seq FROM span WHERE low = high`

/** PostgreSQL: of $1 names, those logs that are there. */
export const HEADS = 'SELECT name, next_seq AS seq, closed FROM logs WHERE name = ANY (CAST($1 AS TEXT[]))'

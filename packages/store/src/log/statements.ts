import type { Sql } from '@parley/database'
import { heldBy } from '../lease/fence.ts'

const LAST_ENTRY = `log_entries h ON h.log_id = l.id AND h.seq = (SELECT max(seq) FROM log_entries WHERE log_id = l.id)`

export const CREATE: Sql = 'INSERT INTO logs (name, max_bytes, max_entries) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING'
const createFenced = (lock: string) => `INSERT INTO logs (name, max_bytes, max_entries)
  SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT) FROM leases WHERE ${heldBy(4)} ${lock} ON CONFLICT (name) DO NOTHING`
export const CREATE_FENCED: Sql = { sqlite: createFenced(''), postgres: createFenced('FOR SHARE') }
export const CLOSE: Sql = 'UPDATE logs SET closed = 1 WHERE name = $1 AND closed = 0'
export const DELETE: Sql = 'DELETE FROM logs WHERE name = $1'

/** On SQLite the last entry says where a log ends; one whose entries are all gone ends where it begins. */
const NEXT_SEQ = 'coalesce(h.seq + 1, l.first_seq)'
const END = 'coalesce(h.end_offset, l.first_offset)'
const HEAD_COLUMNS = 'l.id, l.closed, l.max_bytes, l.max_entries, l.first_seq, l.first_offset'

export const HEAD: Sql = {
  sqlite: `SELECT ${HEAD_COLUMNS}, ${NEXT_SEQ} AS seq, ${END} AS end_offset FROM logs l LEFT JOIN ${LAST_ENTRY} WHERE l.name = $1`,
  postgres: `SELECT ${HEAD_COLUMNS}, l.next_seq AS seq, l.end_offset FROM logs l WHERE l.name = $1`,
}

/** An append of a chained log goes on from the head that the writer knows, and its fence comes after what that takes. */
interface Kind {
  readonly chained: boolean
  readonly fenced: boolean
}
/** One text for each kind of append, made once. */
const ofEachKind = (make: (kind: Kind) => string) => {
  const both = (chained: boolean) => ({ plain: make({ chained, fenced: false }), fenced: make({ chained, fenced: true }) })
  const texts = { plain: both(false), chained: both(true) }
  return ({ chained, fenced }: Kind): string => texts[chained ? 'chained' : 'plain'][fenced ? 'fenced' : 'plain']
}

/**
 * Appends one entry at the end, if the log is open, has room for this and the rest of the same append, ends where the
 * writer says, and the writer's lease holds.
 * $1 name, $2 at, $3 bytes, $4 length, $5 length of all that is to come, $6 entries to come, $7 and $8 expected offset
 * and seq or null, where it is chained $9 its chain and $10 the head before, then the fence.
 */
export const appendOne = ofEachKind(
  ({ chained, fenced }) => `
  INSERT INTO log_entries (log_id, seq, end_offset, at, bytes${chained ? ', chain' : ''})
  SELECT l.id, ${NEXT_SEQ}, ${END} + $4, $2, $3${chained ? ', $9' : ''}
  FROM logs l LEFT JOIN ${LAST_ENTRY}
  WHERE l.name = $1 AND l.closed = 0
    AND ${END} - l.first_offset + $5 <= l.max_bytes AND ${NEXT_SEQ} - l.first_seq + $6 <= l.max_entries
    AND ($7 IS NULL OR ${END} = $7) AND ($8 IS NULL OR ${NEXT_SEQ} = $8)
    ${chained ? 'AND l.chain_head IS $10' : ''} ${fenced ? `AND EXISTS (SELECT 1 FROM leases WHERE ${heldBy(chained ? 11 : 9)})` : ''}
  RETURNING log_id, seq + 1 AS seq, end_offset`,
)
/** SQLite: $1 name, $2 the head after an append; in its transaction. */
export const SET_CHAIN_HEAD: Sql = 'UPDATE logs SET chain_head = $2 WHERE name = $1'

/**
 * Appends all entries in one statement under the same conditions. The log's row is the lock that writers of all
 * processes queue at; the lease's row is held until the commit, so that nobody claims it in between.
 * $1 name, $2 at, $3 all bytes, $4 where each entry starts in them, $5 where it ends, $6 expected offset or null,
 * $7 expected seq or null, where it is chained $8 all chains, $9 where each starts in them, $10 where it ends, $11 the
 * head after it, $12 the head before, then the fence.
 */
export const appendAll = ofEachKind(({ chained, fenced }) => {
  const arrays = ['$4', '$5', ...(chained ? ['$9', '$10'] : [])].map((each) => `CAST(${each} AS INTEGER[])`).join(', ')
  const parts = `starts, ends, ${chained ? 'chain_starts, chain_ends, ' : ''}number`
  return `
  WITH ${fenced ? `lease AS (SELECT 1 FROM leases WHERE ${heldBy(chained ? 13 : 8)} FOR SHARE),` : ''} piece AS (
    SELECT ${parts} FROM unnest(${arrays}) WITH ORDINALITY AS part (${parts})
  ), total AS (SELECT max(ends) AS size, count(*) AS entries FROM piece), head AS (
    UPDATE logs SET next_seq = next_seq + total.entries, end_offset = end_offset + total.size${chained ? ', chain_head = $11' : ''}
    FROM total
    WHERE name = $1 AND closed = 0 AND end_offset - first_offset + total.size <= max_bytes
      AND next_seq - first_seq + total.entries <= max_entries
      AND (CAST($6 AS BIGINT) IS NULL OR end_offset = $6) AND (CAST($7 AS BIGINT) IS NULL OR next_seq = $7)
      ${chained ? 'AND chain_head IS NOT DISTINCT FROM CAST($12 AS BYTEA)' : ''} ${fenced ? 'AND EXISTS (SELECT 1 FROM lease)' : ''}
    RETURNING id, next_seq, end_offset, next_seq - total.entries AS begins_at, end_offset - total.size AS begins
  ), entry AS (
    INSERT INTO log_entries (log_id, seq, end_offset, at, bytes${chained ? ', chain' : ''})
    SELECT head.id, head.begins_at + piece.number - 1, head.begins + piece.ends, CAST($2 AS BIGINT),
      substring(CAST($3 AS BYTEA) FROM piece.starts + 1 FOR piece.ends - piece.starts)
      ${chained ? ', substring(CAST($8 AS BYTEA) FROM piece.chain_starts + 1 FOR piece.chain_ends - piece.chain_starts)' : ''}
    FROM head, piece
  )
  SELECT id AS log_id, next_seq AS seq, end_offset FROM head`
})

/** $1 log, $2 first seq, $3 last byte that may be passed, $4 entries. The first entry comes whatever its size. */
export const PAGE: Sql = `SELECT seq, end_offset, at, bytes FROM log_entries
  WHERE log_id = $1 AND seq >= $2 AND (seq = $2 OR end_offset <= $3) ORDER BY seq LIMIT $4`

export const OFFSET_BEFORE: Sql = 'SELECT end_offset FROM log_entries WHERE log_id = $1 AND seq = CAST($2 AS BIGINT) - 1'

/** Finds the entry that byte $2 is in by halving those from $3 to $4: entries are in the order of their bytes, so no index is needed. */
export const SEQ_AT_OFFSET: Sql = `
  WITH RECURSIVE span (low, high) AS (
    SELECT CAST($3 AS BIGINT), CAST($4 AS BIGINT)
    UNION ALL
    SELECT CASE WHEN m.end_offset <= $2 THEN m.seq + 1 ELSE low END, CASE WHEN m.end_offset <= $2 THEN high ELSE m.seq END
    FROM span JOIN log_entries m ON m.log_id = $1 AND m.seq = (low + high) / 2
    WHERE low < high
  ) SELECT low AS seq FROM span WHERE low = high`

/** PostgreSQL: of $1 names, those logs that are there. */
export const HEADS = 'SELECT name, next_seq AS seq, closed FROM logs WHERE name = ANY (CAST($1 AS TEXT[]))'

/** Where a log begins now. */
export const FIRST: Sql = 'SELECT first_seq, first_offset FROM logs WHERE id = $1'

/** A log with what is kept of its chain, and its last entry as it is. */
const chainState = (ends: string) => `SELECT ${HEAD_COLUMNS}, l.chain_head, ${ends}, h.seq AS last_seq, h.end_offset AS last_end,
  h.chain AS last_chain FROM logs l LEFT JOIN ${LAST_ENTRY} WHERE l.name = $1`
export const CHAIN_STATE: Sql = {
  sqlite: chainState(`${NEXT_SEQ} AS seq, ${END} AS end_offset`),
  postgres: chainState('l.next_seq AS seq, l.end_offset'),
}
/** $1 name, $2 first seq, $3 last byte that may be passed, $4 entries. The first that is there comes whatever its number and size. */
export const CHAINED_PAGE: Sql = `SELECT e.seq, e.end_offset, e.at, e.bytes, e.chain FROM logs l JOIN log_entries e ON e.log_id = l.id
  WHERE l.name = $1 AND e.seq >= $2 AND (e.end_offset <= $3
    OR e.seq = (SELECT min(b.seq) FROM log_entries b WHERE b.log_id = l.id AND b.seq >= $2)) ORDER BY e.seq LIMIT $4`

/** A trim and an append wait for each other at the log's row. */
const ENTRY_END = 'SELECT seq, end_offset FROM log_entries WHERE log_id = $1'
export const LOCK_LOG: Sql = {
  sqlite: 'SELECT id FROM logs WHERE name = $1',
  postgres: 'SELECT id FROM logs WHERE name = $1 FOR UPDATE',
}
/** $1 log, $2 seq. */
export const END_OF: Sql = `${ENTRY_END} AND seq = $2`
/** $1 log, $2 seq: the last entry before that number that is older than $3. */
export const LAST_OLD: Sql = `${ENTRY_END} AND seq < $2 AND at < $3 ORDER BY seq DESC LIMIT 1`
/** $1 log, $2 seq: what the last chained entry up to it is chained by. */
export const CHAIN_UP_TO: Sql =
  'SELECT chain FROM log_entries WHERE log_id = $1 AND seq <= $2 AND chain IS NOT NULL ORDER BY seq DESC LIMIT 1'
/** $1 log, $2 seq of the last entry that goes. */
export const DROP_UP_TO: Sql = 'DELETE FROM log_entries WHERE log_id = $1 AND seq <= $2'
/** $1 log, $2 its first seq, $3 its first byte, $4 what is kept of its chain. */
export const SET_FIRST: Sql = 'UPDATE logs SET first_seq = $2, first_offset = $3, chain_head = $4 WHERE id = $1'

import { type Sql, type Transaction, integer } from '@parley/database'
import { CREATE } from './statements.ts'

/** $1 the log, $2 a byte: whether an entry of it ends there. */
const ENDS_AT: Sql = `SELECT 1 AS one FROM logs l JOIN log_entries e ON e.log_id = l.id WHERE l.name = $1 AND e.end_offset = $2`
const CAPS: Sql = 'SELECT max_bytes, max_entries FROM logs WHERE name = $1'
/** $1 from, $2 to, $3 the last byte. */
const COPY: Sql = `INSERT INTO log_entries (log_id, seq, end_offset, at, bytes)
  SELECT (SELECT id FROM logs WHERE name = $2), e.seq, e.end_offset, e.at, e.bytes
  FROM log_entries e WHERE e.log_id = (SELECT id FROM logs WHERE name = $1) AND e.end_offset <= $3`
/** PostgreSQL keeps where a log ends in the log itself. */
const SET_END = `UPDATE logs SET end_offset = $2, next_seq = (SELECT count(*) FROM log_entries e WHERE e.log_id = logs.id) WHERE name = $1`

/** Begins a log with what another one holds up to a byte. False: no entry of that one ends there, and nothing is copied. */
export async function copyLog(
  tx: Transaction,
  engine: 'sqlite' | 'postgres',
  log: { readonly from: string; readonly to: string; readonly offset: number },
): Promise<boolean> {
  const { from, to, offset } = log
  if (offset === 0) return true
  if ((await tx.get(ENDS_AT, [from, offset])) === undefined) return false
  const caps = await tx.get(CAPS, [from])
  if (caps === undefined) return false
  await tx.run(CREATE, [to, integer(caps, 'max_bytes'), integer(caps, 'max_entries')])
  await tx.run(COPY, [from, to, offset])
  if (engine === 'postgres') await tx.run(SET_END, [to, offset])
  return true
}

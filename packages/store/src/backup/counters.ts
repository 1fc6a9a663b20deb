import { type Queries, integer, text } from '@parley/database'

/** The numbers that were given last. They must go on where they stood: a fence or an audit number is never given twice. */
export interface Counters {
  readonly logs: number
  readonly leases: number
  readonly audit: number
}

export async function sqliteCounters(queries: Queries): Promise<Counters> {
  const rows = await queries.all('SELECT name, seq FROM sqlite_sequence', [])
  const last = new Map(rows.map((row) => [text(row, 'name'), integer(row, 'seq')]))
  return { logs: last.get('logs') ?? 0, leases: last.get('leases') ?? 0, audit: last.get('audit_entries') ?? 0 }
}

export async function postgresCounters(queries: Queries): Promise<Counters> {
  const row = await queries.get(
    `SELECT (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM logs_id_seq) AS logs,
      (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM leases_id_seq) AS leases,
      (SELECT last_seq FROM audit_end) AS audit`,
    [],
  )
  return row === undefined
    ? { logs: 0, leases: 0, audit: 0 }
    : { logs: integer(row, 'logs'), leases: integer(row, 'leases'), audit: integer(row, 'audit') }
}

export async function setSqliteCounters(queries: Queries, { logs, leases, audit }: Counters): Promise<void> {
  for (const [name, last] of [
    ['logs', logs],
    ['leases', leases],
    ['audit_entries', audit],
  ] as const) {
    await queries.run('DELETE FROM sqlite_sequence WHERE name = $1', [name])
    await queries.run('INSERT INTO sqlite_sequence (name, seq) VALUES ($1, CAST($2 AS INTEGER))', [name, last])
  }
}

/** Also where each log ends, which PostgreSQL keeps in the log's row. */
export async function setPostgresCounters(queries: Queries, { logs, leases, audit }: Counters): Promise<void> {
  await queries.run('UPDATE logs SET next_seq = first_seq, end_offset = first_offset', [])
  await queries.run(
    `UPDATE logs SET next_seq = last.seq + 1, end_offset = last.end_offset
     FROM (SELECT DISTINCT ON (log_id) log_id, seq, end_offset FROM log_entries ORDER BY log_id, seq DESC) AS last WHERE last.log_id = logs.id`,
    [],
  )
  await queries.run('UPDATE audit_end SET last_seq = $1', [audit])
  for (const [sequence, last] of [
    ['logs_id_seq', logs],
    ['leases_id_seq', leases],
  ] as const) {
    await queries.get('SELECT setval(CAST($1 AS TEXT), greatest(1, CAST($2 AS BIGINT)), CAST($2 AS BIGINT) > 0)', [
      sequence,
      last,
    ])
  }
}

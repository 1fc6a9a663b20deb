import { type Database, type Row, type Sql, integer, text, textOrNull } from '@parley/database'
import { MAX_APPEND_ENTRIES, MAX_LIST, checkInteger } from '../../limits.ts'
import type { AuditEntries, AuditRecord } from './audit.ts'

type Filter = Parameters<AuditEntries['search']>[0]

/** Who did what, numbered without a gap. */
export class SqlAudit implements AuditEntries {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async append(entries: readonly Omit<AuditRecord, 'seq'>[]): Promise<void> {
    checkInteger('entries', entries.length, 0, MAX_APPEND_ENTRIES)
    if (entries.length > 0) await this.#db.run(APPEND, [JSON.stringify(entries.map(storable))])
  }

  async search({ actor, action, outcome, since, until, beforeSeq, limit }: Filter): Promise<readonly AuditRecord[]> {
    checkInteger('limit', limit, 1, MAX_LIST)
    const filter = [actor ?? null, action ?? null, outcome ?? null, since ?? null, until ?? null, beforeSeq ?? null]
    return (await this.#db.all(actor === undefined ? SEARCH : SEARCH_ACTOR, [...filter, limit])).map(toAudit)
  }

  async after(seq: number, limit: number): Promise<readonly AuditRecord[]> {
    checkInteger('limit', limit, 1, MAX_LIST)
    return (await this.#db.all('SELECT * FROM audit_entries WHERE seq > $1 ORDER BY seq LIMIT $2', [seq, limit])).map(toAudit)
  }

  async prune(before: number, keep = MAX_AUDIT_LINES): Promise<number> {
    checkInteger('keep', keep, 0)
    return this.#db.run(PRUNE, [before, keep])
  }
}

/** About two gibibytes. */
const MAX_AUDIT_LINES = 10_000_000
const PRUNE: Sql =
  'DELETE FROM audit_entries WHERE at < $1 OR seq <= (SELECT coalesce(max(seq), 0) FROM audit_entries) - CAST($2 AS BIGINT)'
const COLUMNS = 'at, actor, role, action, target, outcome, code, remote'

/** SQLite's own counter has no gaps: a rollback takes it back, too. PostgreSQL's sequences do not, hence the row. */
const APPEND: Sql = {
  sqlite: `INSERT INTO audit_entries (${COLUMNS})
    SELECT value ->> 'at', value ->> 'actor', value ->> 'role', value ->> 'action', value ->> 'target', value ->> 'outcome',
      value ->> 'code', value ->> 'remote'
    FROM json_each($1) ORDER BY key`,
  postgres: `
    WITH entry AS (SELECT value, number FROM json_array_elements(CAST($1 AS JSON)) WITH ORDINALITY AS e (value, number)),
    last AS (UPDATE audit_end SET last_seq = last_seq + (SELECT count(*) FROM entry) RETURNING last_seq - (SELECT count(*) FROM entry) AS seq)
    INSERT INTO audit_entries (seq, ${COLUMNS})
    SELECT last.seq + number, CAST(value ->> 'at' AS BIGINT), value ->> 'actor', value ->> 'role', value ->> 'action', value ->> 'target',
      value ->> 'outcome', value ->> 'code', value ->> 'remote'
    FROM entry, last`,
}

const search = (actor: string) => `SELECT * FROM audit_entries
  WHERE ${actor} AND (CAST($2 AS TEXT) IS NULL OR action = $2) AND (CAST($3 AS TEXT) IS NULL OR outcome = $3)
    AND (CAST($4 AS BIGINT) IS NULL OR at >= $4) AND (CAST($5 AS BIGINT) IS NULL OR at < $5)
    AND (CAST($6 AS BIGINT) IS NULL OR seq < $6)
  ORDER BY seq DESC LIMIT $7`
const SEARCH: Sql = search('CAST($1 AS TEXT) IS NULL')
const SEARCH_ACTOR: Sql = search('actor = $1')

/** Callers may send any text. One entry that cannot be stored would fail the whole append, so such characters are replaced. */
function storable(entry: Omit<AuditRecord, 'seq'>): Omit<AuditRecord, 'seq'> {
  const clean = (value: string) => value.toWellFormed().replaceAll('\0', '\uFFFD')
  const cleanOrNull = (value: string | null) => (value === null ? null : clean(value))
  return {
    at: entry.at,
    actor: clean(entry.actor),
    role: clean(entry.role),
    action: clean(entry.action),
    target: cleanOrNull(entry.target),
    outcome: entry.outcome,
    code: cleanOrNull(entry.code),
    remote: cleanOrNull(entry.remote),
  }
}

export function toAudit(row: Row): AuditRecord {
  return {
    seq: integer(row, 'seq'),
    at: integer(row, 'at'),
    actor: text(row, 'actor'),
    role: text(row, 'role'),
    action: text(row, 'action'),
    target: textOrNull(row, 'target'),
    outcome: toOutcome(text(row, 'outcome')),
    code: textOrNull(row, 'code'),
    remote: textOrNull(row, 'remote'),
  }
}

function toOutcome(value: string): AuditRecord['outcome'] {
  if (value === 'ok' || value === 'denied' || value === 'failed') return value
  throw new TypeError(`an audit entry has the outcome ${value}`)
}

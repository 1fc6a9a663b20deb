import { type Database, type Queries, SchemaTooNew, integer, lockAll } from '@parley/database'
import { firstTables } from './step/0001-first-tables.ts'
import { jobs } from './step/0002-jobs.ts'
import { models } from './step/0003-models.ts'
import { judgeNames } from './step/0004-judge-names.ts'
import { deletedUsers } from './step/0005-deleted-users.ts'
import { usedLinks } from './step/0006-used-links.ts'
import { identities } from './step/0007-identities.ts'
import { shares } from './step/0008-shares.ts'
import { lanes } from './step/0009-lanes.ts'
import { waitingLanes } from './step/0010-waiting-lanes.ts'
import { servedRounds } from './step/0011-served-rounds.ts'
import { workers } from './step/0012-workers.ts'
import { agents } from './step/0013-agents.ts'
import { prompts } from './step/0014-prompts.ts'
import { agentModels } from './step/0015-agent-models.ts'
import { approvals } from './step/0016-approvals.ts'
import { policies } from './step/0017-policies.ts'
import { chainedLogs } from './step/0018-chained-logs.ts'
import { scopes } from './step/0019-scopes.ts'
import { tokenMakers } from './step/0020-token-makers.ts'
import { chat } from './step/0021-chat.ts'
import { backgroundCalls } from './step/0023-background-calls.ts'
import { loops } from './step/0022-loops.ts'
import type { Migration } from './step/migration.ts'

export const MIGRATIONS: readonly Migration[] = [
  firstTables,
  jobs,
  models,
  judgeNames,
  deletedUsers,
  usedLinks,
  identities,
  shares,
  lanes,
  waitingLanes,
  servedRounds,
  workers,
  agents,
  prompts,
  agentModels,
  approvals,
  policies,
  chainedLogs,
  scopes,
  tokenMakers,
  chat,
  loops,
  backgroundCalls,
]

/** The schema that this version reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length

/**
 * Brings the database to `SCHEMA_VERSION` in one transaction. The second of two starters waits for the first, and then
 * finds nothing to do: SQLite's write lock and an advisory lock of PostgreSQL see to it.
 */
export async function migrate(db: Database, now: () => number, migrations = MIGRATIONS): Promise<void> {
  const known = migrations.length
  await db.transaction(async (tx) => {
    await tx.get(LOCK, [])
    await tx.run(TABLE, [])
    const current = await schemaVersion(tx)
    if (current > known) throw new SchemaTooNew(current, known)
    for (const migration of migrations.slice(current)) {
      for (const statement of statements(migration[db.engine])) await tx.run(statement, [])
      await tx.run('INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)', [
        migration.version,
        migration.name,
        now(),
      ])
    }
  })
}

/** The last step that was applied; 0 when there was none. */
export async function schemaVersion(queries: Queries): Promise<number> {
  const row = await queries.get('SELECT coalesce(max(version), 0) AS version FROM schema_migrations', [])
  return row === undefined ? 0 : integer(row, 'version')
}

/** Migrations hold plain statements without a semicolon inside, so that each can be run by itself. */
const statements = (text: string) =>
  text
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

const LOCK = lockAll('migration')
const TABLE = {
  sqlite:
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  postgres:
    'CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)',
}

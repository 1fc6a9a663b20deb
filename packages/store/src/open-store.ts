import { randomBytes } from 'node:crypto'
import { backupPostgres, backupSqlite } from './backup/backup-file.ts'
import { SqlBlobs } from './blob/sql-blobs.ts'
import {
  type Database,
  type FileLock,
  type MachineClocks,
  type Synchronous,
  MACHINE_CLOCKS,
  followDatabase,
  followMachine,
  lockFile,
  openPostgres,
  openSqlite,
} from '@parley/database'
import { SqlLeases } from './lease/sql-leases.ts'
import { SqlLogs } from './log/sql-logs.ts'
import { migrate } from '@parley/schema'
import { SqlAgents } from './record/agent/sql-agents.ts'
import { SqlApprovals } from './record/approval/sql-approvals.ts'
import { SqlPolicies } from './record/policy/sql-policies.ts'
import { SqlNews } from './record/news/sql-news.ts'
import { SqlBackgroundCalls } from './record/background-call/sql-background-calls.ts'
import { SqlChats } from './record/chat/sql-chats.ts'
import { SqlPrompts } from './record/prompt/sql-prompts.ts'
import { SqlAudit } from './record/audit/sql-audit.ts'
import { SqlChannels } from './record/channel/sql-channels.ts'
import { SqlJobs } from './record/job/sql-jobs.ts'
import { SqlGateways } from './record/gateway/sql-gateways.ts'
import { SqlGrants } from './record/grant/sql-grants.ts'
import { SqlJudges } from './record/judge/sql-judges.ts'
import { SqlModelKeys } from './record/model-key/sql-model-keys.ts'
import { SqlQuotas } from './record/quota/sql-quotas.ts'
import { SqlSettings } from './record/setting/sql-settings.ts'
import { SqlSignIns } from './record/sign-in/sql-sign-ins.ts'
import { SqlTokens } from './record/token/sql-tokens.ts'
import { SqlUsages } from './record/usage/sql-usages.ts'
import { SqlUsers } from './record/user/sql-users.ts'
import { SqlWorkers } from './record/worker/sql-workers.ts'
import { SqlShares } from './share/sql-shares.ts'
import type { Store } from './store.ts'
import { parseStoreUrl } from './store-url.ts'
import { SignalTopics } from './topic/signal-topics.ts'

export interface OpenStoreOptions {
  /** `sqlite:PATH`, a plain path, or `postgres://…`. */
  readonly url: string
  /** The file whose lock says who owns a SQLite file; `PATH.lock` unless given. */
  readonly lockPath?: string
  /**
   * Milliseconds. Unless given, a clock of our own that never jumps and follows the machine's on SQLite and the server's on PostgreSQL,
   * so that gateways agree.
   */
  readonly now?: () => number
  /** What that clock goes by. */
  readonly clocks?: MachineClocks
  readonly random?: (size: number) => Uint8Array
  /**
   * SQLite runs in WAL mode. With `normal`, the default, the operating system has a commit before it is acknowledged: it survives the
   * death of the process at any moment, and a loss of power may cost the last commits but never corrupts the file. `full` syncs every
   * commit and survives that too, at about a tenth of the writes a second. PostgreSQL keeps its server's `synchronous_commit`.
   */
  readonly synchronous?: Synchronous
}

/** Opens, locks (SQLite) and migrates. Throws `StoreLocked`, `SchemaTooNew`, `StoreUnavailable` or `NotAStore`. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const location = parseStoreUrl(options.url)
  if (location.engine === 'postgres') return openOnPostgres(location.url, options)
  const lock = lockFile(options.lockPath ?? `${location.path}.lock`)
  try {
    return await openOnSqlite(location.path, lock, options)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openOnSqlite(path: string, lock: FileLock, options: OpenStoreOptions): Promise<Store> {
  const { clocks = MACHINE_CLOCKS, synchronous = 'normal' } = options
  const db = openSqlite(path, synchronous)
  try {
    await migrate(db, clocks.wall)
  } catch (error) {
    await db.close()
    throw error
  }
  const clock = followMachine(clocks)
  return storeOn(
    db,
    { ...options, now: options.now ?? clock.now },
    {
      ping: async () => {
        await clock.set()
        await db.checkWritable()
      },
      backup: (file) => backupSqlite(path, file),
      close: async () => {
        clock.stop()
        await db.close()
        lock.release()
      },
    },
  )
}

async function openOnPostgres(url: string, options: OpenStoreOptions): Promise<Store> {
  const db = await openPostgres(url)
  try {
    const openedAt = await db.clock()
    await migrate(db, () => openedAt)
    const clock = await followDatabase(db, options.clocks ?? MACHINE_CLOCKS)
    const now = options.now ?? clock.now
    return storeOn(
      db,
      { ...options, now },
      {
        ping: () => clock.set(),
        backup: (file) => backupPostgres(db, file, now),
        close: async () => {
          clock.stop()
          await db.close()
        },
      },
    )
  } catch (error) {
    await db.close()
    throw error
  }
}

/** All that is kept, over a database that has its tables. Several stores may stand on one database. */
export function storeOn(
  db: Database,
  { now, random = randomBytes }: Pick<OpenStoreOptions, 'random'> & { readonly now: () => number },
  rest: Pick<Store, 'ping' | 'backup' | 'close'>,
): Store {
  const logs = new SqlLogs(db, now)
  const news = new SqlNews(db, logs, now, random)
  return {
    engine: db.engine,
    now,
    logs,
    leases: new SqlLeases(db, now),
    blobs: new SqlBlobs(db, now, random),
    topics: new SignalTopics(db),
    users: new SqlUsers(db, now, random),
    tokens: new SqlTokens(db, now, random),
    signIns: new SqlSignIns(db, now),
    audit: new SqlAudit(db),
    settings: new SqlSettings(db),
    jobs: new SqlJobs(db, now),
    judges: new SqlJudges(db, now),
    workers: new SqlWorkers(db, now),
    gateways: new SqlGateways(db, now),
    agents: new SqlAgents(db, news, now, random),
    prompts: new SqlPrompts(db, news, now, random),
    chats: new SqlChats(db, news, now),
    news,
    backgroundCalls: new SqlBackgroundCalls(db, now, random),
    approvals: new SqlApprovals(db, now, random),
    policies: new SqlPolicies(db, now),
    grants: new SqlGrants(db, now),
    channels: new SqlChannels(db, now),
    modelKeys: new SqlModelKeys(db, now),
    usages: new SqlUsages(db, now, random),
    quotas: new SqlQuotas(db),
    shares: new SqlShares(db),
    ...rest,
    close: async () => {
      db.signals.end()
      await rest.close()
    },
  }
}

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type SqliteDatabase,
  type Transaction,
  NotAStore,
  StoreError,
  StoreUnavailable,
  TargetNotEmpty,
  lockFile,
  openPostgres,
  openSqlite,
  text,
} from '@parley/database'
import { migrate } from '@parley/schema'
import { parseStoreUrl } from '../store-url.ts'
import { copySqlite, writeWhole } from './backup-file.ts'
import { checkRows, checkSchema } from './check-backup.ts'
import { RowRefused, copyRows, isEmpty } from './copy-rows.ts'
import { setPostgresCounters, setSqliteCounters, sqliteCounters } from './counters.ts'

/**
 * Puts a backup into a new file or an empty database of either engine. The backup is checked first; a target with
 * content is refused with `TargetNotEmpty` and stays as it is.
 */
export async function restoreStore(
  file: string,
  target: string,
  options: { readonly lockPath?: string; readonly now?: () => number } = {},
): Promise<void> {
  const { now = Date.now } = options
  const location = parseStoreUrl(target)
  if (location.engine === 'postgres') await restorePostgres(file, location.url, now)
  else await restoreSqlite(file, location.path, options.lockPath ?? `${location.path}.lock`, now)
}

async function restoreSqlite(file: string, path: string, lockPath: string, now: () => number): Promise<void> {
  const lock = lockFile(lockPath)
  try {
    if (!(await isNew(path, now))) throw new TargetNotEmpty(path)
    await writeWhole(path, async (temporary) => {
      const copied = `${temporary}.copy`
      try {
        const copy = await checkedCopy(file, copied, now)
        try {
          await takeOver(file, () => fillFile(copy, temporary, now))
        } finally {
          await copy.close()
        }
      } finally {
        for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(copied + suffix, { force: true })
      }
      for (const suffix of ['-wal', '-shm']) await rm(path + suffix, { force: true })
    })
  } finally {
    lock.release()
  }
}

/** Makes a new file as our migrations do and brings the rows over: nothing else of a backup gets into a database. */
async function fillFile(copy: SqliteDatabase, path: string, now: () => number): Promise<void> {
  const target = openSqlite(path, 'normal')
  try {
    await migrate(target, now)
    // A file that is not finished is thrown away as a whole: a journal would only take its size once more.
    target.exec('PRAGMA journal_mode = OFF')
    await target.transaction(async (to) => {
      await copyRows(copy, to)
      await setSqliteCounters(to, await sqliteCounters(copy))
    })
  } finally {
    await target.close()
  }
}

async function restorePostgres(file: string, url: string, now: () => number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-restore-'))
  try {
    const copy = await checkedCopy(file, join(folder, 'copy.db'), now)
    const target = await openPostgres(url)
    try {
      await migrate(target, now)
      await takeOver(file, () => target.transaction((to) => fillDatabase(copy, to)))
    } finally {
      await target.close()
      await copy.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function fillDatabase(copy: SqliteDatabase, to: Transaction): Promise<void> {
  await to.run('LOCK TABLE settings, users, logs, leases, blobs, jobs, judges, channels, usage IN ACCESS EXCLUSIVE MODE', [])
  if (!(await isEmpty(to))) throw new TargetNotEmpty('the database')
  await copyRows(copy, to)
  await setPostgresCounters(to, await sqliteCounters(copy))
}

/** What is wrong with a row is wrong with the file. */
async function takeOver(file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw error instanceof RowRefused
      ? new NotAStore(file, `is no backup that can be restored: ${error.message}`, { cause: error })
      : error
  }
}

async function isNew(path: string, now: () => number): Promise<boolean> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size === 0) return true
  const target = openSqlite(path, 'normal')
  try {
    await migrate(target, now)
    return await isEmpty(target)
  } finally {
    await target.close()
  }
}

/** A copy with our tables alone, whose pages, references and version are in order, brought to the schema of this version. */
async function checkedCopy(file: string, path: string, now: () => number): Promise<SqliteDatabase> {
  try {
    await copySqlite(file, path)
  } catch (cause) {
    throw new NotAStore(file, isNoDatabase(cause) ? 'is no backup' : 'cannot be read', { cause })
  }
  let copy: SqliteDatabase | undefined
  try {
    copy = openCopy(file, path)
    await checkSchema(copy, file)
    const damage = await copy.get('PRAGMA integrity_check(1)', [])
    if (damage === undefined || text(damage, 'integrity_check') !== 'ok') throw new NotAStore(file, 'is damaged')
    if ((await copy.get('PRAGMA foreign_key_check', [])) !== undefined)
      throw new NotAStore(file, 'is damaged: a row refers to one that is not there')
    await migrate(copy, now)
    await checkRows(copy, file, now())
    return copy
  } catch (error) {
    await copy?.close()
    if (error instanceof RowRefused)
      throw new NotAStore(file, `is no backup that can be restored: ${error.message}`, { cause: error })
    const isOurTrouble = error instanceof StoreUnavailable && error.fault === 'full'
    throw isOurTrouble || (error instanceof StoreError && error.code !== 'unavailable')
      ? error
      : new NotAStore(file, 'is damaged', { cause: error })
  }
}

/** What SQLite says of a file that is none of its own. */
const isNoDatabase = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === SQLITE_NOTADB
const SQLITE_NOTADB = 26

/** Nobody has heard of the copy: what is wrong with it is said of the file. */
function openCopy(file: string, path: string): SqliteDatabase {
  try {
    return openSqlite(path, 'normal')
  } catch (error) {
    throw error instanceof NotAStore ? new NotAStore(file, 'is a database of another program', { cause: error }) : error
  }
}

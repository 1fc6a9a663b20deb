import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from '../database/column.ts'
import { lockFile } from '../database/lock-file.ts'
import { openPostgres } from '../database/postgres.ts'
import { openSqlite, type SqliteDatabase } from '../database/sqlite.ts'
import { NotAStore, StoreError, TargetNotEmpty } from '../errors.ts'
import { migrate } from '../migration/migrate.ts'
import { parseStoreUrl } from '../store-url.ts'
import { copySqlite, writeWhole } from './backup-file.ts'
import { copyRows, isEmpty } from './copy-rows.ts'
import { setPostgresCounters, sqliteCounters } from './counters.ts'

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
      const copy = await checkedCopy(file, temporary, now)
      await copy.close()
      for (const suffix of ['-wal', '-shm']) await rm(path + suffix, { force: true })
    })
  } finally {
    lock.release()
  }
}

async function restorePostgres(file: string, url: string, now: () => number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-restore-'))
  try {
    const copy = await checkedCopy(file, join(folder, 'copy.db'), now)
    const target = await openPostgres(url)
    try {
      await migrate(target, now)
      await target.transaction(async (to) => {
        await to.run(
          'LOCK TABLE settings, users, logs, leases, blobs, jobs, judges, channels, usage IN ACCESS EXCLUSIVE MODE',
          [],
        )
        if (!(await isEmpty(to))) throw new TargetNotEmpty('the database')
        await copyRows(copy, to)
        await setPostgresCounters(to, await sqliteCounters(copy))
      })
    } finally {
      await target.close()
      await copy.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
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

/** A copy whose pages, references and version are in order, brought to the schema of this version. */
async function checkedCopy(file: string, path: string, now: () => number): Promise<SqliteDatabase> {
  checkIsOurs(file)
  try {
    await copySqlite(file, path)
  } catch (cause) {
    throw new NotAStore(file, 'cannot be read', { cause })
  }
  let copy: SqliteDatabase | undefined
  try {
    copy = openSqlite(path, 'normal')
    const damage = await copy.get('PRAGMA integrity_check(1)', [])
    if (damage === undefined || text(damage, 'integrity_check') !== 'ok') throw new NotAStore(file, 'is damaged')
    if ((await copy.get('PRAGMA foreign_key_check', [])) !== undefined)
      throw new NotAStore(file, 'is damaged: a row refers to one that is not there')
    await migrate(copy, now)
    return copy
  } catch (error) {
    await copy?.close()
    throw error instanceof StoreError && error.code !== 'unavailable'
      ? error
      : new NotAStore(file, 'is damaged', { cause: error })
  }
}

function checkIsOurs(file: string): void {
  let source: DatabaseSync | undefined
  let tables: number
  try {
    source = new DatabaseSync(file, { readOnly: true })
    tables = source.prepare("SELECT name FROM sqlite_schema WHERE name = 'schema_migrations'").all().length
  } catch (cause) {
    throw new NotAStore(file, 'is no backup that can be read', { cause })
  } finally {
    source?.close()
  }
  if (tables === 0) throw new NotAStore(file, 'is no backup')
}

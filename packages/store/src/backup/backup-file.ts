import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync, backup } from 'node:sqlite'
import { type PostgresDatabase, StoreUnavailable, makePrivate, openSqlite } from '@parley/database'
import { migrate } from '@parley/schema'
import { copyRows } from './copy-rows.ts'
import { postgresCounters, setSqliteCounters } from './counters.ts'

/** Copies a SQLite file as it is at one moment, while its owner goes on writing. */
export async function backupSqlite(path: string, file: string): Promise<void> {
  await writeWhole(file, (temporary) => copySqlite(path, temporary))
}

/** Writes what PostgreSQL holds at one moment into a SQLite file: one format, whatever the engine. */
export async function backupPostgres(source: PostgresDatabase, file: string, now: () => number): Promise<void> {
  await writeWhole(file, async (temporary) => {
    const target = openSqlite(temporary, 'normal')
    try {
      await migrate(target, now)
      await source.snapshot((from) =>
        target.transaction(async (to) => {
          await copyRows(from, to)
          await setSqliteCounters(to, await postgresCounters(from))
        }),
      )
    } finally {
      await target.close()
    }
  })
}

/** Copies a database file through SQLite, with what its write-ahead log still holds, into one for its owner alone. */
export async function copySqlite(path: string, file: string): Promise<void> {
  makePrivate(file)
  const source = new DatabaseSync(path, { readOnly: true })
  try {
    // An open read keeps the copy at one moment; without it every write of the owner would start the copy anew.
    source.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    await backup(source, file)
  } finally {
    source.close()
  }
}

/** The file appears under its name only when all of it is on the disk. It is its owner's alone from the first byte on. */
export async function writeWhole(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.partial`
  try {
    makePrivate(temporary)
    await write(temporary)
    foldLog(temporary)
    await syncPath(temporary)
    await rename(temporary, file)
    await syncPath(dirname(file))
  } catch (cause) {
    for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(temporary + suffix, { force: true })
    throw cause instanceof Error && 'syscall' in cause ? new StoreUnavailable(`${file} cannot be written`, { cause }) : cause
  }
}

/** Without a write-ahead log the one file is all there is. */
function foldLog(path: string): void {
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA journal_mode = DELETE')
  } finally {
    database.close()
  }
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

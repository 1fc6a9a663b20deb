import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { CommandError } from '@parley/command-line'
import type { DataDir } from './data-dir.ts'

const PRIVATE = 0o600
const SHOWN_CHARS = 200

/**
 * A gateway on PostgreSQL leaves a note in its data folder, so that a command that is given the folder alone does not take it for one
 * without a database and begin an empty one there. The URL is written without the name and password of anybody.
 */
export function noteDatabase(data: DataDir, databaseUrl: string): void {
  writeFileSync(data.databaseNote, `${placeOf(databaseUrl)}\n`, { mode: PRIVATE })
}

/** The instance has its database in the folder again. */
export function forgetDatabase(data: DataDir): void {
  rmSync(data.databaseNote, { force: true })
}

/** Refuses a folder whose database is elsewhere, or was here and is gone. */
export function checkDatabaseIsHere(data: DataDir): void {
  if (existsSync(data.databaseNote)) {
    const place = readFileSync(data.databaseNote, 'utf8').trim().slice(0, SHOWN_CHARS)
    throw new CommandError('database_elsewhere', `the database of ${data.path} is PostgreSQL: ${place}`, {
      hint: `name it by --database or PARLEY_DATABASE_URL; if it is not any more, --database sqlite:${data.database}`,
    })
  }
  checkNotEmptied(data)
}

/** A file without a byte beside the secret of an instance was a database. One that is not there yet is made. */
function checkNotEmptied(data: DataDir): void {
  const found = statSync(data.database, { throwIfNoEntry: false })
  if (found === undefined || found.size > 0 || !existsSync(data.secret)) return
  throw new CommandError(
    'database_emptied',
    `${data.database} is empty, but ${data.secret} says that there was an instance here`,
    {
      hint: 'move it away with its -wal and -shm files, then parley restore FILE puts a backup in its place; without a backup remove both to begin anew',
    },
  )
}

function placeOf(databaseUrl: string): string {
  const url = URL.parse(databaseUrl)
  return url === null ? 'postgres:' : `postgres://${url.host}${url.pathname}`
}

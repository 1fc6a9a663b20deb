import { resolve } from 'node:path'
import type { Settings } from './setting.ts'
import type { DataDir } from '../data/data-dir.ts'
import { checkDatabaseIsHere } from '../data/database-note.ts'

export function isPostgres(databaseUrl: string | undefined): boolean {
  return databaseUrl !== undefined && /^postgres(ql)?:/.test(databaseUrl)
}

/**
 * Where the database is: PostgreSQL by its URL, SQLite by an absolute path. Throws `CommandError` when nobody named one and it is not in
 * the folder, though it should be.
 */
export function databaseUrlOf({ databaseUrl }: Pick<Settings, 'databaseUrl'>, data: DataDir, cwd: string): string {
  if (databaseUrl === undefined) {
    checkDatabaseIsHere(data)
    return `sqlite:${data.database}`
  }
  return isPostgres(databaseUrl) ? databaseUrl : `sqlite:${resolve(cwd, databaseUrl.replace(/^sqlite:(\/\/(?=\/))?/, ''))}`
}

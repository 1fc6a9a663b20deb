import { resolve } from 'node:path'
import type { Settings } from '../config/setting.ts'
import type { DataDir } from '../data/data-dir.ts'

export function isPostgres(databaseUrl: string | undefined): boolean {
  return databaseUrl !== undefined && /^postgres(ql)?:/.test(databaseUrl)
}

/** Where the database is: PostgreSQL by its URL, SQLite by an absolute path. */
export function databaseUrlOf({ databaseUrl }: Pick<Settings, 'databaseUrl'>, data: DataDir, cwd: string): string {
  if (databaseUrl === undefined) return `sqlite:${data.database}`
  return isPostgres(databaseUrl) ? databaseUrl : `sqlite:${resolve(cwd, databaseUrl.replace(/^sqlite:(\/\/(?=\/))?/, ''))}`
}

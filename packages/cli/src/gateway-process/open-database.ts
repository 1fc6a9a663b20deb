import { type Store, openStore } from '@parley/store'
import type { Settings } from '../config/setting.ts'
import type { DataDir } from '../data/data-dir.ts'
import { databaseUrlOf, isPostgres } from '../config/database-url.ts'

/** Opens the store of an instance; an SQLite file belongs to whoever holds `DATA/lock`. */
export function openDatabase(settings: Pick<Settings, 'databaseUrl'>, data: DataDir, cwd: string): Promise<Store> {
  const url = databaseUrlOf(settings, data, cwd)
  return openStore(isPostgres(settings.databaseUrl) ? { url } : { url, lockPath: data.lock })
}

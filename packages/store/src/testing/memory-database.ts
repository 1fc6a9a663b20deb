import { DatabaseSync } from 'node:sqlite'
import { type Database, SqliteDatabase } from '@parley/database'
import { migrate } from '@parley/schema'
import { storeOn } from '../open-store.ts'
import type { Store } from '../store.ts'

/** A database in memory with its tables and nothing in them. */
export async function openMemoryDatabase(): Promise<SqliteDatabase> {
  const db = new SqliteDatabase(new DatabaseSync(':memory:', { enableForeignKeyConstraints: true }), ':memory:')
  await migrate(db, () => 0)
  return db
}

/** A store on a database that somebody else opened, and closes: several of these are several gateways. */
export function storeOver(
  db: Database,
  options: { readonly now: () => number; readonly random: (size: number) => Uint8Array },
): Store {
  const cannot = (): Promise<never> => Promise.reject(new TypeError('this database is in memory alone'))
  return storeOn(db, options, { ping: () => Promise.resolve(), backup: cannot, close: () => Promise.resolve() })
}

import { type Database, type Value, openPostgres, openSqlite } from '@parley/database'

/** Runs a statement that no part of the store has. */
export async function execute(url: string, statement: string, values: readonly Value[]): Promise<void> {
  const db = await openBeside(url)
  try {
    await db.run(statement, values)
  } finally {
    await db.close()
  }
}

/** A second connection to the database of a store, which may be open. */
export const openBeside = async (url: string): Promise<Database> =>
  url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length), 'normal') : openPostgres(url)

import { integer } from '../database/column.ts'
import type { Database, Value } from '../database/database.ts'
import { openPostgres } from '../database/postgres.ts'
import { openSqlite } from '../database/sqlite.ts'
import { TABLES } from '../backup/tables.ts'
import type { Store } from '../store.ts'

/** How many rows each table has. Beside an open SQLite store this reads what is committed. */
export async function rowCounts(url: string): Promise<Readonly<Record<string, number>>> {
  const db = await openBeside(url)
  try {
    const counts: Record<string, number> = {}
    for (const { name } of TABLES) {
      const row = await db.get(`SELECT count(*) AS rows FROM ${name}`, [])
      if (row !== undefined) counts[name] = integer(row, 'rows')
    }
    return counts
  } finally {
    await db.close()
  }
}

/** Runs a statement that no part of the store has. */
export async function execute(url: string, statement: string, values: readonly Value[]): Promise<void> {
  const db = await openBeside(url)
  try {
    await db.run(statement, values)
  } finally {
    await db.close()
  }
}

const openBeside = async (url: string): Promise<Database> =>
  url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length), 'normal') : openPostgres(url)

const NOW = 'test/now'

/**
 * Gathers the topics that are told from now on; the answer waits for so many different ones, sorted, and starts anew. Words
 * of earlier changes may still be on their way: they are over when one that was sent after them is here.
 */
export async function topicsTold(store: Store): Promise<(count: number) => Promise<readonly string[]>> {
  let topics = new Set<string>()
  let wake: (() => void) | undefined
  store.topics.subscribePrefix('', (topic) => {
    topics.add(topic)
    wake?.()
  })
  const heard = async (isEnough: () => boolean): Promise<readonly string[]> => {
    while (!isEnough()) await new Promise<void>((resolve) => (wake = resolve))
    const told = [...topics].toSorted()
    topics = new Set()
    return told
  }
  await store.topics.publish(NOW)
  await heard(() => topics.has(NOW))
  return (count) => heard(() => topics.size >= count)
}

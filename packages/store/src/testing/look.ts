import { integer } from '../database/column.ts'
import { openPostgres } from '../database/postgres.ts'
import { openSqlite } from '../database/sqlite.ts'
import { TABLES } from '../backup/tables.ts'
import type { Store } from '../store.ts'

/** How many rows each table has. Beside an open SQLite store this reads what is committed. */
export async function rowCounts(url: string): Promise<Readonly<Record<string, number>>> {
  const db = url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length), 'normal') : await openPostgres(url)
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

/** Gathers the topics that are told from now on; the answer waits for so many different ones, sorted, and starts anew. */
export function topicsTold(store: Store): (count: number) => Promise<readonly string[]> {
  let topics = new Set<string>()
  let wake: (() => void) | undefined
  store.topics.subscribePrefix('', (topic) => {
    topics.add(topic)
    wake?.()
  })
  return async (count) => {
    while (topics.size < count) await new Promise<void>((resolve) => (wake = resolve))
    const told = [...topics].toSorted()
    topics = new Set()
    return told
  }
}

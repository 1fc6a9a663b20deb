import { setImmediate } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { startPostgres } from '../testing/start-postgres.ts'
import { PostgresDatabase } from '@parley/database'

test('a connection that breaks between two statements of a transaction fails that transaction, and not the process', async () => {
  await using server = await startPostgres()
  const database = new PostgresDatabase(server.url)
  await database.open()
  const uncaught: unknown[] = []
  const note = (error: unknown): void => void uncaught.push(error)
  process.on('uncaughtException', note)
  const other = new Client({ connectionString: server.url })
  await other.connect()
  const work = database.transaction(async (tx) => {
    const row = await tx.get('SELECT pg_backend_pid() AS pid', [])
    await other.query('SELECT pg_terminate_backend($1)', [row?.['pid']])
    // The word of it must have come here while nobody asks anything on that connection.
    const isThere = async () => (await other.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [row?.['pid']])).rowCount
    await expect.poll(isThere).toBe(0)
    for (let turns = 0; turns < 20; turns += 1) await setImmediate()
    return tx.get('SELECT 1 AS one', [])
  })
  await expect(work).rejects.toMatchObject({ code: 'unavailable' })
  expect(await database.get('SELECT 2 AS two', [])).toEqual({ two: 2 })
  process.off('uncaughtException', note)
  expect(uncaught).toEqual([])
  await other.end()
  await database.close()
})

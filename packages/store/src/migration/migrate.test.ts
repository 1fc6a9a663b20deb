import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { UserId } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../database/database.ts'
import { openPostgres } from '../database/postgres.ts'
import { openSqlite } from '../database/sqlite.ts'
import { SCHEMA_VERSION, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { startedJob } from '../testing/sample-job.ts'
import { firstTables } from './0001-first-tables.ts'
import { migrate, schemaVersion } from './migrate.ts'
import { schemaDump } from './schema-dump.ts'

/** Set it to 1 after adding a migration to write the dumps anew; the difference is part of the review. */
const REWRITE = process.env['PARLEY_REWRITE_GOLDEN'] === '1'

const ANN = UserId.parse(`usr_${'0'.repeat(26)}`)
const run = promisify(execFile)
const source = (path: string) => JSON.stringify(new URL(path, import.meta.url))
const MIGRATES = `
  import { openPostgres } from ${source('../database/postgres.ts')}
  import { openSqlite } from ${source('../database/sqlite.ts')}
  import { migrate } from ${source('./migrate.ts')}
  const [engine, url] = process.argv.slice(1)
  const db = engine === 'sqlite' ? openSqlite(url, 'normal') : await openPostgres(url)
  await migrate(db, Date.now)
  await db.close()`

const open = async (url: string): Promise<Database> =>
  url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length), 'normal') : openPostgres(url)

describe.each(ENGINES)('migrations on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('the schema is the one in the golden dump', async () => {
    const db = await open(await host.freshUrl())
    try {
      await migrate(db, () => 0)
      const golden = new URL(`golden-${engine}.sql`, import.meta.url)
      const dump = await schemaDump(db)
      if (REWRITE) await writeFile(golden, dump)
      expect(dump).toBe(await readFile(golden, 'utf8'))
      expect(await schemaVersion(db)).toBe(SCHEMA_VERSION)
    } finally {
      await db.close()
    }
  })

  test('several processes that migrate at once agree', async () => {
    const url = await host.freshUrl()
    await Promise.all(
      Array.from({ length: 4 }, () =>
        run(process.execPath, ['--input-type=module', '-e', MIGRATES, engine, url.replace(/^sqlite:/, '')]),
      ),
    )
    const db = await open(url)
    try {
      expect(await db.all('SELECT version FROM schema_migrations', [])).toHaveLength(SCHEMA_VERSION)
    } finally {
      await db.close()
    }
  })

  test('a failed step leaves nothing of itself', async () => {
    const db = await open(await host.freshUrl())
    try {
      const broken = {
        version: 1,
        name: 'broken',
        sqlite: 'CREATE TABLE a (x); nonsense',
        postgres: 'CREATE TABLE a (x INT); nonsense',
      }
      await expect(migrate(db, () => 0, [broken])).rejects.toThrow(/syntax/)
      await migrate(db, () => 0)
      await expect(db.get('SELECT * FROM a', [])).rejects.toThrow(/no such table|does not exist/)
    } finally {
      await db.close()
    }
  })

  test('a database of the first schema is brought up with what it holds, and jobs can be added', async () => {
    const url = await host.freshUrl()
    const db = await open(url)
    await migrate(db, () => 0, [firstTables])
    expect(await schemaVersion(db)).toBe(1)
    await db.run('INSERT INTO users (id, username, admin, created_at) VALUES ($1, $2, 0, 5)', [ANN, 'ann'])
    await db.run('INSERT INTO leases (queue, key, payload, available_at) VALUES ($1, $2, $3, 0)', ['other', 'k', 'p'])
    await db.close()
    const store = await openStore({ url })
    try {
      expect(await store.users.byName('ann')).toMatchObject({ id: ANN, createdAt: 5 })
      expect(await store.leases.claim('other', 'h', { ttlMs: 1_000 })).toMatchObject({ key: 'k', payload: 'p' })
      expect(await startedJob(store, ANN)).toMatchObject({ status: 'queued', ownerId: ANN })
    } finally {
      await store.close()
    }
    const after = await open(url)
    try {
      expect(await schemaDump(after)).toBe(await readFile(new URL(`golden-${engine}.sql`, import.meta.url), 'utf8'))
    } finally {
      await after.close()
    }
  })

  test('a newer schema is refused and left alone', async () => {
    const url = await host.freshUrl()
    await (await openStore({ url })).close()
    const db = await open(url)
    await db.run('INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)', [
      SCHEMA_VERSION + 1,
      'from the future',
      0,
    ])
    await db.close()
    await expect(openStore({ url })).rejects.toMatchObject({ code: 'schema_too_new' })
  })
})

test("another program's database is not touched", async () => {
  await using host = await startEngine('sqlite')
  const url = await host.freshUrl()
  const other = new DatabaseSync(url.slice('sqlite:'.length))
  other.exec('CREATE TABLE theirs (x)')
  other.close()
  await expect(openStore({ url })).rejects.toMatchObject({ code: 'not_a_store' })
})

test('an address that is none says what one looks like', async () => {
  await expect(openStore({ url: 'mysql://user:secret@host/db' })).rejects.toThrow(
    'url must start with sqlite: or postgres://, not with mysql://',
  )
  await expect(openStore({ url: 'sqlite:' })).rejects.toMatchObject({ code: 'invalid_argument', field: 'url' })
  await expect(openStore({ url: 'postgres://nobody@127.0.0.1:1/none' })).rejects.toMatchObject({ code: 'unavailable' })
  await expect(openStore({ url: '/no/such/folder/a.db' })).rejects.toMatchObject({ code: 'unavailable' })
})

import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '@parley/database'
import { openStore, restoreStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { SCHEMA_VERSION } from '@parley/schema'

const HUGE_BYTES = 65 * 1024 * 1024
const LEASE = 'INSERT INTO leases (queue, key, payload, turns, available_at) VALUES'
const ANN = `INSERT INTO users (id, username, admin, disabled, created_at) VALUES`

/** What somebody does to a backup, and the words in which it is refused. */
const DOCTORED: readonly (readonly [what: string, sql: string, words: string])[] = [
  ['a trigger', 'CREATE TRIGGER steal AFTER INSERT ON tokens BEGIN DELETE FROM users; END', 'trigger steal on tokens'],
  ['a view', 'CREATE VIEW peek AS SELECT * FROM users', 'view peek'],
  ['a table', 'CREATE TABLE theirs (x)', 'table theirs'],
  ['a virtual table', 'CREATE VIRTUAL TABLE words USING fts5(text)', 'table words'],
  ['an index', 'CREATE INDEX slow ON users (upper(username))', 'index slow on users'],
  ['statistics', 'ANALYZE', 'table sqlite_stat1'],
  ['a view in place of a table', 'DROP TABLE quotas; CREATE VIEW quotas AS SELECT 1 AS user_id', 'view quotas'],
  ['a missing table', 'DROP TABLE quotas', 'lacks the table quotas'],
  ['a missing index', 'DROP INDEX audit_entries_by_actor', 'lacks the index audit_entries_by_actor on audit_entries'],
  ['another column', 'ALTER TABLE users ADD COLUMN more TEXT', 'table users is another'],
  [
    'a generated column',
    'ALTER TABLE users ADD COLUMN made TEXT GENERATED ALWAYS AS (upper(username)) VIRTUAL',
    'table users is another',
  ],
  [
    'another collation',
    `DROP TABLE settings; CREATE TABLE settings (key TEXT PRIMARY KEY COLLATE NOCASE, value TEXT NOT NULL) STRICT`,
    'table settings is another',
  ],
  [
    'a table that is not strict',
    'DROP TABLE settings; CREATE TABLE settings (key TEXT PRIMARY KEY, value)',
    'table settings is another',
  ],
  ['a step of another name', `UPDATE schema_migrations SET name = 'theirs' WHERE version = 2`, 'step 2 of its schema'],
  ['a step left out', 'DELETE FROM schema_migrations WHERE version = 3', 'step 3 of its schema'],
  ['no step', 'DELETE FROM schema_migrations', 'no step of its schema'],
  [
    'an earlier version than it has',
    `DELETE FROM schema_migrations WHERE version = ${SCHEMA_VERSION}`,
    'is no backup as Parley makes them',
  ],
  ['steps in a view', 'DROP TABLE schema_migrations; CREATE VIEW schema_migrations AS SELECT 1 AS version', 'is no backup'],
  ['a number for a table that has none', `INSERT INTO sqlite_sequence VALUES ('users', 1)`, 'counts for users'],
  ['two numbers', `INSERT INTO sqlite_sequence VALUES ('leases', 1), ('leases', 2)`, 'a number for leases'],
  ['a number that is too large', `INSERT INTO sqlite_sequence VALUES ('leases', 9223372036854775807)`, 'a number for leases'],
  ['a number after which no fence is exact', `INSERT INTO sqlite_sequence VALUES ('leases', 17179869184)`, 'a number for leases'],
  ['a lease with too many turns', `${LEASE} ('jobs', 'k', '', 1048575, 0)`, 'in leases.turns'],
  ['a number that is none', `INSERT INTO sqlite_sequence VALUES ('leases', 'many')`, 'a number for leases'],
  ['no number for rows that have some', `DELETE FROM sqlite_sequence WHERE name = 'logs'`, 'a number for logs'],
  ['a huge value', `INSERT INTO settings VALUES ('k', CAST(zeroblob(${HUGE_BYTES}) AS TEXT))`, 'in settings.value'],
  ['a row without its parent', `INSERT INTO sign_ins VALUES ('j', 'nobody', 1, NULL)`, 'a row refers to one that is not there'],
  [
    'a number that JavaScript does not have',
    `${ANN} ('u', 'ann', 9223372036854775807, 0, 0)`,
    '"9223372036854775807" in users.admin of the row "u"',
  ],
  ['a size below zero', `INSERT INTO blobs VALUES ('ab', -5, 'c', 0)`, '"-5" in blobs.size of the row "ab", which is below zero'],
  [
    'a quota below zero',
    `${ANN} ('u', 'ann', 0, 0, 0); INSERT INTO quotas VALUES ('u', 1, -1, 1, 1, 1)`,
    'quotas.tokens_per_day of the row "u"',
  ],
  ['an end below zero', 'UPDATE log_entries SET end_offset = -3', '"-3" in log_entries.end_offset of the row "1 '],
  [
    'a status that no job has',
    `INSERT INTO jobs (id, status, outline, created_at) VALUES ('job_1', 'odd\u001b', '{}', 0)`,
    '"odd\uFFFD" in jobs.status of the row "job_1", which is none of \'created\'',
  ],
  [
    'a status that no call has',
    `INSERT INTO usage VALUES ('u', 'paid', NULL, NULL, 'c', 1, 1, 'i', NULL, 'm', NULL, 'proxy', 0, 1, 0, 1, 0, 0, NULL, NULL, 0, NULL, NULL)`,
    '"paid" in usage.status of the row "u"',
  ],
  [
    'a role that nobody has',
    `${ANN} ('u', 'ann', 0, 0, 0); INSERT INTO tokens (id, hash, role, name, user_id, created_at) VALUES ('t', 'h', 'root', 'n', 'u', 0)`,
    '"root" in tokens.role of the row "t"',
  ],
  ['another program’s mark', 'PRAGMA application_id = 7', 'is a database of another program'],
]

async function tablesIn(url: string): Promise<readonly unknown[]> {
  const db = await openPostgres(url)
  try {
    return await db.all("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace", [])
  } finally {
    await db.close()
  }
}

describe.each(ENGINES)('a backup that somebody changed, on its way to %s', (engine) => {
  let host: TestEngine
  let folder: string
  let whole: string
  /** Nothing gets into it, so one will do. */
  let empty: string
  beforeAll(async () => {
    host = await startEngine(engine)
    empty = await host.freshUrl()
    folder = await mkdtemp(join(tmpdir(), 'parley-doctored-'))
    whole = join(folder, 'whole.backup')
    const store = await openStore({ url: `sqlite:${join(folder, 'source.db')}` })
    await store.logs.append('a', [new Uint8Array(3)])
    await store.backup(whole)
    await store.close()
  })
  afterAll(async () => {
    await host.stop()
    await rm(folder, { recursive: true })
  })

  test.each(DOCTORED)('%s is refused by name, and nothing of it is left', async (_what, sql, words) => {
    const place = await mkdtemp(join(folder, 'place-'))
    const file = join(place, 'doctored.backup')
    await copyFile(whole, file)
    // Whoever doctors a file keeps to no rule of ours.
    const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
    database.exec(sql)
    database.close()
    const url = engine === 'sqlite' ? `sqlite:${join(place, 'target.db')}` : empty
    const refused = restoreStore(file, url)
    await expect(refused).rejects.toMatchObject({ code: 'not_a_store', message: expect.stringContaining(words) })
    await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(new RegExp(`^${file} `)) })
    expect((await readdir(place)).filter((name) => !name.endsWith('.lock'))).toEqual(['doctored.backup'])
    if (engine === 'postgres') expect(await tablesIn(url)).toEqual([])
  })

  test('the whole one is taken after others were refused', async () => {
    const url = await host.freshUrl()
    const file = join(folder, 'viewed.backup')
    await copyFile(whole, file)
    const database = new DatabaseSync(file)
    database.exec('CREATE VIEW peek AS SELECT * FROM users')
    database.close()
    await expect(restoreStore(file, url)).rejects.toMatchObject({ code: 'not_a_store' })
    await restoreStore(whole, url)
    const restored = await openStore({ url })
    expect((await restored.logs.end('a')).seq).toBe(1)
    await restored.close()
  })

  test('a name that a terminal would act on is not shown as it is', async () => {
    const file = join(folder, 'escape.backup')
    await copyFile(whole, file)
    const database = new DatabaseSync(file)
    database.exec('CREATE VIEW "\u001b[2Jgone" AS SELECT 1')
    database.close()
    const url = engine === 'sqlite' ? join(folder, 'escape.db') : empty
    await expect(restoreStore(file, url)).rejects.toMatchObject({ message: expect.stringContaining('view \uFFFD[2Jgone') })
  })
})

test('a text that PostgreSQL does not keep is told by its table, and the same backup goes into a file', async () => {
  await using host = await startEngine('postgres')
  const folder = await mkdtemp(join(tmpdir(), 'parley-doctored-'))
  const file = join(folder, 'nul.backup')
  const store = await openStore({ url: `sqlite:${join(folder, 'source.db')}` })
  await store.backup(file)
  await store.close()
  const database = new DatabaseSync(file)
  database.prepare('INSERT INTO settings VALUES (?, ?)').run('k', 'a\0b')
  database.close()
  await expect(restoreStore(file, await host.freshUrl())).rejects.toMatchObject({
    code: 'not_a_store',
    message: expect.stringContaining('a row of settings cannot be taken over'),
  })
  const url = `sqlite:${join(folder, 'target.db')}`
  await restoreStore(file, url)
  const restored = await openStore({ url })
  expect(await restored.settings.get('k')).toBe('a\0b')
  await restored.close()
  await rm(folder, { recursive: true })
})

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { JobId, NO_BUDGET, NO_TOKENS, UserId } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openPostgres, openSqlite } from '@parley/database'
import { MIGRATIONS, migrate, schemaVersion } from '@parley/schema'
import { SCHEMA_VERSION, jobLog, openStore } from './index.ts'
import { ENGINES, type TestEngine, startEngine } from './testing/engines.ts'
import { sampleInputs, startedJob } from './fixture/sample-job.ts'
import { schemaDump } from './fixture/schema-dump.ts'

/** Set it to 1 after adding a migration to write the dumps anew; the difference is part of the review. */
const REWRITE = process.env['PARLEY_REWRITE_GOLDEN'] === '1'

const ANN = UserId.parse(`usr_${'0'.repeat(26)}`)
const BOB = UserId.parse(`usr_${'1'.repeat(26)}`)
const JOB = JobId.parse(`job_${'0'.repeat(26)}`)
const OTHER_JOB = JobId.parse(`job_${'1'.repeat(26)}`)
const OLD_USAGE =
  'INSERT INTO job_usage (job_id, claim_id, attempt, call_id, claim, body, at) VALUES ($1, $2, $3, $4, $5, $6, $7)'
const run = promisify(execFile)
const MIGRATES = `
  import { openPostgres } from ${JSON.stringify(import.meta.resolve('@parley/database'))}
  import { openSqlite } from ${JSON.stringify(import.meta.resolve('@parley/database'))}
  import { migrate } from ${JSON.stringify(import.meta.resolve('@parley/schema'))}
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
      const golden = new URL(`fixture/golden-${engine}.sql`, import.meta.url)
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
    await migrate(db, () => 0, MIGRATIONS.slice(0, 1))
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
      expect(await schemaDump(after)).toBe(await readFile(new URL(`fixture/golden-${engine}.sql`, import.meta.url), 'utf8'))
    } finally {
      await after.close()
    }
  })

  test('what a database of the second schema booked is kept, whatever a judge called its model', async () => {
    const url = await host.freshUrl()
    const db = await open(url)
    await migrate(db, () => 0, MIGRATIONS.slice(0, 2))
    expect(await schemaVersion(db)).toBe(2)
    await db.run('INSERT INTO users (id, username, admin, created_at) VALUES ($1, $2, 0, 5)', [ANN, 'ann'])
    for (const [id, owner] of [[JOB, ANN] as const, [OTHER_JOB, null] as const]) {
      await db.run(`INSERT INTO jobs (id, owner_id, status, outline, created_at) VALUES ($1, $2, 'failed', '{}', 5)`, [id, owner])
    }
    const usage = { input_tokens: 2 ** 40, cached_input_tokens: 7, output_tokens: 5, cached_output_tokens: 1 }
    const bodies = [
      { model: 'small', codex_thread_id: 'thread', usage },
      { model: 'a\0b\ud800c', codex_thread_id: null, usage: { input_tokens: 3, output_tokens: 4 } },
      { model: 'a\\u0000b', codex_thread_id: null, usage: { input_tokens: 0, output_tokens: 0 } },
    ]
    for (const [index, body] of bodies.entries()) {
      const values = [index === 2 ? OTHER_JOB : JOB, 'claim', index + 1, 'call', 3, JSON.stringify(body), 100 + index]
      await db.run(OLD_USAGE, values)
    }
    await db.close()
    const store = await openStore({ url })
    try {
      const calls = [...(await store.usages.ofJob(JOB)), ...(await store.usages.ofJob(OTHER_JOB))]
      const common = { status: 'booked', claimId: 'claim', claim: 3, callId: 'call', channel: null, source: 'judge' }
      const none = {
        agentId: null,
        prompt: null,
        threadId: null,
        estimated: false,
        prices: null,
        costMicrousd: null,
        id: expect.stringMatching(/^usg_/),
      }
      const tokens = { ...NO_TOKENS, ...usage }
      const few = { ...NO_TOKENS, input_tokens: 3, output_tokens: 4 }
      const odd = expect.stringMatching(/^a[^\0]*b[^\0]*c$/)
      expect(calls).toEqual([
        { ...common, ...none, jobId: JOB, ownerId: ANN, attempt: 1, model: 'small', threadId: 'thread', tokens, at: 100 },
        { ...common, ...none, jobId: JOB, ownerId: ANN, attempt: 2, model: odd, tokens: few, at: 101 },
        { ...common, ...none, jobId: OTHER_JOB, ownerId: null, attempt: 3, model: 'a/u0000b', tokens: NO_TOKENS, at: 102 },
      ])
      expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
      expect(await store.usages.totalOf(JOB)).toMatchObject({ calls: 2, unpriced_calls: 2, input_tokens: 2 ** 40 + 3 })
      expect(await store.usages.spent(ANN, 0)).toEqual({ tokens: 2 ** 40 + 12, microusd: 0 })
    } finally {
      await store.close()
    }
    const after = await open(url)
    try {
      expect(await schemaDump(after)).toBe(await readFile(new URL(`fixture/golden-${engine}.sql`, import.meta.url), 'utf8'))
    } finally {
      await after.close()
    }
  })

  test('what jobs of before keep is counted right after the upgrade, and their logs go on', async () => {
    const url = await host.freshUrl()
    const db = await open(url)
    await migrate(db, () => 0, MIGRATIONS.slice(0, 7))
    await db.run('INSERT INTO users (id, username, admin, created_at) VALUES ($1, $2, 0, 5)', [ANN, 'ann'])
    const spec = JSON.stringify(sampleInputs(JOB).spec)
    for (const id of [JOB, OTHER_JOB]) {
      await db.run(`INSERT INTO jobs (id, owner_id, status, outline, created_at) VALUES ($1, $2, 'queued', 'é', 5)`, [id, ANN])
      for (const log of ['terminal', 'agent_status', 'cases', 'transcript'])
        await db.run('INSERT INTO logs (name, max_bytes, max_entries) VALUES ($1, 5000000, 1000)', [`job/${id}/${log}`])
    }
    await db.run(`INSERT INTO job_inputs (job_id, spec, files, cases) VALUES ($1, $2, '[]', '[]')`, [JOB, spec])
    const terminal = engine === 'sqlite' ? '' : ', next_seq = 2, end_offset = 300'
    for (const [seq, end] of [
      [0, 100],
      [1, 300],
    ] as const)
      await db.run(
        'INSERT INTO log_entries (log_id, seq, end_offset, at, bytes) SELECT id, CAST($2 AS BIGINT), CAST($3 AS BIGINT), 5, $4 FROM logs WHERE name = $1',
        [`job/${JOB}/terminal`, seq, end, new Uint8Array(end - seq * 100)],
      )
    await db.run(`UPDATE logs SET max_entries = 1000 ${terminal} WHERE name = $1`, [`job/${JOB}/terminal`])
    await db.run('INSERT INTO logs (name, max_bytes, max_entries) VALUES ($1, 77, 1000)', ['other'])
    await db.close()
    const store = await openStore({ url })
    try {
      const texts = Buffer.byteLength(spec) + 2 * 'é'.length * 2 + '[][]'.length
      expect((await store.shares.of(ANN)).bytes.used).toBe(texts + 300)
      const log = jobLog(JOB, 'terminal')
      expect(await store.logs.append(log, [new Uint8Array(10)], { at: { offset: 300 } })).toMatchObject({ kind: 'full' })
      expect(await store.jobs.makeRoom(JOB, 'terminal', 310)).toBe(true)
      expect(await store.logs.append(log, [new Uint8Array(10)], { at: { offset: 300 } })).toMatchObject({ offset: 310 })
      expect((await store.shares.of(ANN)).bytes.used).toBeGreaterThanOrEqual(texts + 310)
      expect(await store.logs.append('other', [new Uint8Array(77)])).toMatchObject({ kind: 'appended' })
    } finally {
      await store.close()
    }
  })

  test('jobs that wait or are held in a database of before stand with their owners after the upgrade', async () => {
    const url = await host.freshUrl()
    const db = await open(url)
    await migrate(db, () => 0, MIGRATIONS.slice(0, 8))
    for (const [id, name] of [[ANN, 'ann'] as const, [BOB, 'bob'] as const])
      await db.run('INSERT INTO users (id, username, admin, created_at) VALUES ($1, $2, 0, 5)', [id, name])
    const owners = [ANN, ANN, ANN, BOB, null]
    for (const [index, owner] of owners.entries()) {
      const id = `job_${`${index}`.repeat(26)}`
      await db.run(`INSERT INTO jobs (id, owner_id, status, outline, created_at) VALUES ($1, $2, 'queued', '{}', 5)`, [id, owner])
      await db.run(`INSERT INTO leases (queue, key, payload, available_at) VALUES ('jobs', $1, '', 0)`, [id])
    }
    await db.run(`INSERT INTO leases (queue, key, payload, available_at) VALUES ('other', $1, '', 0)`, [JOB])
    await db.run(`UPDATE leases SET holder = 'judge', turns = 1, available_at = 9000 WHERE queue = 'jobs' AND key = $1`, [JOB])
    await db.close()
    const store = await openStore({ url, now: () => 1_000 })
    try {
      expect(await store.leases.get('jobs', JOB)).toMatchObject({ holder: 'judge', expiresAt: 9_000 })
      const next = []
      for (let turn = 0; turn < 4; turn += 1) next.push((await store.leases.claim('jobs', 'judge', { ttlMs: 1_000 }))?.key[4])
      expect(next).toEqual(['3', '4', '1', '2'])
      expect(await store.leases.claim('other', 'h', { ttlMs: 1_000 })).toMatchObject({ key: JOB })
    } finally {
      await store.close()
    }
  })

  test('tokens of agents that were never there have ended after the upgrade, no other has, and none is limited', async () => {
    const url = await host.freshUrl()
    const db = await open(url)
    await migrate(db, () => 0, MIGRATIONS.slice(0, 12))
    const add = 'INSERT INTO tokens (id, hash, role, name, agent_id, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, 5, $6)'
    const agent = `agt_${'0'.repeat(26)}`
    await db.run(add, [`tok_${'0'.repeat(26)}`, 'agent', 'agent', 'n', agent, null])
    await db.run(add, [`tok_${'1'.repeat(26)}`, 'ended', 'agent', 'n', agent, 7])
    await db.run(add, [`tok_${'2'.repeat(26)}`, 'judge', 'judge', 'n', null, null])
    await db.close()
    const store = await openStore({ url })
    try {
      expect((await store.tokens.byHash('agent'))?.revokedAt).toBeGreaterThan(1_000_000_000_000)
      expect(await store.tokens.byHash('ended')).toMatchObject({ revokedAt: 7 })
      expect(await store.tokens.byHash('judge')).toMatchObject({ revokedAt: null, scopes: null, madeBy: null })
    } finally {
      await store.close()
    }
  })

  test('keys of attempts under way go on working after the upgrade, and what jobs used is what it was', async () => {
    const url = await host.freshUrl()
    const db = await open(url)
    await migrate(db, () => 0, MIGRATIONS.slice(0, 14))
    await db.run('INSERT INTO users (id, username, admin, created_at) VALUES ($1, $2, 0, 5)', [ANN, 'ann'])
    const outline = JSON.stringify(sampleInputs(JOB).spec)
    await db.run(
      `INSERT INTO jobs (id, owner_id, status, outline, created_at, started_at, claim_id, fence, machine_id, claimed_at, begun, claims, attempt)
       VALUES ($1, $2, 'running_generate', $3, 5, 5, 'claim', 1048577, 'm', 5, 1, 1, 1)`,
      [JOB, ANN, outline],
    )
    await db.run(
      `INSERT INTO leases (queue, key, payload, holder, turns, claims, available_at, lane) VALUES ('jobs', $1, '', 'm', 1, 1, 9000, $2)`,
      [JOB, ANN],
    )
    const budget = JSON.stringify({ ...NO_BUDGET, tokens: 7 })
    await db.run(
      `INSERT INTO model_keys (hash, job_id, claim_id, claim, attempt, channel, model, budget, created_at)
       VALUES ('hash', $1, 'claim', 1, 1, 'main', 'small', $2, 6)`,
      [JOB, budget],
    )
    for (const [index, status] of ['booked', 'reserved'].entries())
      await db.run(
        `INSERT INTO usage (id, status, job_id, owner_id, claim_id, claim, attempt, call_id, model, source, estimated, input_tokens,
           cached_input_tokens, output_tokens, cached_output_tokens, reasoning_output_tokens, cost_microusd, at)
         VALUES ($1, $2, $3, $4, 'claim', 1, 1, $2, 'small', 'proxy', 0, 10, 0, 5, 0, 0, 20, 7)`,
        [`usg_${`${index}`.repeat(26)}`, status, JOB, ANN],
      )
    await db.close()
    const store = await openStore({ url, now: () => 1_000 })
    try {
      const key = {
        hash: 'hash',
        jobId: JOB,
        ownerId: ANN,
        claimId: 'claim',
        claim: 1,
        attempt: 1,
        channel: 'main',
        model: 'small',
      }
      expect(await store.modelKeys.find('hash')).toMatchObject({
        kind: 'job',
        key: { ...key, budget: { ...NO_BUDGET, tokens: 7 }, createdAt: 6 },
        job: { id: JOB, status: 'running_generate' },
        leaseExpiresAt: 9_000,
      })
      expect(await store.modelKeys.has('claim', 1)).toBe(true)
      expect(await store.usages.spentOnJob(JOB)).toEqual({ tokens: 30, microusd: 40 })
      expect(await store.usages.spent(ANN, 0)).toEqual({ tokens: 30, microusd: 40 })
      expect(await store.usages.totalOf(JOB)).toMatchObject({ calls: 1, input_tokens: 10, cost_microusd: 20 })
      expect(await store.usages.ofJob(JOB)).toMatchObject([{ callId: 'booked', agentId: null, prompt: null }])
      expect(await store.usages.settleJob(JOB)).toBe(1)
    } finally {
      await store.close()
    }
    const after = await open(url)
    try {
      expect(await schemaDump(after)).toBe(await readFile(new URL(`fixture/golden-${engine}.sql`, import.meta.url), 'utf8'))
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

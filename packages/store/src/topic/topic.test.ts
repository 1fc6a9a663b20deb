import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { startPostgres } from '../testing/start-postgres.ts'

/** Answers a callback and what it was called with, and a way to wait for the next call. */
function recorder() {
  const calls: string[] = []
  let wake: (() => void) | undefined
  return {
    calls,
    changed: (topic = 'called') => {
      calls.push(topic)
      wake?.()
    },
    reached: async (count: number) => {
      while (calls.length < count) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

describe.each(ENGINES)('topics on %s', (engine) => {
  let host: TestEngine
  let store: Store
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    store = await openStore({ url: await host.migratedUrl() })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  test('subscribers of a topic are told, those of others are not', async () => {
    const [one, other, prefix] = [recorder(), recorder(), recorder()]
    store.topics.subscribe('token/1', one.changed)
    store.topics.subscribe('token/2', other.changed)
    store.topics.subscribePrefix('token/', prefix.changed)
    await store.topics.publish('token/1')
    await store.topics.publish('users')
    await store.topics.publish('token/3')
    await prefix.reached(2)
    expect([one.calls, other.calls, prefix.calls]).toEqual([['token/1'], [], ['token/1', 'token/3']])
  })

  test('nothing is told before subscribe returned, or after the end', async () => {
    const seen = recorder()
    const end = store.topics.subscribe('a', seen.changed)
    end()
    const last = recorder()
    store.topics.subscribe('a', last.changed)
    await store.topics.publish('a')
    await last.reached(1)
    expect(seen.calls).toEqual([])
  })

  test('a run of changes is one call', async () => {
    const user = await store.users.add({ username: 'ann', passwordHash: null, admin: false })
    await store.signIns.add({ jti: 'j', userId: user.id, expiresAt: 1, proof: { passwordHash: null } })
    const [all, users] = [recorder(), recorder()]
    store.topics.subscribe('users', users.changed)
    store.topics.subscribePrefix('', all.changed)
    // PostgreSQL's words arrive later than the writes they tell of: those of the two lines above go first.
    await store.topics.publish('marker')
    while (!all.calls.includes('marker')) await all.reached(all.calls.length + 1)
    all.calls.length = 0
    users.calls.length = 0
    await store.users.setDisabled(user.id, true)
    await all.reached(3)
    await users.reached(1)
    expect(all.calls.toSorted()).toEqual(['sign-in/j', `user/${user.id}`, 'users'])
    expect(users.calls).toEqual(['users'])
    if (engine === 'sqlite') {
      for (let index = 0; index < 100; index += 1) void store.topics.publish('users')
      await users.reached(2)
      expect(users.calls).toEqual(['users', 'users'])
    }
  })

  test('a topic that is too long is refused', async () => {
    await expect(store.topics.publish('x'.repeat(4_097))).rejects.toMatchObject({ code: 'invalid_argument', field: 'topic' })
    await store.topics.publish('x'.repeat(4_096))
  })
})

describe('between gateways on postgres', () => {
  let host: TestEngine
  let url: string
  let here: Store
  let there: Store
  beforeAll(async () => {
    host = await startEngine('postgres')
  })
  beforeEach(async () => {
    url = await host.migratedUrl()
    here = await openStore({ url })
    there = await openStore({ url })
  })
  afterEach(async () => {
    await here.close()
    await there.close()
  })
  afterAll(() => host.stop())

  test('topics, log entries and offers reach the other one', async () => {
    const seen = recorder()
    there.topics.subscribe('a', seen.changed)
    const waiting = there.leases.claim('jobs', 'there', { ttlMs: 60_000, waitMs: 30_000 })
    const reading = there.logs.read('log', { from: { seq: 0 }, maxBytes: 100, waitMs: 30_000 })
    const followed = (async () => {
      const sizes: number[] = []
      for await (const entry of there.logs.follow('log', { seq: 0 })) sizes.push(entry.bytes.length)
      return sizes
    })()
    await here.topics.publish('a')
    await here.leases.offer('jobs', 'one')
    await here.logs.append('log', [new Uint8Array(3), new Uint8Array(4)])
    await seen.reached(1)
    expect(await waiting).toMatchObject({ key: 'one', holder: 'there' })
    expect((await reading).next.seq).toBeGreaterThan(0)
    await here.logs.append('log', [new Uint8Array(5)])
    await here.logs.close('log')
    expect(await followed).toEqual([3, 4, 5])
  })

  test('writers of both keep one log in order', async () => {
    const write = async (store: Store) => {
      for (let index = 0; index < 50; index += 1) await store.logs.append('log', [new Uint8Array(1 + (index % 9))])
    }
    const followed = (async () => {
      const seen: number[] = []
      for await (const entry of there.logs.follow('log', { seq: 0 })) seen.push(entry.seq)
      return seen
    })()
    await Promise.all([write(here), write(there), write(here)])
    await here.logs.close('log')
    expect(await followed).toEqual(Array.from({ length: 150 }, (_, index) => index))
  })

  test('after the listening connection was lost everybody is woken and nothing is missed', async () => {
    const exact = recorder()
    const prefix = recorder()
    there.topics.subscribe('quiet', exact.changed)
    there.topics.subscribePrefix('token/', prefix.changed)
    const followed = (async () => {
      const seen: number[] = []
      for await (const entry of there.logs.follow('log', { seq: 0 })) seen.push(entry.seq)
      return seen
    })()
    await here.logs.append('log', [new Uint8Array(1)])
    await cut(url, LISTENING)
    await here.logs.append('log', [new Uint8Array(2)])
    await exact.reached(1)
    await prefix.reached(1)
    expect(prefix.calls).toEqual(['token/'])
    await here.logs.append('log', [new Uint8Array(3)])
    await here.logs.close('log')
    expect(await followed).toEqual([0, 1, 2])
  })

  test('a store outlives its connections, and says so when the server is gone', async () => {
    await here.logs.append('log', [new Uint8Array(1)])
    await cut(url, 'true')
    while (
      !(await here.ping().then(
        () => true,
        () => false,
      ))
    );
    expect(await here.logs.append('log', [new Uint8Array(1)], { at: { seq: 1 } })).toMatchObject({ kind: 'appended', seq: 2 })
    const server = await startPostgres()
    const lone = await openStore({ url: server.url })
    await server.stop()
    await expect(lone.ping()).rejects.toMatchObject({ code: 'unavailable' })
    await expect(lone.logs.append('log', [new Uint8Array(1)])).rejects.toMatchObject({ code: 'unavailable' })
    await lone.close()
  })

  test('a signal that died with its sender is made up for', async () => {
    await here.logs.append('log', [new Uint8Array(1)])
    const seen: number[] = []
    const followed = (async () => {
      for await (const entry of there.logs.follow('log', { seq: 0 })) {
        seen.push(entry.seq)
        if (seen.length === 2) return
      }
    })()
    await execute(url, `INSERT INTO log_entries SELECT id, 1, 2, 0, 'x' FROM logs; UPDATE logs SET next_seq = 2, end_offset = 2`)
    await followed
    expect(seen).toEqual([0, 1])
  })
})

const LISTENING = "application_name = 'parley listener'"

async function cut(url: string, which: string): Promise<void> {
  await execute(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND (${which})`,
  )
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

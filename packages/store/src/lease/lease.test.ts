import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Lease, type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'

describe.each(ENGINES)('leases on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const claim = async (queue: string, holder = 'judge', ttlMs = 100): Promise<Lease> => {
    const lease = await store.leases.claim(queue, holder, { ttlMs })
    if (lease === undefined) throw new Error(`nothing to claim in ${queue}`)
    return lease
  }

  test('the oldest is claimed first, once, by one holder', async () => {
    expect(await store.leases.offer('jobs', 'b', { payload: 'second letter' })).toBe(true)
    expect(await store.leases.offer('jobs', 'a')).toBe(true)
    expect(await store.leases.offer('jobs', 'b')).toBe(false)
    expect(await store.leases.offer('other', 'b')).toBe(true)
    const first = await claim('jobs')
    expect(first).toEqual({
      queue: 'jobs',
      key: 'b',
      holder: 'judge',
      claims: 1,
      expiresAt: 1_100,
      payload: 'second letter',
      fence: expect.any(Number),
    })
    expect(await store.leases.get('jobs', 'b')).toEqual(first)
    expect(await store.leases.get('jobs', 'a')).toBeUndefined()
    expect(await store.leases.claim('jobs', 'other', { ttlMs: 100 })).toMatchObject({ key: 'a' })
    expect(await store.leases.claim('jobs', 'other', { ttlMs: 100 })).toBeUndefined()
    expect(await store.leases.count('jobs')).toEqual({ waiting: 0, held: 2 })
    await store.leases.complete(first)
    expect(await store.leases.count('jobs')).toEqual({ waiting: 0, held: 1 })
  })

  test('an expired lease goes to another under a greater fence, and the old one is worth nothing', async () => {
    await store.leases.offer('jobs', 'a')
    const old = await claim('jobs', 'slow')
    now += 100
    await expect(store.leases.check(old)).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await store.leases.count('jobs')).toEqual({ waiting: 1, held: 0 })
    const next = await claim('jobs', 'fast')
    expect(next).toMatchObject({ key: 'a', holder: 'fast', claims: 2 })
    expect(next.fence).toBeGreaterThan(old.fence)
    for (const write of [() => store.leases.renew(old, 100), () => store.leases.release(old), () => store.leases.complete(old)]) {
      await expect(write()).rejects.toMatchObject({ code: 'lease_lost' })
    }
    await store.leases.check(next)
  })

  test('a fence that names another holder is worth nothing, and one that names none or the right one is', async () => {
    await store.leases.offer('jobs', 'a')
    const { queue, key, fence } = await claim('jobs', 'one')
    const others = { queue, key, fence, holder: 'other' }
    const { leases } = store
    for (const use of [
      () => leases.check(others),
      () => leases.renew(others, 100),
      () => leases.release(others),
      () => leases.complete(others),
      () => store.logs.append('log', [Buffer.from('x')], { fence: others }),
    ])
      await expect(use()).rejects.toMatchObject({ code: 'lease_lost' })
    await leases.check({ queue, key, fence })
    await leases.release({ queue, key, fence, holder: 'one' })
  })

  test('a renewed lease lives on', async () => {
    await store.leases.offer('jobs', 'a')
    const lease = await claim('jobs')
    now += 99
    expect(await store.leases.renew(lease, 500)).toEqual({ expiresAt: 1_599 })
    now += 499
    await store.leases.check(lease)
    now += 1
    await expect(store.leases.renew(lease, 500)).rejects.toMatchObject({ code: 'lease_lost' })
  })

  test('a release puts it back in its old place, with or without its claim', async () => {
    await store.leases.offer('jobs', 'a')
    await store.leases.offer('jobs', 'b')
    const first = await claim('jobs')
    await store.leases.release(first, { countClaim: false })
    const second = await claim('jobs')
    expect(second).toMatchObject({ key: 'a', claims: 1 })
    expect(second.fence).toBeGreaterThan(first.fence)
    await store.leases.release(second, { notBefore: 5_000 })
    expect(await claim('jobs')).toMatchObject({ key: 'b' })
    expect(await store.leases.claim('jobs', 'judge', { ttlMs: 100 })).toBeUndefined()
    now = 5_000
    expect(await claim('jobs')).toMatchObject({ key: 'a', claims: 2 })
  })

  test('a fence of an item that was completed and offered again never fits', async () => {
    await store.leases.offer('jobs', 'a')
    const old = await claim('jobs')
    await store.leases.complete(old)
    await store.leases.offer('jobs', 'a')
    const next = await claim('jobs')
    expect(next.fence).toBeGreaterThan(old.fence)
    await expect(store.leases.complete(old)).rejects.toMatchObject({ code: 'lease_lost' })
    for (const fence of [0, -1, Number.NaN, 0.5, Infinity]) {
      await expect(store.leases.check({ ...next, fence })).rejects.toMatchObject({ code: 'lease_lost' })
    }
  })

  test('a withdrawn item is gone for its holder too', async () => {
    await store.leases.offer('jobs', 'a')
    const lease = await claim('jobs')
    expect(await store.leases.withdraw('jobs', 'a')).toBe(true)
    expect(await store.leases.withdraw('jobs', 'a')).toBe(false)
    await expect(store.leases.renew(lease, 100)).rejects.toMatchObject({ code: 'lease_lost' })
  })

  test('grace gives every lease its time, also one that ran out meanwhile', async () => {
    await store.leases.offer('jobs', 'a')
    await store.leases.offer('jobs', 'b')
    const ranOut = await claim('jobs')
    const long = await claim('jobs', 'judge', 10_000)
    now += 1_000
    await store.leases.grace(500)
    expect(await store.leases.get('jobs', 'a')).toMatchObject({ fence: ranOut.fence, expiresAt: 2_500 })
    expect(await store.leases.get('jobs', 'b')).toMatchObject({ fence: long.fence, expiresAt: 11_000 })
  })

  test('waiting claims are woken by offers and releases, each by one', async () => {
    const waiting = ['one', 'two', 'three'].map((holder) => store.leases.claim('jobs', holder, { ttlMs: 10_000, waitMs: 30_000 }))
    await store.leases.offer('jobs', 'a')
    await store.leases.offer('jobs', 'b')
    const first = await Promise.race(waiting)
    if (first === undefined) throw new Error('woken with nothing')
    await store.leases.release(first)
    const leases = await Promise.all(waiting)
    expect(leases.map((lease) => `${lease?.key}`).toSorted()).toEqual(['a', 'b', first.key].toSorted())
    expect(leases.map((lease) => `${lease?.holder}`).toSorted()).toEqual(['one', 'three', 'two'])
  })

  test('a waiting claim ends at its time or when it is told to, and takes nothing then', async () => {
    expect(await store.leases.claim('jobs', 'judge', { ttlMs: 100, waitMs: 5 })).toBeUndefined()
    const abort = new AbortController()
    const aborted = store.leases.claim('jobs', 'judge', { ttlMs: 100, waitMs: 30_000, signal: abort.signal })
    abort.abort()
    expect(await aborted).toBeUndefined()
    await store.leases.offer('jobs', 'a')
    expect(await store.leases.count('jobs')).toEqual({ waiting: 1, held: 0 })
  })

  test('many claimers share many items: each item has one holder', async () => {
    const keys = Array.from({ length: 120 }, (_, index) => `job-${index}`)
    for (const key of keys) await store.leases.offer('jobs', key)
    const claimed: string[] = []
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      for (;;) {
        const lease = await store.leases.claim('jobs', `${worker}`, { ttlMs: 60_000 })
        if (lease === undefined) return
        claimed.push(lease.key)
        if (claimed.length % 2 === 0) await store.leases.complete(lease)
      }
    })
    await Promise.all(workers)
    expect(claimed.toSorted()).toEqual(keys.toSorted())
  })

  test('bad arguments name their field', async () => {
    await expect(store.leases.offer('', 'a')).rejects.toMatchObject({ code: 'invalid_argument', field: 'queue' })
    await expect(store.leases.offer('q', 'a\0b')).rejects.toMatchObject({ code: 'invalid_argument', field: 'key' })
    await expect(store.leases.claim('q', 'judge', { ttlMs: 0 })).rejects.toMatchObject({
      code: 'invalid_argument',
      field: 'ttlMs',
    })
  })

  test('a waiting claim is woken when a lease runs out and when an item is due', async () => {
    const timed = await openStore({ url: await host.migratedUrl() })
    try {
      await timed.leases.offer('jobs', 'held')
      await timed.leases.claim('jobs', 'dies', { ttlMs: 60 })
      const held = await timed.leases.claim('jobs', 'next', { ttlMs: 60_000, waitMs: 30_000 })
      expect(held).toMatchObject({ key: 'held', holder: 'next', claims: 2 })
      await timed.leases.offer('jobs', 'later', { notBefore: Date.now() + 80 })
      expect(await timed.leases.claim('jobs', 'next', { ttlMs: 60_000, waitMs: 30_000 })).toMatchObject({ key: 'later' })
    } finally {
      await timed.close()
    }
  })

  test('closing the store ends the claims that wait', async () => {
    const waiting = store.leases.claim('jobs', 'judge', { ttlMs: 100, waitMs: 30_000 })
    await store.leases.count('jobs')
    await store.close()
    expect(await waiting).toBeUndefined()
  })
})

import type { UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Lease, type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { claimNext, startedJob } from '../fixture/sample-job.ts'

/** Longer than a busy machine takes: a lease that ran out would be claimed twice. */
const TTL_MS = 600_000
const QUEUE = 'items'

/** How many of each lane there are, from keys like `ann-7`. */
function countLanes(keys: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const key of keys) {
    const lane = key.replace(/-\d+$/, '')
    counts[lane] = (counts[lane] ?? 0) + 1
  }
  return counts
}

async function offer(store: Store, lane: string, count: number): Promise<readonly string[]> {
  const keys = Array.from({ length: count }, (_, index) => `${lane}-${index}`)
  for (const key of keys) await store.leases.offer(QUEUE, key, { lane })
  return keys
}

async function claim(store: Store, ttlMs = TTL_MS): Promise<Lease> {
  const lease = await store.leases.claim(QUEUE, 'judge', { ttlMs })
  if (lease === undefined) throw new Error('nothing to claim')
  await store.leases.serve(lease)
  return lease
}

describe.each(ENGINES)('claims among lanes on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const addUser = async (username: string): Promise<UserId> =>
    (await store.users.add({ username, passwordHash: null, admin: false })).id

  test('whoever started fifty jobs before others started one has one at work, and the others are next', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const anns = []
    for (let job = 0; job < 50; job += 1) anns.push((await startedJob(store, ann)).id)
    const bobs = (await startedJob(store, bob)).id
    const nobodys = (await startedJob(store)).id
    const claimed = []
    for (let turn = 0; turn < 5; turn += 1) claimed.push((await claimNext(store, `judge-${turn}`, TTL_MS)).jobId)
    expect(claimed).toEqual([anns[0], bobs, nobodys, anns[1], anns[2]])
  })

  test('three with unequal queues get as many each, in the order of their own', async () => {
    const keys = [...(await offer(store, 'ann', 30)), ...(await offer(store, 'bob', 10)), ...(await offer(store, 'cid', 4))]
    const leases: Lease[] = []
    for (let turn = 0; turn < 13; turn += 1) leases.push(await claim(store))
    expect(countLanes(leases.map(({ key }) => key))).toEqual({ ann: 5, bob: 4, cid: 4 })
    for (;;) {
      const lease = await store.leases.claim(QUEUE, 'judge', { ttlMs: TTL_MS })
      if (lease === undefined) break
      leases.push(lease)
    }
    expect(leases.map(({ key }) => key).toSorted()).toEqual(keys.toSorted())
    const bobs = leases.filter(({ key }) => key.startsWith('bob-')).map(({ key }) => key)
    expect(bobs).toEqual(keys.filter((key) => key.startsWith('bob-')))
  })

  test('what is not due and what was withdrawn is passed over, and its lane goes on', async () => {
    await store.leases.offer(QUEUE, 'ann-0', { lane: 'ann', notBefore: 5_000 })
    await store.leases.offer(QUEUE, 'ann-1', { lane: 'ann' })
    await store.leases.offer(QUEUE, 'bob-0', { lane: 'bob', notBefore: 5_000 })
    await store.leases.offer(QUEUE, 'cid-0', { lane: 'cid' })
    await store.leases.withdraw(QUEUE, 'cid-0')
    expect(await claim(store)).toMatchObject({ key: 'ann-1' })
    expect(await store.leases.claim(QUEUE, 'judge', { ttlMs: TTL_MS })).toBeUndefined()
    now = 5_000
    expect(await claim(store)).toMatchObject({ key: 'ann-0' })
    expect(await claim(store)).toMatchObject({ key: 'bob-0' })
  })

  test('one place is given to each in turn, and who comes later with one is not behind the many of others', async () => {
    const keys: string[] = []
    const work = async (turns: number): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) {
        const lease = await claim(store)
        keys.push(lease.key)
        await store.leases.complete(lease)
      }
    }
    await offer(store, 'ann', 100)
    await work(10)
    await offer(store, 'bob', 3)
    await work(4)
    expect(keys.slice(10)).toEqual(['ann-10', 'bob-0', 'ann-11', 'bob-1'])
    await offer(store, 'cid', 1)
    await work(5)
    expect(keys.slice(14)).toEqual(['ann-12', 'bob-2', 'cid-0', 'ann-13', 'ann-14'])
  })

  test('nobody gets ahead by handing in one at a time', async () => {
    const keys: string[] = []
    await offer(store, 'ann', 20)
    for (let turn = 0; turn < 5; turn += 1) {
      await store.leases.offer(QUEUE, `bob-${turn}`, { lane: 'bob' })
      for (let place = 0; place < 2; place += 1) {
        const lease = await claim(store)
        keys.push(lease.key)
        await store.leases.complete(lease)
      }
    }
    expect(countLanes(keys)).toEqual({ ann: 5, bob: 5 })
  })

  test('a second job is reached, however often others come back with one', async () => {
    const keys: string[] = []
    await offer(store, 'bob', 2)
    await offer(store, 'cid', 1)
    await offer(store, 'dan', 1)
    // What nobody can take now stands in an early round, and holds up none.
    await store.leases.offer(QUEUE, 'eve-0', { lane: 'eve', notBefore: 5_000 })
    for (let turn = 1; turn < 10; turn += 1) {
      const lease = await claim(store)
      keys.push(lease.key)
      await store.leases.complete(lease)
      const lane = lease.key.slice(0, 3)
      if (lane !== 'bob') await store.leases.offer(QUEUE, `${lane}-${turn}`, { lane })
    }
    expect(keys.slice(0, 5)).toContain('bob-1')
    expect(countLanes(keys)).toMatchObject({ bob: 2 })
  })

  test.each([
    ['is in everybody’s way and comes back at once', false],
    ['stands in a lane that is left out', true],
  ])('an item that nobody can do and that %s stops no round', async (_where, isLeftOut) => {
    const claimFor = async (): Promise<Lease> => {
      for (;;) {
        const lease = await store.leases.claim(QUEUE, 'judge', { ttlMs: TTL_MS, without: isLeftOut ? ['mal'] : [] })
        if (lease === undefined) throw new Error('nothing to claim')
        if (lease.key !== 'mal-0') return lease
        await store.leases.release(lease, { countClaim: false, notBefore: now + 50 })
      }
    }
    await offer(store, 'mal', 1)
    await offer(store, 'bob', 4)
    for (const lane of ['cat', 'dan', 'eve']) await offer(store, lane, 1)
    const keys: string[] = []
    for (let turn = 1; turn <= 16; turn += 1) {
      const lease = await claimFor()
      await store.leases.serve(lease)
      keys.push(lease.key)
      now += 1_000
      await store.leases.complete(lease)
      const lane = lease.key.slice(0, 3)
      if (lane !== 'bob') await store.leases.offer(QUEUE, `${lane}-${turn}`, { lane })
    }
    expect(countLanes(keys)).toEqual({ bob: 4, cat: 4, dan: 4, eve: 4 })
    expect(await claim(store)).toMatchObject({ key: 'mal-0' })
  })

  test('the round that was served is known after a restart', async () => {
    const url = await host.migratedUrl()
    const before = await openStore({ url, now: () => now })
    await offer(before, 'bob', 3)
    await before.leases.complete(await claim(before))
    await before.leases.complete(await claim(before))
    await before.close()
    const after = await openStore({ url, now: () => now })
    try {
      await after.leases.offer(QUEUE, 'cat-0', { lane: 'cat' })
      expect([await claim(after), await claim(after)]).toMatchObject([{ key: 'bob-2' }, { key: 'cat-0' }])
    } finally {
      await after.close()
    }
  })

  test('a lease that ran out is claimable again, in its old place', async () => {
    await offer(store, 'ann', 3)
    await offer(store, 'bob', 3)
    const short = await claim(store, 100)
    expect(short.key).toBe('ann-0')
    expect(await claim(store)).toMatchObject({ key: 'bob-0' })
    now += 100
    expect(await claim(store)).toMatchObject({ key: 'ann-0', claims: 2 })
    await expect(store.leases.check(short)).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await claim(store)).toMatchObject({ key: 'ann-1' })
    expect(await claim(store)).toMatchObject({ key: 'bob-1' })
  })

  test('without lanes the oldest is next, whatever is at work', async () => {
    const keys = Array.from({ length: 6 }, (_, index) => `item-${5 - index}`)
    for (const key of keys) await store.leases.offer(QUEUE, key)
    const claimed = []
    for (const _ of keys) claimed.push((await claim(store)).key)
    expect(claimed).toEqual(keys)
  })

  test('a lane that no database keeps is refused by its name', async () => {
    await expect(store.leases.offer(QUEUE, 'a', { lane: 'a\0b' })).rejects.toMatchObject({ field: 'lane' })
  })
})

test('eight who claim at once through two gateways get each of two hundred items once, and never nothing while one is left', async () => {
  await using host = await startEngine('postgres')
  const url = await host.migratedUrl()
  const stores = [await openStore({ url }), await openStore({ url })] as const
  try {
    const keys = [
      ...(await offer(stores[0], 'ann', 150)),
      ...(await offer(stores[0], 'bob', 40)),
      ...(await offer(stores[1], 'cid', 10)),
    ]
    const claimed: string[] = []
    const emptyHanded: number[] = []
    const claimers = Array.from({ length: 8 }, async (_, index) => {
      const store = stores[index % 2 === 0 ? 0 : 1]
      for (;;) {
        const lease = await store.leases.claim(QUEUE, `${index}`, { ttlMs: TTL_MS })
        if (lease === undefined) {
          emptyHanded.push(claimed.length)
          return
        }
        claimed.push(lease.key)
        if (claimed.length % 3 === 0) await store.leases.complete(lease)
      }
    })
    await Promise.all(claimers)
    expect(claimed.toSorted()).toEqual(keys.toSorted())
    // Each of the others may just have taken one of the last, and not yet have said so.
    expect(Math.min(...emptyHanded)).toBeGreaterThanOrEqual(keys.length - 7)
    expect(await stores[0].leases.count(QUEUE)).toMatchObject({ waiting: 0 })
  } finally {
    for (const store of stores) await store.close()
  }
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'

/** Longer than a busy machine takes: a lease that ran out would be claimed twice. */
const TTL_MS = 600_000
/** Long enough for any step, and never waited for to the end. */
const LONG_MS = 60_000
const QUEUE = 'items'
/** More than a claim looks at in the order of the queue before it looks at the lanes. */
const MANY = 150

async function offer(store: Store, lane: string, count: number, notBefore = 0): Promise<void> {
  for (let index = 0; index < count; index += 1) await store.leases.offer(QUEUE, `${lane}-${index}`, { lane, notBefore })
}

describe.each(ENGINES)('claims that leave lanes out on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let now = 1_000
  let asked = 0
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    const url = await host.migratedUrl()
    store = await openStore({
      url,
      now: () => {
        asked += 1
        return now
      },
    })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const keyOf = async (without: readonly string[], ttlMs = TTL_MS): Promise<string | undefined> =>
    (await store.leases.claim(QUEUE, 'judge', { ttlMs, without }))?.key
  const wait = (holder: string, more: { without?: readonly string[]; standsBack?: boolean; waitMs?: number } = {}) =>
    store.leases.claim(QUEUE, holder, { ttlMs: TTL_MS, waitMs: LONG_MS, ...more })

  test('it takes what is next in the other lanes, and nothing when there is only what it leaves out', async () => {
    await offer(store, 'ann', 3)
    await offer(store, 'bob', 2)
    await offer(store, 'cid', 1)
    await store.leases.offer(QUEUE, 'nobody-0')
    expect(await keyOf(['ann'])).toBe('bob-0')
    expect(await keyOf(['ann', 'bob', 'someone else'])).toBe('cid-0')
    expect(await keyOf(['ann', 'bob', ''])).toBeUndefined()
    expect(await keyOf(['ann', 'bob'])).toBe('nobody-0')
    expect(await keyOf(['ann'])).toBe('bob-1')
    expect(await keyOf(['ann'])).toBeUndefined()
    expect(await keyOf([])).toBe('ann-0')
  })

  test('it finds the others behind as many as one likes that it leaves out, and what ran out among them', async () => {
    await offer(store, 'bob', 1)
    expect(await keyOf([], 100)).toBe('bob-0')
    // None of these is due when the next comes, so it stands behind them all.
    await offer(store, 'ann', MANY, 5_000)
    await store.leases.offer(QUEUE, 'cid-0', { lane: 'cid' })
    now = 5_000
    expect(await keyOf(['ann'])).toBe('bob-0')
    expect(await keyOf(['ann'])).toBe('cid-0')
    expect(await keyOf(['ann'])).toBeUndefined()
    // The same for one that ran out behind them.
    await store.leases.offer(QUEUE, 'dan-0', { lane: 'dan' })
    expect(await keyOf(['ann'], 100)).toBe('dan-0')
    now += 100
    expect(await keyOf(['ann'])).toBe('dan-0')
    expect(await keyOf(['bob', 'cid', 'dan'])).toBe('ann-0')
  })

  test('what one who waits leaves out goes to the next in line, and it is served when something is there for it', async () => {
    const full = wait('full', { without: ['ann'] })
    const free = wait('free')
    await offer(store, 'ann', 1)
    expect(await free).toMatchObject({ key: 'ann-0', holder: 'free' })
    await offer(store, 'bob', 1)
    expect(await full).toMatchObject({ key: 'bob-0', holder: 'full' })
  })

  test('of those who leave out different lanes each gets what is for it, whoever stands first', async () => {
    const waiting = [wait('a', { without: ['ann', 'bob'] }), wait('b', { without: ['bob'] }), wait('c', { without: ['ann'] })]
    await offer(store, 'bob', 1)
    expect(await waiting[2]).toMatchObject({ key: 'bob-0' })
    await offer(store, 'ann', 1)
    expect(await waiting[1]).toMatchObject({ key: 'ann-0' })
    await offer(store, 'cid', 1)
    expect(await waiting[0]).toMatchObject({ key: 'cid-0' })
  })

  test('who stands back is served after those who do not, though it came first', async () => {
    asked = 0
    const back = wait('back', { without: ['ann'], standsBack: true })
    const front = wait('front')
    // The clock is read at each look: two of each, when it comes and when it stands in line.
    await expect.poll(() => asked).toBeGreaterThanOrEqual(4)
    await offer(store, 'bob', 1)
    expect(await front).toMatchObject({ key: 'bob-0', holder: 'front' })
    await offer(store, 'cid', 1)
    expect(await back).toMatchObject({ key: 'cid-0', holder: 'back' })
  })

  test('what is due and left out does not wake again and again who leaves it out', async () => {
    await offer(store, 'ann', 3)
    asked = 0
    expect(await wait('full', { without: ['ann'], waitMs: 500 })).toBeUndefined()
    // One look before it waits, and one when it begins to.
    expect(asked).toBeLessThanOrEqual(4)
  })

  test('what comes back from another without a word is found', async () => {
    await offer(store, 'ann', 1)
    await offer(store, 'bob', 1)
    const lost = await store.leases.claim(QUEUE, 'lost', { ttlMs: 100, without: ['ann'] })
    expect(lost).toMatchObject({ key: 'bob-0' })
    const full = wait('full', { without: ['ann'] })
    now += 100
    expect(await full).toMatchObject({ key: 'bob-0', claims: 2 })
  })

  test('more lanes than a claim may leave out, and one that no database keeps, are refused by their name', async () => {
    const without = Array.from({ length: 1_025 }, (_, index) => `lane-${index}`)
    await expect(keyOf(without)).rejects.toMatchObject({ field: 'without' })
    await expect(keyOf(['a\0b'])).rejects.toMatchObject({ field: 'without' })
    expect(await keyOf(without.slice(1))).toBeUndefined()
  })
})

test('eight who leave a lane out and claim at once through two gateways get each of the others once', async () => {
  await using host = await startEngine('postgres')
  const url = await host.migratedUrl()
  const stores = [await openStore({ url }), await openStore({ url })] as const
  try {
    await offer(stores[0], 'ann', 50)
    for (const lane of ['bob', 'cid', 'dan', 'eve', 'fay']) await offer(stores[0], lane, 10)
    const claimed: string[] = []
    const claimers = Array.from({ length: 8 }, async (_, index) => {
      const store = stores[index % 2 === 0 ? 0 : 1]
      while (claimed.length < 50) {
        const lease = await store.leases.claim(QUEUE, `${index}`, { ttlMs: TTL_MS, without: ['ann'] })
        if (lease !== undefined) claimed.push(lease.key)
      }
    })
    await Promise.all(claimers)
    expect(new Set(claimed).size).toBe(50)
    expect(claimed.filter((key) => key.startsWith('ann-'))).toEqual([])
    expect(await stores[0].leases.count(QUEUE)).toEqual({ waiting: 50, held: 50 })
  } finally {
    for (const store of stores) await store.close()
  }
})

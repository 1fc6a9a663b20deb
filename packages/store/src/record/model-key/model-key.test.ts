import { type JobId, NO_BUDGET } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { claimNext, startedJob } from '../../fixture/sample-job.ts'
import { type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const TTL = 1_000
const KEPT = 5_000
const KEY = { hash: 'a'.repeat(64), attempt: 1, channel: 'main', model: 'small', budget: { ...NO_BUDGET, tokens: 7 } }

describe.each(ENGINES)('keys to models on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let now = 10_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 10_000
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const leaseOf = async (hash: string) => (await store.modelKeys.find(hash))?.leaseExpiresAt
  const end = async (id: JobId) => {
    await store.jobs.cancel(id, { keptMs: KEPT })
    await store.jobs.delete(id)
  }

  test('a key is found with its job and the lease of its claim', async () => {
    const ann = await store.users.add({ username: 'ann', passwordHash: null, admin: false })
    const { id } = await startedJob(store, ann.id)
    const claim = await claimNext(store, 'm1', TTL)
    const of = { jobId: id, ownerId: ann.id, claimId: claim.claimId, claim: 1 }
    const record = { ...KEY, ...of, createdAt: now }
    expect(await store.modelKeys.add(claim, KEY)).toEqual(record)
    const job = await store.jobs.byId(id)
    expect(await store.modelKeys.find(KEY.hash)).toEqual({ kind: 'job', key: record, job, leaseExpiresAt: 11_000 })
    expect(await store.modelKeys.find('b')).toBeUndefined()
    now += 500
    await store.jobs.renew(claim, TTL)
    await store.jobs.patch(claim, { status: 'running_generate' }, KEPT)
    expect(await store.modelKeys.find(KEY.hash)).toMatchObject({ job: { status: 'running_generate' }, leaseExpiresAt: 11_500 })
    await store.jobs.cancel(id, { keptMs: KEPT })
    expect(await store.modelKeys.find(KEY.hash)).toMatchObject({ job: { status: 'cancelled' }, leaseExpiresAt: 11_500 })
    await store.jobs.release(claim, { countLoss: true })
    expect(await store.modelKeys.find(KEY.hash)).toMatchObject({ job: { status: 'cancelled' }, leaseExpiresAt: null })
    await store.jobs.delete(id)
    expect(await store.modelKeys.find(KEY.hash)).toBeUndefined()
    expect(await store.modelKeys.has(claim.claimId, 1)).toBe(false)
  })

  test('another for the same claim and attempt takes the place of the first, the same again changes nothing', async () => {
    const { id } = await startedJob(store)
    const claim = await claimNext(store, 'm1', TTL)
    await store.modelKeys.add(claim, KEY)
    await store.modelKeys.add(claim, KEY)
    expect(await store.modelKeys.find(KEY.hash)).toMatchObject({ key: { model: 'small' } })
    now += 1
    await store.modelKeys.add(claim, { ...KEY, hash: 'b', model: 'large', budget: NO_BUDGET })
    expect(await store.modelKeys.find(KEY.hash)).toBeUndefined()
    expect(await store.modelKeys.find('b')).toMatchObject({ key: { model: 'large', budget: NO_BUDGET, createdAt: 10_001 } })
    await store.modelKeys.add(claim, { ...KEY, attempt: 2 })
    expect(await store.modelKeys.find('b')).toMatchObject({ key: { jobId: id, attempt: 1 } })
    expect(await Promise.all([1, 2, 3].map((attempt) => store.modelKeys.has(claim.claimId, attempt)))).toEqual([
      true,
      true,
      false,
    ])
  })

  test('a lease that ran out shows its past time until another takes it, and grace brings it back', async () => {
    const { id } = await startedJob(store)
    const first = await claimNext(store, 'm1', TTL)
    await store.modelKeys.add(first, KEY)
    now += 2 * TTL
    expect(await leaseOf(KEY.hash)).toBe(11_000)
    await expect(store.modelKeys.add(first, { ...KEY, hash: 'late' })).rejects.toMatchObject({ code: 'lease_lost' })
    await store.leases.grace(TTL)
    expect(await leaseOf(KEY.hash)).toBe(now + TTL)
    now += 2 * TTL
    const second = await claimNext(store, 'm2', TTL)
    expect(await leaseOf(KEY.hash)).toBeNull()
    await expect(store.modelKeys.add(first, { ...KEY, hash: 'late' })).rejects.toMatchObject({ code: 'lease_lost' })
    await store.modelKeys.add(second, { ...KEY, hash: 'b' })
    expect(await leaseOf('b')).toBe(now + TTL)
    await store.jobs.release(second, { countLoss: false })
    expect(await leaseOf('b')).toBeNull()
    expect(await store.modelKeys.find('b')).toMatchObject({ job: { id, status: 'queued' }, key: { claimId: second.claimId } })
    await end(id)
  })

  test('keys of claims that are over are forgotten, those of a claim that holds or may come back are not', async () => {
    const jobs = [await startedJob(store), await startedJob(store), await startedJob(store)]
    const over = await claimNext(store, 'm1', TTL)
    const ranOut = await claimNext(store, 'm1', TTL)
    const held = await claimNext(store, 'm1', TTL)
    for (const claim of [over, ranOut, held]) await store.modelKeys.add(claim, { ...KEY, hash: claim.claimId })
    await store.jobs.release(over, { countLoss: true })
    now += TTL - 1
    await store.jobs.renew(held, 60_000)
    const left = () =>
      Promise.all([over, ranOut, held].map(async ({ claimId }) => (await store.modelKeys.find(claimId)) !== undefined))
    expect(await store.modelKeys.prune(10_000)).toBe(0)
    expect(await store.modelKeys.prune(10_001)).toBe(1)
    expect(await left()).toEqual([false, true, true])
    expect(await store.modelKeys.prune(11_000)).toBe(0)
    expect(await store.modelKeys.prune(11_001)).toBe(1)
    expect(await left()).toEqual([false, false, true])
    for (const { id } of jobs) await end(id)
  })

  test('what cannot be stored is refused and names its field', async () => {
    await startedJob(store)
    const claim = await claimNext(store, 'm1', TTL)
    const wrong = { hash: 'a\0', attempt: -1, channel: '', model: 'x'.repeat(1_025), budget: { ...NO_BUDGET, requests: 0 } }
    for (const [field, value] of Object.entries(wrong)) {
      await expect(store.modelKeys.add(claim, { ...KEY, [field]: value })).rejects.toMatchObject({
        code: 'invalid_argument',
        field,
      })
    }
  })
})

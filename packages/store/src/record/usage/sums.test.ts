import { NO_TOKENS, type UsageId, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newJobId, sampleCall } from '../../fixture/sample-job.ts'
import { type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const DAY = 24 * 60 * 60_000
const MIDNIGHT = Date.UTC(2026, 10, 5)
const EMPTY = { ...NO_TOKENS, calls: 0, unpriced_calls: 0, estimated_calls: 0, cost_microusd: 0 }

describe.each(ENGINES)('sums of calls on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let now = MIDNIGHT
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = MIDNIGHT
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const addUser = async (username: string): Promise<UserId> =>
    (await store.users.add({ username, passwordHash: null, admin: false })).id
  let calls = 0
  const add = async (changes: Parameters<typeof sampleCall>[0]): Promise<void> => {
    calls += 1
    await store.usages.add(sampleCall({ callId: `${calls}`, ...changes }))
  }
  const reserve = (changes: Parameters<typeof sampleCall>[0]) =>
    store.usages.reserve(sampleCall({ callId: 'reserved', ...changes }), { since: 0 })

  test('days are those of UTC and come newest first; an end is not part of its range', async () => {
    now = MIDNIGHT - 1
    await add({ costMicrousd: 100 })
    now = MIDNIGHT
    await add({ costMicrousd: 1 })
    await add({ estimated: true })
    now = MIDNIGHT + DAY - 1
    await add({ costMicrousd: 2 })
    now = MIDNIGHT + DAY
    await add({ costMicrousd: 4 })
    await reserve({ costMicrousd: 1_000 })
    const day = (key: string, count: number, cost: number, others = {}) => ({
      ...EMPTY,
      key,
      calls: count,
      cost_microusd: cost,
      input_tokens: 10 * count,
      output_tokens: 5 * count,
      ...others,
    })
    const days = [
      day('2026-11-06', 1, 4),
      day('2026-11-05', 3, 3, { unpriced_calls: 1, estimated_calls: 1 }),
      day('2026-11-04', 1, 100),
    ]
    const { key: _, ...total } = day('', 5, 107, { unpriced_calls: 1, estimated_calls: 1 })
    expect(await store.usages.summary({ groupBy: 'day', limit: 10 })).toEqual({ total, groups: days })
    // The total is of all, however many groups are shown.
    expect(await store.usages.summary({ groupBy: 'day', limit: 1 })).toEqual({ total, groups: days.slice(0, 1) })
    const { groups } = await store.usages.summary({ groupBy: 'day', from: MIDNIGHT, to: MIDNIGHT + DAY, limit: 10 })
    expect(groups).toEqual(days.slice(1, 2))
    expect(await store.usages.summary({ groupBy: 'day', from: MIDNIGHT + 2 * DAY, limit: 10 })).toEqual({
      total: EMPTY,
      groups: [],
    })
  })

  test('models, jobs and people come by what they cost, those of nobody too', async () => {
    const [ann, ben] = [await addUser('ann'), await addUser('ben')]
    const [one, other] = [newJobId(), newJobId()]
    await add({ ownerId: ann, jobId: one, model: 'small', costMicrousd: 5 })
    await add({ ownerId: ann, jobId: one, model: 'large', costMicrousd: 5 })
    await add({ ownerId: ben, jobId: other, model: 'large', costMicrousd: 1 })
    await add({ ownerId: null, jobId: null, model: 'free', tokens: { ...NO_TOKENS, input_tokens: 1 } })
    await add({ ownerId: null, jobId: null, model: 'local', tokens: { ...NO_TOKENS, input_tokens: 9_000 } })
    const keys = async (groupBy: 'model' | 'job' | 'user', ownerId?: UserId | null) => {
      const query = ownerId === undefined ? { groupBy, limit: 10 } : { groupBy, limit: 10, ownerId }
      const { groups } = await store.usages.summary(query)
      return groups.map(({ key, cost_microusd, unpriced_calls }) => [key, cost_microusd, unpriced_calls])
    }
    expect(await keys('model')).toEqual([
      ['large', 6, 0],
      ['small', 5, 0],
      ['local', null, 1],
      ['free', null, 1],
    ])
    expect(await keys('job')).toEqual([
      [one, 10, 0],
      [other, 1, 0],
      [null, null, 2],
    ])
    expect(await keys('user')).toEqual([
      [ann, 10, 0],
      [ben, 1, 0],
      [null, null, 2],
    ])
    expect(await keys('model', ben)).toEqual([['large', 1, 0]])
    expect(await keys('user', null)).toEqual([[null, null, 2]])
  })

  test('sums are exact where floating point would not be, and stop where numbers do', async () => {
    const jobId = newJobId()
    const [most, large] = [1_000_000_000_000_000, 1_000_000_000_000]
    for (let count = 0; count < 9; count += 1)
      await add({ jobId, costMicrousd: most, tokens: { ...NO_TOKENS, input_tokens: large } })
    await add({ jobId, costMicrousd: 7_199_254_740_990, tokens: { ...NO_TOKENS, output_tokens: 1 } })
    expect(await store.usages.totalOf(jobId)).toMatchObject({
      cost_microusd: Number.MAX_SAFE_INTEGER - 1,
      input_tokens: 9 * large,
    })
    expect(await store.usages.spentOnJob(jobId)).toEqual({ tokens: 9 * large + 1, microusd: 9_007_199_254_740_990 })
    await add({ jobId, costMicrousd: 2 })
    expect(await store.usages.spent(null, 0)).toMatchObject({ microusd: Number.MAX_SAFE_INTEGER })
    expect((await store.usages.summary({ groupBy: 'job', limit: 1 })).total.cost_microusd).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('pages go on where they stood, also between calls of the same moment and while new ones come', async () => {
    const ann = await addUser('ann')
    const jobId = newJobId()
    for (let count = 0; count < 12; count += 1) {
      if (count % 5 === 0) now += 1
      await add({ ownerId: ann, jobId, callId: `p${count}` })
      await add({ ownerId: null, callId: `other ${count}` })
    }
    await reserve({ ownerId: ann, jobId })
    const all = await store.usages.list({ ownerId: ann, limit: 100 })
    const expected = all.toSorted((one, next) => next.at - one.at || (next.id < one.id ? -1 : 1))
    expect(all).toEqual(expected)
    expect(all).toHaveLength(12)
    const paged: string[] = []
    for (let beforeId: UsageId | undefined; ;) {
      const page = await store.usages.list({ ownerId: ann, jobId, limit: 5, ...(beforeId === undefined ? {} : { beforeId }) })
      const last = page.at(-1)
      if (last === undefined) break
      beforeId = last.id
      paged.push(...page.map(({ callId }) => callId))
      await add({ ownerId: ann, jobId })
    }
    expect(paged).toEqual(all.map(({ callId }) => callId))
    const at = MIDNIGHT + 2
    expect((await store.usages.list({ jobId, from: at, to: at + 1, limit: 100 })).map((each) => each.at)).toEqual(
      Array(5).fill(at),
    )
    expect(await store.usages.list({ ownerId: null, limit: 100 })).toHaveLength(12)
    expect(await store.usages.list({ jobId: newJobId(), limit: 100 })).toEqual([])
    expect(await store.usages.list({ from: Date.UTC(1960, 1), limit: 100 })).toHaveLength(27)
  })
})

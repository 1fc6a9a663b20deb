import { NO_PRICES, NO_TOKENS, type UsageId, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rowCounts, topicsTold } from '../../fixture/look.ts'
import { newJobId, sampleCall } from '../../fixture/sample-job.ts'
import { type SpendLimits, type Store, type Usages, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'
import { execute } from '../../testing/execute.ts'

const NO_LIMITS: SpendLimits = { since: 0 }
const tokens = (most: number) => ({ tokens: most, microusd: null })
const microusd = (most: number) => ({ tokens: null, microusd: most })
const PRICES = { ...NO_PRICES, input_microusd_per_1m_tokens: 1_000_000, output_microusd_per_1m_tokens: 5_000_000 }
const AT_ONCE = 50
/** Copies the one call of a job until there are 9,999. */
const MORE_CALLS = `INSERT INTO usage SELECT 'usg_' || substr('0000000000000000000000', 1, 22 - length(CAST(n AS TEXT))) || CAST(n AS TEXT) || 'copy', status, job_id, owner_id, claim_id,
    claim, attempt, 'copy ' || n, channel, model, thread_id, source, estimated, input_tokens, cached_input_tokens, output_tokens,
    cached_output_tokens, reasoning_output_tokens, prices, cost_microusd, at, agent_id, prompt
  FROM usage, (WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9998) SELECT n FROM numbers) AS n
  WHERE job_id = $1`

describe.each(ENGINES)('calls of models on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  /** Several gateways on PostgreSQL; SQLite has one. */
  let gateways: readonly Store[]
  let now = 10_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 10_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
    gateways = engine === 'postgres' ? [store, await openStore({ url, now: () => now })] : [store]
  })
  afterEach(async () => {
    for (const each of gateways) await each.close()
  })
  afterAll(() => host.stop())

  const gateway = (index: number): Store => gateways[index % gateways.length] ?? store
  const addUser = async (username: string): Promise<UserId> =>
    (await store.users.add({ username, passwordHash: null, admin: false })).id
  const reserve = async (call: Parameters<Usages['reserve']>[0], limits = NO_LIMITS): Promise<UsageId> => {
    const reserved = await store.usages.reserve(call, limits)
    if (reserved.kind !== 'reserved') throw new Error(`the call was ${reserved.kind}`)
    return reserved.id
  }

  test('a reserved call counts as the most it may come to, a booked one as what it came to', async () => {
    const ann = await addUser('ann')
    const jobId = newJobId()
    const call = sampleCall({ jobId, ownerId: ann, prices: PRICES, costMicrousd: 35, threadId: 't' })
    const told = await topicsTold(store)
    const id = await reserve(call)
    const reserved = { ...call, id, status: 'reserved', source: 'proxy', at: 10_000 }
    expect(await store.usages.byCall(call.claimId, 1, 'call')).toEqual(reserved)
    expect(await store.usages.spent(ann, 0)).toEqual({ tokens: 15, microusd: 35 })
    expect(await store.usages.spentOnJob(jobId)).toEqual({ tokens: 15, microusd: 35 })
    expect(await store.usages.ofJob(jobId)).toEqual([])
    expect(await store.usages.totalOf(jobId)).toMatchObject({ calls: 0, input_tokens: 0, cost_microusd: 0 })
    now += 1
    const tokens = {
      input_tokens: 9,
      cached_input_tokens: 4,
      output_tokens: 3,
      cached_output_tokens: 1,
      reasoning_output_tokens: 2,
    }
    expect(await store.usages.book(id, { tokens, costMicrousd: 24, estimated: false })).toBe(true)
    const topics = new Set<string>()
    while (!topics.has(`usage/${ann}`) || !topics.has(`job/${jobId}`)) for (const topic of await told(1)) topics.add(topic)
    const booked = { ...reserved, status: 'booked', tokens, costMicrousd: 24 }
    expect(await store.usages.ofJob(jobId)).toEqual([booked])
    expect(await store.usages.list({ limit: 10 })).toEqual([booked])
    expect(await store.usages.spent(ann, 0)).toEqual({ tokens: 12, microusd: 24 })
    expect(await store.usages.spent(ann, 10_001)).toEqual({ tokens: 0, microusd: 0 })
    expect(await store.usages.spent(null, 0)).toEqual({ tokens: 0, microusd: 0 })
    expect(await store.usages.totalOf(jobId)).toEqual({
      ...tokens,
      calls: 1,
      unpriced_calls: 0,
      estimated_calls: 0,
      cost_microusd: 24,
    })
  })

  test('the first to settle a reservation wins, and one that was dropped never was', async () => {
    const call = sampleCall()
    const id = await reserve(call)
    const settle = (tokens: number, index: number) =>
      gateway(index).usages.book(id, {
        tokens: { ...NO_TOKENS, input_tokens: tokens },
        costMicrousd: null,
        estimated: true,
      })
    const answers = await Promise.all([1, 2, 3, 4].map((tokens, index) => settle(tokens, index)))
    expect(answers.filter(Boolean)).toHaveLength(1)
    const booked = await store.usages.byCall(call.claimId, 1, 'call')
    expect(booked).toMatchObject({ status: 'booked', estimated: true, tokens: { input_tokens: answers.indexOf(true) + 1 } })
    await store.usages.drop(id)
    expect(await store.usages.byCall(call.claimId, 1, 'call')).toEqual(booked)
    const dropped = await reserve({ ...call, callId: 'other' })
    await store.usages.drop(dropped)
    await store.usages.drop(dropped)
    expect(await store.usages.byCall(call.claimId, 1, 'other')).toBeUndefined()
    expect(await settle(1, 0)).toBe(false)
    expect(await store.usages.book(dropped, { tokens: NO_TOKENS, costMicrousd: null, estimated: false })).toBe(false)
    expect(await store.usages.reserve({ ...call, callId: 'other' }, NO_LIMITS)).toMatchObject({ kind: 'reserved' })
  })

  test('a call is there once for its claim and attempt, whoever tells about it first', async () => {
    const call = sampleCall({ jobId: newJobId() })
    const added = await Promise.all(Array.from({ length: 6 }, (_, index) => gateway(index).usages.add(call)))
    expect(added.filter(Boolean)).toHaveLength(1)
    expect(await store.usages.reserve(call, NO_LIMITS)).toEqual({ kind: 'doubled' })
    // One that is there already is not refused for what it would add.
    expect(await store.usages.reserve(call, { ...NO_LIMITS, job: tokens(1) })).toEqual({ kind: 'doubled' })
    const next = { ...call, attempt: 2 }
    const reserved = await Promise.all(Array.from({ length: 6 }, (_, index) => gateway(index).usages.reserve(next, NO_LIMITS)))
    expect(reserved.map(({ kind }) => kind).toSorted()).toEqual([...Array(5).fill('doubled'), 'reserved'])
    expect(await store.usages.add(next)).toBe(false)
    expect(await store.usages.add({ ...call, claimId: 'd' })).toBe(true)
    expect(await rowCounts(url)).toMatchObject({ usage: 3 })
  })

  test('each limit is named with what is used and what it is, and a refused call leaves nothing', async () => {
    const ann = await addUser('ann')
    const jobId = newJobId()
    const call = sampleCall({ jobId, ownerId: ann, costMicrousd: 20 })
    await store.usages.add({ ...call, callId: 'yesterday', jobId: newJobId() })
    await store.usages.add({ ...call, callId: 'foreign', ownerId: null })
    now += 1
    await store.usages.add({ ...call, callId: 'booked' })
    await reserve({ ...call, callId: 'reserved' })
    const since = 10_001
    const next = { ...call, callId: 'next' }
    const refused = (limits: Partial<SpendLimits>) => store.usages.reserve(next, { ...NO_LIMITS, since, ...limits })
    expect(await refused({ owner: tokens(44) })).toEqual({ kind: 'refused', scope: 'owner', unit: 'tokens', used: 30, most: 44 })
    expect(await refused({ owner: microusd(59) })).toEqual({
      kind: 'refused',
      scope: 'owner',
      unit: 'microusd',
      used: 40,
      most: 59,
    })
    // What a job used counts from its first day on, whoever pays.
    expect(await refused({ job: tokens(59) })).toEqual({ kind: 'refused', scope: 'job', unit: 'tokens', used: 45, most: 59 })
    expect(await refused({ job: microusd(0) })).toEqual({ kind: 'refused', scope: 'job', unit: 'microusd', used: 60, most: 0 })
    expect(await refused({ owner: tokens(44), job: tokens(1) })).toMatchObject({ scope: 'owner' })
    expect(await store.usages.byCall(call.claimId, 1, 'next')).toBeUndefined()
    expect(await refused({ owner: { tokens: 45, microusd: 60 }, job: { tokens: 60, microusd: 80 } })).toMatchObject({
      kind: 'reserved',
    })
    const nobody = { ...call, ownerId: null, callId: 'nobody' }
    expect(await store.usages.reserve(nobody, { ...NO_LIMITS, owner: tokens(29) })).toMatchObject({ used: 15, most: 29 })
    const without = { ...call, jobId: null, callId: 'no job' }
    expect(await store.usages.reserve(without, { ...NO_LIMITS, job: tokens(1) })).toMatchObject({ kind: 'reserved' })
  })

  test.each([
    // 15 tokens and 10 micro-USD each.
    { bound: 'owner', limits: { ...NO_LIMITS, owner: tokens(307) }, room: 20 },
    { bound: 'job', limits: { ...NO_LIMITS, job: tokens(307) }, room: 20 },
    {
      bound: 'both',
      limits: { since: 0, owner: { tokens: 307, microusd: 500 }, job: { tokens: 1_000, microusd: 149 } },
      room: 14,
    },
  ])('of many at once exactly as many pass as there is room for: $bound', async ({ bound, limits, room }) => {
    const ann = await addUser('ann')
    const jobId = newJobId()
    const call = (callId: string) =>
      sampleCall({
        jobId: bound === 'owner' ? newJobId() : jobId,
        ownerId: bound === 'job' ? null : ann,
        callId,
        costMicrousd: 10,
      })
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => gateway(index).usages.reserve(call(`${index}`), limits)),
    )
    const [first, ...others] = answers.flatMap((answer) => (answer.kind === 'reserved' ? [answer.id] : []))
    if (first === undefined) throw new Error('nothing was reserved')
    expect(others).toHaveLength(room - 1)
    expect(answers.filter(({ kind }) => kind === 'refused')).toHaveLength(AT_ONCE - room)
    // What comes to less than it might have makes room again, for one.
    await store.usages.book(first, { tokens: NO_TOKENS, costMicrousd: 0, estimated: false })
    const again = await Promise.all([1, 2, 3].map((index) => gateway(index).usages.reserve(call(`again ${index}`), limits)))
    expect(again.map(({ kind }) => kind).toSorted()).toEqual(['refused', 'refused', 'reserved'])
  })

  test('reservations of the dead are booked with what was sent, and nothing else is touched', async () => {
    const jobId = newJobId()
    const tokens = {
      ...NO_TOKENS,
      input_tokens: 1_000,
      cached_input_tokens: 200,
      output_tokens: 500,
      reasoning_output_tokens: 100,
    }
    const call = sampleCall({ jobId, tokens, prices: PRICES, costMicrousd: 3_500 })
    const dead = await reserve(call)
    await reserve({ ...call, callId: 'unpriced', prices: null, costMicrousd: null })
    await store.usages.add({ ...call, callId: 'told' })
    now += 10
    await reserve({ ...call, callId: 'alive' })
    const told = await topicsTold(store)
    expect(await store.usages.settleStale(10_000)).toBe(0)
    const settled = await Promise.all(gateways.map((each) => each.usages.settleStale(10_001)))
    expect(settled.reduce((sum, each) => sum + each, 0)).toBe(2)
    expect(await told(2)).toEqual([`job/${jobId}`, 'usage/-'])
    const sent = { ...NO_TOKENS, input_tokens: 1_000, cached_input_tokens: 200 }
    const find = (callId: string) => store.usages.byCall(call.claimId, 1, callId)
    expect(await find('call')).toMatchObject({ status: 'booked', estimated: true, tokens: sent, costMicrousd: 1_000, at: 10_000 })
    expect(await find('unpriced')).toMatchObject({ status: 'booked', estimated: true, tokens: sent, costMicrousd: null })
    expect(await find('told')).toMatchObject({ estimated: false, tokens, costMicrousd: 3_500 })
    expect(await find('alive')).toMatchObject({ status: 'reserved', tokens })
    expect(await store.usages.book(dead, { tokens, costMicrousd: 1, estimated: false })).toBe(false)
    expect(await store.usages.totalOf(jobId)).toMatchObject({
      calls: 3,
      estimated_calls: 2,
      unpriced_calls: 1,
      output_tokens: 500,
    })
    expect(await store.usages.prune(10_010)).toBe(3)
    expect(await store.usages.spentOnJob(jobId)).toEqual({ tokens: 1_500, microusd: 3_500 })
  })

  test('what is still reserved for a job that ends is settled, and nothing of another', async () => {
    const [ended, other] = [newJobId(), newJobId()]
    const call = sampleCall({ jobId: ended, tokens: { ...NO_TOKENS, input_tokens: 30, output_tokens: 7 } })
    await reserve(call)
    await reserve({ ...call, jobId: other, callId: 'other' })
    expect([await store.usages.settleJob(ended), await store.usages.settleJob(ended)]).toEqual([1, 0])
    const totals = await Promise.all([ended, other].map((id) => store.usages.totalOf(id)))
    expect(totals.map(({ calls, estimated_calls, input_tokens }) => [calls, estimated_calls, input_tokens])).toEqual([
      [1, 1, 30],
      [0, 0, 0],
    ])
  })

  test('more stale reservations than one step takes are all settled', async () => {
    for (let index = 0; index < 203; index += 1) await reserve(sampleCall({ callId: `${index}` }))
    now += 1
    expect(await store.usages.settleStale(now)).toBe(203)
    expect(await store.usages.settleStale(now)).toBe(0)
  })

  test('a job makes only so many calls, however they are told', async () => {
    const [full, other] = [newJobId(), newJobId()]
    const call = sampleCall({ jobId: full })
    await store.usages.add({ ...call, callId: 'first' })
    await execute(url, MORE_CALLS, [full])
    expect(await store.usages.add(call)).toBe(true)
    const one = { ...call, callId: 'one more' }
    await expect(store.usages.add(one)).rejects.toMatchObject({ code: 'conflict' })
    await expect(store.usages.reserve(one, NO_LIMITS)).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.usages.reserve(call, NO_LIMITS)).toEqual({ kind: 'doubled' })
    expect(await store.usages.reserve({ ...one, jobId: other }, NO_LIMITS)).toMatchObject({ kind: 'reserved' })
    expect(await store.usages.ofJob(full)).toHaveLength(10_000)
  })

  test('what cannot be stored is refused and names its field', async () => {
    const huge = { ...NO_TOKENS, input_tokens: 1_000_000_000_001 }
    const wrong: readonly (readonly [string, Parameters<typeof sampleCall>[0]])[] = [
      ['claimId', { claimId: '' }],
      ['claim', { claim: -1 }],
      ['attempt', { attempt: 1.5 }],
      ['callId', { callId: 'a\0b' }],
      ['channel', { channel: 'x'.repeat(1_025) }],
      ['model', { model: 'a\0b' }],
      ['threadId', { threadId: 'x'.repeat(1_025) }],
      ['tokens', { tokens: { ...NO_TOKENS, output_tokens: -1 } }],
      ['tokens.input_tokens', { tokens: huge }],
      ['prices', { prices: { ...NO_PRICES, input_microusd_per_1m_tokens: -1 } }],
      ['costMicrousd', { costMicrousd: 0.1 }],
    ]
    for (const [field, changes] of wrong) {
      const call = sampleCall(changes)
      await expect(store.usages.add(call)).rejects.toMatchObject({ code: 'invalid_argument', field })
      await expect(store.usages.reserve(call, NO_LIMITS)).rejects.toMatchObject({ code: 'invalid_argument', field })
    }
    const limits = { ...NO_LIMITS, job: tokens(Number.NaN) }
    await expect(store.usages.reserve(sampleCall(), limits)).rejects.toMatchObject({ field: 'limits.job.tokens' })
    const id = await reserve(sampleCall())
    const book = { tokens: huge, costMicrousd: null, estimated: false }
    await expect(store.usages.book(id, book)).rejects.toMatchObject({ field: 'tokens.input_tokens' })
    await expect(store.usages.list({ limit: 0 })).rejects.toMatchObject({ field: 'limit' })
    await expect(store.usages.list({ limit: 1, from: 0.5 })).rejects.toMatchObject({ field: 'from' })
    await expect(store.usages.settleStale(Number.NaN)).rejects.toMatchObject({ field: 'before' })
    expect(await rowCounts(url)).toMatchObject({ usage: 1 })
  })
})

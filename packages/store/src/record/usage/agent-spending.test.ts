import { AgentId, NO_TOKENS, type UserId, makeId } from '@parley/protocol'
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sampleAgent } from '../../fixture/sample-agent.ts'
import { newJobId, sampleCall } from '../../fixture/sample-job.ts'
import { type SpendLimits, type SpendScope, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'
import { execute } from '../../testing/execute.ts'

const DAY = 86_400_000
const MIDNIGHT = Date.UTC(2026, 10, 5)
const AT_ONCE = 40
const tokens = (most: number) => ({ tokens: most, microusd: null })
const microusd = (most: number) => ({ tokens: null, microusd: most })
/** Calls of one turn that are there already. */
const FILL = `INSERT INTO usage (id, status, owner_id, agent_id, prompt, claim_id, claim, attempt, call_id, model, source, estimated, input_tokens,
    cached_input_tokens, output_tokens, cached_output_tokens, reasoning_output_tokens, at)
  SELECT 'usg_' || n, 'booked', NULL, $1, 1, '7', 0, 0, 'before ' || n, 'm', 'proxy', 0, 1, 0, 0, 0, 0, 5
  FROM (WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST($2 AS INTEGER)) SELECT n FROM numbers) AS n`

describe.each(ENGINES)('what agents spend on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  /** Several gateways on PostgreSQL; SQLite has one. */
  let gateways: readonly Store[]
  let ann: UserId
  let now = MIDNIGHT
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = MIDNIGHT
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
    gateways = engine === 'postgres' ? [store, await openStore({ url, now: () => now })] : [store]
    ann = (await store.users.add({ username: 'ann', passwordHash: null, admin: false })).id
  })
  afterEach(async () => {
    for (const each of gateways) await each.close()
  })
  afterAll(() => host.stop())

  const gateway = (index: number): Store => gateways[index % gateways.length] ?? store
  const addAgent = async () => (await store.agents.add(sampleAgent(ann, { kind: 'local' }))).id
  let calls = 0
  /** 15 tokens and 20 micro-USD. */
  const callOf = (agentId: AgentId, changes: Partial<Parameters<typeof sampleCall>[0]> = {}) => {
    calls += 1
    return sampleCall({
      agentId,
      prompt: 1,
      ownerId: ann,
      claimId: '7',
      claim: 0,
      attempt: 0,
      callId: `${calls}`,
      costMicrousd: 20,
      ...changes,
    })
  }
  const spent = async (agentId: AgentId, scope: SpendScope, prompt = 1) => {
    const sums = await store.usages.spentIn(scope, { agentId, prompt, ownerId: ann, jobId: null }, MIDNIGHT)
    return [sums.tokens, sums.microusd, sums.calls]
  }

  test('a bound lets what just fits pass, and nothing more; it is named with what is used and what it is', async () => {
    const [agentId, other] = [await addAgent(), await addAgent()]
    now = MIDNIGHT - 1
    await store.usages.add(callOf(agentId))
    now = MIDNIGHT
    await store.usages.add(callOf(agentId))
    await store.usages.reserve(callOf(agentId, { prompt: 2 }), { since: MIDNIGHT })
    await store.usages.add(callOf(other))
    expect(
      await Promise.all([spent(agentId, 'all'), spent(agentId, 'day'), spent(agentId, 'turn'), spent(agentId, 'turn', 2)]),
    ).toEqual([
      [45, 60, 3],
      [30, 40, 2],
      [30, 40, 2],
      [15, 20, 1],
    ])
    expect(await spent(other, 'all')).toEqual([15, 20, 1])
    expect(
      (await store.usages.spentIn('owner', { agentId: null, prompt: null, ownerId: ann, jobId: null }, MIDNIGHT)).tokens,
    ).toBe(45)
    expect(await store.usages.spentIn('job', { agentId, prompt: 1, ownerId: ann, jobId: null }, 0)).toEqual({
      tokens: 0,
      microusd: 0,
      calls: 0,
    })
    const refused = (limits: Partial<SpendLimits>, prompt = 2) =>
      store.usages.reserve(callOf(agentId, { prompt }), { since: MIDNIGHT, ...limits })
    const by = (scope: SpendScope, unit: 'tokens' | 'microusd', used: number, most: number) => ({
      kind: 'refused',
      scope,
      unit,
      used,
      most,
    })
    expect(await refused({ turn: tokens(29) })).toEqual(by('turn', 'tokens', 15, 29))
    expect(await refused({ turn: microusd(39) })).toEqual(by('turn', 'microusd', 20, 39))
    expect(await refused({ day: tokens(44) })).toEqual(by('day', 'tokens', 30, 44))
    expect(await refused({ day: microusd(59) })).toEqual(by('day', 'microusd', 40, 59))
    expect(await refused({ all: tokens(59) })).toEqual(by('all', 'tokens', 45, 59))
    expect(await refused({ all: microusd(79) })).toEqual(by('all', 'microusd', 60, 79))
    expect(await refused({ owner: tokens(59), all: tokens(1), day: tokens(1) })).toMatchObject({ scope: 'owner', used: 45 })
    expect(await refused({ all: tokens(1), day: tokens(1), turn: tokens(1) })).toMatchObject({ scope: 'all' })
    expect(await refused({ day: tokens(1), turn: tokens(1) })).toMatchObject({ scope: 'day' })
    const fits = {
      turn: { tokens: 30, microusd: 40 },
      day: { tokens: 45, microusd: 60 },
      all: { tokens: 60, microusd: 80 },
      owner: { tokens: 60, microusd: 80 },
    }
    expect(await refused(fits)).toMatchObject({ kind: 'reserved' })
    expect(await refused(fits)).toMatchObject({ kind: 'refused' })
    // The bounds of an agent are none of a job's.
    expect(
      await store.usages.reserve(sampleCall({ jobId: newJobId() }), { since: 0, turn: tokens(0), all: tokens(0) }),
    ).toMatchObject({
      kind: 'reserved',
    })
    await expect(refused({ day: tokens(-1) })).rejects.toMatchObject({ code: 'invalid_argument', field: 'limits.day.tokens' })
    await expect(store.usages.add(callOf(agentId, { prompt: 0 }))).rejects.toMatchObject({ field: 'prompt' })
  })

  test.each(['turn', 'day', 'all'] as const)('of many at once exactly as many pass as there is room for: %s', async (scope) => {
    const agents = [await addAgent(), await addAgent()] as const
    const limits = { since: MIDNIGHT, [scope]: tokens(157) }
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const agentId = agents[index % 2 === 0 ? 0 : 1]
        return { agentId, answer: await gateway(index >> 1).usages.reserve(callOf(agentId), limits) }
      }),
    )
    const passed = (id: AgentId) => answers.filter(({ agentId, answer }) => agentId === id && answer.kind === 'reserved').length
    expect(agents.map(passed)).toEqual([10, 10])
  })

  test('two agents of one owner at once never pass the owner’s day together', async () => {
    const agents = [await addAgent(), await addAgent()] as const
    const limits = { since: MIDNIGHT, owner: tokens(307), all: tokens(1_000) }
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        gateway(index >> 1).usages.reserve(callOf(agents[index % 2 === 0 ? 0 : 1]), limits),
      ),
    )
    expect(answers.filter(({ kind }) => kind === 'reserved')).toHaveLength(20)
  })

  test('what is added up or forgotten is still spent, and nothing is counted twice', async () => {
    const [agentId, idle, gone] = [await addAgent(), await addAgent(), makeId(AgentId, 'agt', randomBytes)]
    now = MIDNIGHT - 3 * DAY
    for (let count = 0; count < 3; count += 1) await store.usages.add(callOf(agentId, { prompt: count + 1 }))
    await store.usages.add(callOf(gone))
    now += DAY
    const reserved = await store.usages.reserve(callOf(agentId, { prompt: 4 }), { since: 0 })
    if (reserved.kind !== 'reserved') throw new Error('it was refused')
    now += DAY
    await store.usages.add(callOf(agentId, { prompt: 5 }))
    const all = [75, 100, 5]
    const sums = async () => (await spent(agentId, 'all')).slice(0, 2)
    expect(await spent(agentId, 'all')).toEqual(all)
    // One that is under way is not added up yet, and may come to less.
    for (let times = 0; times < 2; times += 1) await Promise.all(gateways.map((each) => each.usages.fold(MIDNIGHT)))
    expect(await spent(agentId, 'all')).toEqual([75, 100, 2])
    await store.usages.book(reserved.id, { tokens: { ...NO_TOKENS, input_tokens: 5 }, costMicrousd: 1, estimated: false })
    expect(await sums()).toEqual([65, 81])
    await Promise.all(gateways.map((each) => each.usages.fold(MIDNIGHT)))
    expect(await spent(agentId, 'all')).toEqual([65, 81, 1])
    expect(await spent(agentId, 'turn', 4)).toEqual([5, 1, 1])
    now = MIDNIGHT
    await store.usages.add(callOf(agentId, { prompt: 6 }))
    // What is called from now on is in no sum yet, whatever is asked for.
    await store.usages.fold(MIDNIGHT + DAY)
    expect(await spent(agentId, 'all')).toEqual([80, 101, 1])
    now += 1
    expect(await store.usages.prune(MIDNIGHT + 1)).toBe(7)
    expect(await sums()).toEqual([80, 101])
    expect(await spent(agentId, 'day')).toEqual([0, 0, 0])
    expect(await store.usages.reserve(callOf(agentId), { since: 0, all: tokens(94) })).toMatchObject({ used: 80, most: 94 })
    expect(await store.usages.reserve(callOf(agentId), { since: 0, all: tokens(95) })).toMatchObject({ kind: 'reserved' })
    expect(await spent(idle, 'all')).toEqual([0, 0, 0])
    await expect(store.usages.fold(0.5)).rejects.toMatchObject({ field: 'before' })
    // An agent that is made anew begins with nothing, and the sums of one that is gone go with it.
    await store.agents.markDeleting(agentId)
    await store.agents.remove(agentId)
    expect((await spent(agentId, 'all'))[0]).toBe(15)
  })

  test('one turn makes only so many calls, and another goes on', async () => {
    const agentId = await addAgent()
    await execute(url, FILL, [agentId, 9_998])
    const answers = await Promise.allSettled(
      [1, 2, 3, 4].map((index) => gateway(index).usages.reserve(callOf(agentId), { since: 0 })),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    await expect(store.usages.reserve(callOf(agentId), { since: 0 })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`turn 1 of agent ${agentId} has made 10000 calls`),
    })
    expect(await store.usages.reserve(callOf(agentId, { prompt: 2 }), { since: 0 })).toMatchObject({ kind: 'reserved' })
  })

  test('calls are listed and summed up by agent, also of one that is gone, and stay their owner’s', async () => {
    const [one, other] = [await addAgent(), await addAgent()]
    await store.usages.add(callOf(one, { callId: 'a' }))
    await store.usages.add(callOf(other, { callId: 'b', costMicrousd: 50 }))
    await store.usages.add(sampleCall({ jobId: newJobId(), ownerId: ann, callId: 'job', costMicrousd: 1 }))
    expect(await store.usages.list({ agentId: one, limit: 10 })).toMatchObject([
      { callId: 'a', agentId: one, prompt: 1, jobId: null },
    ])
    await store.agents.markDeleting(one)
    await store.agents.remove(one)
    expect((await store.usages.list({ agentId: one, ownerId: ann, limit: 10 })).map(({ callId }) => callId)).toEqual(['a'])
    const { total, groups } = await store.usages.summary({ groupBy: 'agent', ownerId: ann, limit: 10 })
    expect(total).toMatchObject({ calls: 3, cost_microusd: 71 })
    expect(groups.map(({ key, cost_microusd }) => [key, cost_microusd])).toEqual([
      [other, 50],
      [one, 20],
      [null, 1],
    ])
    expect(await store.usages.summary({ groupBy: 'model', agentId: one, limit: 10 })).toMatchObject({ total: { calls: 1 } })
  })
})

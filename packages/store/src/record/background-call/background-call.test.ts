import { AgentId, type BackgroundCallEnd, CallId, type UserId, makeId } from '@parley/protocol'
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { answeringAgent, awakeAgent } from '../../fixture/sample-agent.ts'
import { AGENT_QUEUE, type Lease, type Store, backgroundTopic, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const BOUNDS = { maxRunning: 3, maxKept: 5 }
const ALL_RESULTS = { maxBytes: 1_000 }
const returned = (result: string): BackgroundCallEnd => ({
  state: 'returned',
  result,
  is_cut: false,
  is_error: false,
  message: '',
})
const FAILED: BackgroundCallEnd = { state: 'failed', result: null, is_cut: false, is_error: true, message: 'no \u0000\ud800' }

describe.each(ENGINES)('background calls on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let ann: UserId
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
    ann = (await store.users.add({ username: 'ann', passwordHash: null, admin: false })).id
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const newCall = (tool = 'kit_echo') => ({ id: makeId(CallId, 'cal', randomBytes), tool, argumentsJson: '{"text":"x"}' })
  const begin = (lease: Lease, call = newCall()) => store.backgroundCalls.begin(lease, call, BOUNDS)
  const end = (lease: Lease, id: CallId, how: BackgroundCallEnd) => store.backgroundCalls.end(lease, id, how, ALL_RESULTS)
  const told = async (lease: Lease) => (await store.news.pending(lease, { maxItems: 100, maxChars: 10_000 })).items
  const takenOver = async (): Promise<Lease> => {
    now += 2_000
    const next = await store.leases.claim(AGENT_QUEUE, 'h2', { ttlMs: 1_000 })
    if (next === undefined) throw new Error('nobody can take it over')
    return next
  }

  test('one is written down, ends once, and its agent is told in the same commit', async () => {
    const { agent, lease } = await answeringAgent(store, ann)
    const call = newCall()
    const topics = await topicsTold(store)
    const begun = await begin(lease, call)
    expect(await topics(1)).toEqual([backgroundTopic(agent.id)])
    expect(begun).toMatchObject({
      id: call.id,
      agentId: agent.id,
      tool: 'kit_echo',
      state: 'running',
      startedAt: 1_000,
      endedAt: null,
    })
    // A gateway died before it answered.
    expect(await begin(lease, call)).toEqual(begun)
    expect(await told(lease)).toEqual([])
    now += 5
    const ended = await end(lease, call.id, returned('{"content":[]}'))
    expect(ended).toMatchObject({ state: 'returned', resultBytes: 14, endedAt: 1_005 })
    expect(await told(lease)).toMatchObject([{ kind: 'call', subject: call.id, text: 'kit_echo returned, 14 bytes' }])
    expect(await end(lease, call.id, returned('{"content":[]}'))).toEqual(ended)
    await expect(end(lease, call.id, FAILED)).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.backgroundCalls.byId(agent.id, call.id)).toEqual({ ...ended, result: '{"content":[]}' })
    expect(await told(lease)).toHaveLength(1)
  })

  test('an end wakes an agent that rests, once', async () => {
    const { agent, lease, prompt } = await answeringAgent(store, ann)
    const { id } = await begin(lease)
    await store.prompts.end(lease, prompt.id, { status: 'completed', code: null, message: '' })
    expect(await store.prompts.next(lease)).toBeUndefined()
    await end(lease, id, FAILED)
    expect((await store.prompts.next(lease))?.prompt).toMatchObject({ wokenBy: 'call' })
    expect((await store.backgroundCalls.byId(agent.id, id))?.message).toBe('no \u0000\ud800')
  })

  test('so many go on at once, so many are kept, and so much of their results', async () => {
    const { agent, lease } = await answeringAgent(store, ann)
    const first = await begin(lease)
    await Promise.all([begin(lease), begin(lease)])
    await expect(begin(lease)).rejects.toMatchObject({ code: 'quota_exceeded' })
    for (let count = 0; count < 6; count++) {
      const newest = (await store.backgroundCalls.list(agent.id, 1))[0]
      if (newest === undefined) throw new Error('there is none')
      await end(lease, newest.id, returned('x'.repeat(400)))
      await begin(lease)
    }
    const kept = await store.backgroundCalls.list(agent.id, 100)
    // The oldest goes on, so it stays beyond those that are kept.
    expect(kept.map(({ state }) => state)).toEqual([
      'running',
      'returned',
      'returned',
      'returned',
      'returned',
      'running',
      'running',
    ])
    expect(kept.map(({ resultBytes }) => resultBytes)).toEqual([null, 400, 400, null, null, null, null])
    expect(kept.at(-1)?.id).toBe(first.id)
  })

  test('what a claim left running is unknown under the next, with news once, and the old one ends nothing any more', async () => {
    const { agent, lease } = await answeringAgent(store, ann, { ttlMs: 1_000 })
    const [left, done] = [await begin(lease), await begin(lease)]
    await end(lease, done.id, FAILED)
    expect(await store.backgroundCalls.takeOver(lease)).toBe(0)
    const next = await takenOver()
    await expect(end(lease, left.id, FAILED)).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(begin(lease)).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(begin(next, { id: left.id, tool: 'x', argumentsJson: '{}' })).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.backgroundCalls.takeOver(next)).toBe(1)
    expect(await store.backgroundCalls.takeOver(next)).toBe(0)
    expect(await store.backgroundCalls.byId(agent.id, left.id)).toMatchObject({ state: 'unknown', endedAt: 3_000 })
    const news = (await told(next)).map((item) => (item.kind === 'chat' ? '' : item.subject))
    expect(news).toEqual([done.id, left.id])
    await expect(end(next, left.id, FAILED)).rejects.toMatchObject({ code: 'conflict' })
  })

  test('those of an agent go with it, and nobody else has them', async () => {
    const { agent, lease } = await awakeAgent(store, ann, { kind: 'local' })
    const { id } = await begin(lease)
    const other = await awakeAgent(store, ann, { kind: 'local', host: 'h2' })
    expect(await store.backgroundCalls.byId(other.agent.id, id)).toBeUndefined()
    await expect(end(other.lease, id, FAILED)).rejects.toMatchObject({ code: 'not_found' })
    await store.agents.markDeleting(agent.id)
    await expect(end(lease, id, FAILED)).rejects.toMatchObject({ code: 'lease_lost' })
    await store.agents.remove(agent.id)
    expect(await store.backgroundCalls.byId(AgentId.parse(agent.id), id)).toBeUndefined()
  })
})

import { AgentBudgets, AgentSettings, NO_BUDGET, PromptId, type PromptOutcome, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { answeringAgent, nextPrompt } from '../../fixture/sample-agent.ts'
import { claimNext, startedJob } from '../../fixture/sample-job.ts'
import { AGENT_QUEUE, type Lease, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'
import { execute } from '../../testing/execute.ts'

const TTL = 1_000
const KEY = { hash: 'a'.repeat(64), channel: 'main', model: 'small', budget: { ...NO_BUDGET, tokens: 7 } }
const DONE: PromptOutcome = { status: 'completed', code: null, message: '' }
const BUDGETS = AgentBudgets.parse({ day: { tokens: 5 } })
const LOST = { code: 'lease_lost' }

describe.each(ENGINES)('keys of agents to models on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let ann: UserId
  let now = 10_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 10_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
    ann = (await store.users.add({ username: 'ann', passwordHash: null, admin: false })).id
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const settings = AgentSettings.parse({ instructions: '\u0000\ud800', model: 'm', engine: null, budgets: BUDGETS })
  const answering = () => answeringAgent(store, ann, { settings })
  const take = async (holder: string): Promise<Lease> => {
    const lease = await store.leases.claim(AGENT_QUEUE, holder, { ttlMs: TTL })
    if (lease === undefined) throw new Error('there is no agent to claim')
    return lease
  }

  test('a key is found with its agent’s budgets, its prompt and the lease as they are now', async () => {
    const { agent, lease, prompt } = await answering()
    const record = { ...KEY, agentId: agent.id, ownerId: ann, fence: lease.fence, prompt: 1, createdAt: now }
    expect(await store.modelKeys.addForAgent(lease, { ...KEY, promptId: prompt.id })).toEqual(record)
    const found = { kind: 'agent', key: record, budgets: BUDGETS, status: 'running', aborting: false, leaseExpiresAt: 11_000 }
    expect(await store.modelKeys.find(KEY.hash)).toEqual(found)
    now += 500
    await store.leases.renew(lease, TTL)
    const budgets = AgentBudgets.parse({ all: { microusd: 9 } })
    await store.agents.update(agent.id, { settings: { budgets } })
    expect(await store.modelKeys.find(KEY.hash)).toEqual({ ...found, budgets, leaseExpiresAt: 11_500 })
    await store.prompts.abort(agent.id, { queued: false })
    expect(await store.modelKeys.find(KEY.hash)).toMatchObject({ status: 'running', aborting: true })
    await store.prompts.end(lease, prompt.id, DONE)
    expect(await store.modelKeys.find(KEY.hash)).toMatchObject({ status: 'completed' })
    await store.leases.release(lease, { countClaim: false })
    expect(await store.modelKeys.find(KEY.hash)).toMatchObject({ leaseExpiresAt: null })
    await store.agents.markDeleting(agent.id)
    await store.agents.remove(agent.id)
    expect(await store.modelKeys.find(KEY.hash)).toBeUndefined()
  })

  test('a second key of a prompt takes the place of the first, another prompt has one of its own', async () => {
    const { agent, lease, prompt } = await answering()
    await store.modelKeys.addForAgent(lease, { ...KEY, promptId: prompt.id })
    await store.modelKeys.addForAgent(lease, { ...KEY, promptId: prompt.id })
    await store.modelKeys.addForAgent(lease, { ...KEY, hash: 'b', model: 'large', promptId: prompt.id })
    expect(await store.modelKeys.find(KEY.hash)).toBeUndefined()
    expect(await store.modelKeys.find('b')).toMatchObject({ key: { model: 'large', prompt: 1 } })
    await store.prompts.end(lease, prompt.id, DONE)
    const second = await nextPrompt(store, agent.id, lease)
    await store.modelKeys.addForAgent(lease, { ...KEY, promptId: second.id })
    expect(await store.modelKeys.find(KEY.hash)).toMatchObject({ key: { prompt: 2 }, status: 'running' })
    expect(await store.modelKeys.find('b')).toMatchObject({ key: { prompt: 1 }, status: 'completed' })
  })

  test('there is none for a lease that is lost, nor for a prompt that does not run under it', async () => {
    const { agent, lease, prompt } = await answering()
    const add = (fence: Lease, promptId = prompt.id) => store.modelKeys.addForAgent(fence, { ...KEY, promptId })
    const [other] = [await answeringAgent(store, ann)]
    await expect(add(lease, other.prompt.id)).rejects.toMatchObject({ code: 'conflict' })
    await expect(add(lease, PromptId.parse(`prm_${'0'.repeat(26)}`))).rejects.toMatchObject({ code: 'conflict' })
    now += 2 * TTL
    await expect(add(lease)).rejects.toMatchObject(LOST)
    const taken = [await take('h2'), await take('h2')]
    const next = taken.find(({ key }) => key === agent.id)
    if (next === undefined) throw new Error('the agent was not there to claim')
    await expect(add(lease)).rejects.toMatchObject(LOST)
    // It holds the agent, and has not taken the prompt over.
    await expect(add(next)).rejects.toMatchObject({ code: 'conflict' })
    await store.prompts.next(next)
    expect(await add(next)).toMatchObject({ fence: next.fence, prompt: 1 })
    await store.prompts.abort(agent.id, { queued: false })
    await expect(add(next)).rejects.toMatchObject({ code: 'conflict' })
    await store.prompts.end(next, prompt.id, DONE)
    await expect(add(next)).rejects.toMatchObject({ code: 'conflict' })
    await store.agents.markDeleting(agent.id)
    await expect(add(next)).rejects.toMatchObject(LOST)
    for (const [field, value] of Object.entries({ hash: '', channel: 'a\0', model: 'x'.repeat(1_025) }))
      await expect(store.modelKeys.addForAgent(next, { ...KEY, promptId: prompt.id, [field]: value })).rejects.toMatchObject({
        code: 'invalid_argument',
        field,
      })
  })

  test('keys of leases that are over are forgotten, those of one that holds or may come back are not', async () => {
    const all = [await answering(), await answering(), await answering()] as const
    const { id } = await startedJob(store)
    const claim = await claimNext(store, 'm1', 60_000)
    await store.modelKeys.add(claim, { ...KEY, hash: id, attempt: 1 })
    for (const { lease, prompt, agent } of all)
      await store.modelKeys.addForAgent(lease, { ...KEY, hash: agent.id, promptId: prompt.id })
    const [over, , held] = all
    await store.leases.release(over.lease, { countClaim: true })
    now += TTL - 1
    await store.leases.renew(held.lease, 60_000)
    const left = () =>
      Promise.all([...all.map(({ agent }) => agent.id), id].map(async (hash) => (await store.modelKeys.find(hash)) !== undefined))
    expect(await store.modelKeys.prune(10_000)).toBe(0)
    expect(await store.modelKeys.prune(10_001)).toBe(1)
    expect(await left()).toEqual([false, true, true, true])
    expect(await store.modelKeys.prune(11_001)).toBe(1)
    expect(await left()).toEqual([false, false, true, true])
  })

  test('a row that is of both a job and an agent, or of neither, is no key', async () => {
    const { agent } = await answering()
    const { id } = await startedJob(store)
    const insert = `INSERT INTO model_keys (hash, job_id, claim_id, claim, attempt, agent_id, fence, prompt, channel, model, budget, created_at)
      VALUES ($1, $2, 'c', 1, 1, $3, 1, 1, 'c', 'm', '{}', 0)`
    await expect(execute(url, insert, ['x', id, agent.id])).rejects.toThrow('model_keys_of_one')
    await expect(execute(url, insert, ['x', null, null])).rejects.toThrow('model_keys_of_one')
  })
})

import type { UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { awakeAgent, sampleAgent } from '../../fixture/sample-agent.ts'
import { AGENT_QUEUE, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const MISSING = { code: 'not_found' }

describe.each(ENGINES)('agents of deleted and disabled owners on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let ann: UserId
  let bob: UserId
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    store = await openStore({ url: await host.migratedUrl(), now: () => 1_000 })
    ann = await addUser('ann')
    bob = await addUser('bob')
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const addUser = async (username: string) => (await store.users.add({ username, passwordHash: 'h', admin: false })).id
  const isWaiting = async () => (await store.leases.count(AGENT_QUEUE)).waiting
  const agentsOf = (ownerId: UserId) => store.agents.list({ ownerId, limit: 10 })

  /** One that is awake, one that waits, one that sleeps; each with a token. */
  const fill = async (ownerId: UserId) => {
    const awake = await awakeAgent(store, ownerId)
    const asleep = await store.agents.add(sampleAgent(ownerId))
    const waking = await store.agents.add(sampleAgent(ownerId))
    await store.agents.wake(waking.id)
    const agents = [awake.agent, waking, asleep]
    const tokens = []
    for (const { id } of agents) tokens.push(await store.tokens.add({ hash: id, role: 'agent', name: 'n', agentId: id }))
    return { agents, awake, waking, tokens }
  }

  test('sleep from the commit that disables the owner, their tokens have ended, and none wakes until that is taken back', async () => {
    const { agents, awake, waking, tokens } = await fill(ann)
    const other = await fill(bob)
    const told = await topicsTold(store)
    await store.users.setDisabled(ann, true)
    const changed = [`agent/${awake.agent.id}`, `agent/${waking.id}`, 'agents', `agents/${ann}`]
    const topics = [...changed, ...tokens.map(({ id }) => `token/${id}`), 'tokens', 'users', `user/${ann}`]
    expect(await told(topics.length)).toEqual(topics.toSorted())
    for (const { id } of tokens) expect(await store.tokens.byId(id)).toMatchObject({ revokedAt: 1_000 })
    await expect(store.agents.report(awake.lease, [])).rejects.toMatchObject({ code: 'lease_lost' })
    for (const { id } of agents) {
      expect(await store.agents.held(id)).toEqual({ kind: 'asleep' })
      expect(await store.agents.byId(id)).toMatchObject({ status: 'active' })
      await expect(store.agents.wake(id)).rejects.toMatchObject(MISSING)
      const token = { hash: `new ${id}`, role: 'agent', name: 'n', agentId: id } as const
      await expect(store.tokens.add(token)).rejects.toMatchObject(MISSING)
    }
    for (const { id } of other.tokens) expect(await store.tokens.byId(id)).toMatchObject({ revokedAt: null })
    expect(await store.leases.count(AGENT_QUEUE)).toEqual({ waiting: 1, held: 1 })
    await store.users.setDisabled(ann, false)
    expect(await store.agents.wake(waking.id)).toBe(true)
  })

  test('are marked in the commit that deletes the owner, whatever they were doing; what others have stays', async () => {
    const { agents, tokens } = await fill(ann)
    await fill(bob)
    const told = await topicsTold(store)
    await store.users.delete(ann)
    const changed = [...agents.map(({ id }) => `agent/${id}`), 'agents', `agents/${ann}`]
    const topics = [...changed, ...tokens.map(({ id }) => `token/${id}`), 'tokens', 'users', `user/${ann}`]
    expect(await told(topics.length)).toEqual(topics.toSorted())
    for (const { id } of tokens) expect(await store.tokens.byId(id)).toMatchObject({ revokedAt: 1_000 })
    for (const { id } of agents) {
      expect(await store.agents.byId(id)).toMatchObject({ status: 'deleting', ownerId: ann })
      expect(await store.agents.held(id)).toEqual({ kind: 'asleep' })
      await expect(store.agents.wake(id)).rejects.toMatchObject(MISSING)
    }
    const left = await store.agents.deleting(10)
    expect(left).toEqual(agents.map(({ id }) => id).toSorted())
    expect(await store.agents.deleting(2)).toEqual(left.slice(0, 2))
    for (const id of left) expect(await store.agents.remove(id)).toBe(true)
    expect(await agentsOf(ann)).toEqual([])
    expect((await agentsOf(bob)).map(({ status }) => status)).toEqual(['active', 'active', 'active'])
    expect(await store.leases.count(AGENT_QUEUE)).toEqual({ waiting: 1, held: 1 })
  })

  test('lose their tokens with a new password of the owner, and keep them where the owner’s stay', async () => {
    const { tokens, awake } = await fill(ann)
    await store.users.setPassword(ann, 'new', { keepTokens: true })
    for (const { id } of tokens) expect(await store.tokens.byId(id)).toMatchObject({ revokedAt: null })
    await store.users.setPassword(ann, 'newer')
    for (const { id } of tokens) expect(await store.tokens.byId(id)).toMatchObject({ revokedAt: 1_000 })
    expect(await store.agents.held(awake.agent.id)).toMatchObject({ kind: 'awake' })
  })

  test.each(['disabled', 'deleted'])('nothing slips past an owner who is %s at the same moment', async (how) => {
    for (let round = 0; round < 10; round += 1) {
      const owner = await addUser(`user${round}`)
      const agent = await store.agents.add(sampleAgent(owner))
      const minting = ['a', 'b'].map((end) =>
        store.tokens.add({ hash: `${round}${end}`, role: 'agent', name: 'n', agentId: agent.id }),
      )
      await Promise.allSettled([
        store.agents.wake(agent.id),
        ...minting,
        store.agents.add(sampleAgent(owner)),
        store.agents.markDeleting(agent.id),
        how === 'deleted' ? store.users.delete(owner) : store.users.setDisabled(owner, true),
        store.agents.add(sampleAgent(owner)),
      ])
      for (const end of ['a', 'b']) expect((await store.tokens.byHash(`${round}${end}`))?.revokedAt ?? 1_000).toBe(1_000)
      for (const { status } of await agentsOf(owner)) if (how === 'deleted') expect(status).toBe('deleting')
    }
    expect(await isWaiting()).toBe(0)
  })
})

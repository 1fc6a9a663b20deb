import { AgentId, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { sampleAgent, sampleMount } from '../../fixture/sample-agent.ts'
import { AGENT_QUEUE, LeaseLost, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const NO_AGENT = AgentId.parse(`agt_${'0'.repeat(26)}`)

describe.each(ENGINES)('mounts of agents on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let ann: UserId
  let id: AgentId
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
    ann = (await store.users.add({ username: 'ann', passwordHash: null, admin: false })).id
    id = (await store.agents.add(sampleAgent(ann))).id
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const names = async () => (await store.agents.mounts(id)).map(({ name }) => name)

  test('another secret for a mount is kept under the claim of its agent alone, for the same version, and nothing is told', async () => {
    const { version } = await store.agents.attach(id, sampleMount('web'), 5)
    await store.agents.wake(id)
    const fence = await store.leases.claim(AGENT_QUEUE, 'h1', { ttlMs: 10_000, waitMs: 0 })
    if (fence === undefined) throw new Error('nothing to claim')
    expect(await store.agents.reseal(fence, { name: 'web', version, sealed: 'renewed' })).toBe(true)
    expect(await store.agents.mounts(id)).toMatchObject([
      { name: 'web', version, sealed: 'renewed', shown: sampleMount('web').shown },
    ])
    expect(await store.agents.byId(id)).toMatchObject({ version })
    for (const other of [
      { name: 'web', version: version + 1 },
      { name: 'none', version },
    ])
      expect(await store.agents.reseal(fence, { ...other, sealed: 'late' })).toBe(false)
    await store.agents.sleep(fence)
    await expect(store.agents.reseal(fence, { name: 'web', version, sealed: 'late' })).rejects.toThrow(LeaseLost)
    expect(await store.agents.mounts(id)).toMatchObject([{ sealed: 'renewed' }])
  })

  test('one is attached, replaced and detached, and each is a change of its agent', async () => {
    const told = await topicsTold(store)
    const topics = [`agent/${id}`, 'agents', `agents/${ann}`].toSorted()
    now = 2_000
    const first = await store.agents.attach(id, sampleMount('web'), 5)
    expect(first).toEqual({ agentId: id, ...sampleMount('web'), version: 2, attachedAt: 2_000 })
    expect(await told(3)).toEqual(topics)
    expect(await store.agents.byId(id)).toMatchObject({ mounts: 1, version: 2, updatedAt: 2_000 })
    now = 3_000
    const mount = { ...sampleMount('web', { eager: true }), sealed: 'other', shown: '{"kind":"http"}' }
    const second = await store.agents.attach(id, mount, 5)
    expect(second).toEqual({ agentId: id, ...mount, version: 3, attachedAt: 3_000 })
    expect(await store.agents.mounts(id)).toEqual([second])
    const toldOfEnd = await topicsTold(store)
    expect(await store.agents.detach(id, 'web')).toBe(true)
    expect(await toldOfEnd(3)).toEqual(topics)
    expect(await store.agents.byId(id)).toMatchObject({ mounts: 0, version: 4 })
    expect(await store.agents.detach(id, 'web')).toBe(false)
    expect(await store.agents.detach(NO_AGENT, 'web')).toBe(false)
    expect(await store.agents.byId(id)).toMatchObject({ version: 4 })
    // Whoever missed that it was detached sees all the same that this is another.
    expect((await store.agents.attach(id, mount, 5)).version).toBeGreaterThan(second.version)
    await expect(store.agents.attach(NO_AGENT, mount, 5)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('an agent has so many and no more, however many come at once; one of them can always be replaced', async () => {
    const attaching = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => store.agents.attach(id, sampleMount(name), 3))
    const attached = await Promise.allSettled(attaching)
    for (const each of attached)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'quota_exceeded', bound: 'mounts', limit: 3 })
    const there = await names()
    expect(there).toHaveLength(3)
    await store.agents.attach(id, sampleMount(there[0] ?? ''), 1)
    expect(await names()).toEqual(there)
    expect(await store.agents.byId(id)).toMatchObject({ mounts: 3, version: 5 })
  })

  test('one of them is plain, also when two come at once', async () => {
    const plain = (name: string) => store.agents.attach(id, sampleMount(name, { plain: true }), 5)
    const attached = await Promise.allSettled([plain('a'), plain('b'), plain('c')])
    expect(attached.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of attached) if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'conflict' })
    const [one = ''] = await names()
    // The same one again is no second one, and after it another may be.
    await plain(one)
    await store.agents.attach(id, sampleMount(one), 5)
    await plain('other')
    const other = await store.agents.add(sampleAgent(ann))
    await store.agents.attach(other.id, sampleMount('a', { plain: true }), 5)
  })
})

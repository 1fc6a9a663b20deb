import { AgentId, type MountReport, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { awakeAgent, sampleAgent } from '../../fixture/sample-agent.ts'
import { AGENT_QUEUE, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const NO_AGENT = AgentId.parse(`agt_${'0'.repeat(26)}`)
const TTL = 1_000
const LOST = { code: 'lease_lost' }
const STATE: MountReport = { name: 'web', state: 'failed', tools: 3, restarts: 1, error: 'no \u0000 such \ud800 file' }

describe.each(ENGINES)('agents that are awake on %s', (engine) => {
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

  const claim = (holder: string) => store.leases.claim(AGENT_QUEUE, holder, { ttlMs: TTL })

  test('one sleeps, is woken once, is held by the host that takes it, and sleeps again', async () => {
    const { id } = await store.agents.add(sampleAgent(ann))
    const topics = [`agent/${id}`, 'agents', `agents/${ann}`].toSorted()
    expect(await store.agents.held(id)).toEqual({ kind: 'asleep' })
    const told = await topicsTold(store)
    expect(await store.agents.wake(id)).toBe(true)
    expect(await told(3)).toEqual(topics)
    expect(await store.agents.wake(id)).toBe(false)
    expect(await store.agents.held(id)).toEqual({ kind: 'waking' })
    const lease = await claim('h1')
    if (lease === undefined) throw new Error('nothing to claim')
    expect(await store.agents.held(id)).toEqual({ kind: 'awake', host: 'h1', fence: lease.fence })
    expect(await store.agents.wake(id)).toBe(false)
    const toldOfSleep = await topicsTold(store)
    await store.agents.sleep(lease)
    expect(await toldOfSleep(3)).toEqual(topics)
    expect(await store.agents.held(id)).toEqual({ kind: 'asleep' })
    await expect(store.agents.sleep(lease)).rejects.toMatchObject(LOST)
    await expect(store.agents.wake(NO_AGENT)).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.agents.held(NO_AGENT)).toEqual({ kind: 'asleep' })
  })

  test('a host that waits gets the one that is woken, and lanes are those of the owners', async () => {
    const bob = (await store.users.add({ username: 'bob', passwordHash: null, admin: false })).id
    const waiting = store.leases.claim(AGENT_QUEUE, 'h1', { ttlMs: TTL, waitMs: 60_000 })
    const first = await store.agents.add(sampleAgent(ann))
    await store.agents.wake(first.id)
    expect(await waiting).toMatchObject({ key: first.id, holder: 'h1' })
    const more = [await store.agents.add(sampleAgent(ann)), await store.agents.add(sampleAgent(ann))]
    const other = await store.agents.add(sampleAgent(bob))
    for (const { id } of [...more, other]) await store.agents.wake(id)
    const next = await store.leases.claim(AGENT_QUEUE, 'h1', { ttlMs: TTL, without: [ann] })
    expect(next).toMatchObject({ key: other.id })
  })

  test('one that its host was silent about waits for the next, and what the dead one says late does not count', async () => {
    const { agent, lease } = await awakeAgent(store, ann)
    await store.agents.report(lease, [STATE])
    now += TTL
    expect(await store.agents.held(agent.id)).toEqual({ kind: 'waking' })
    expect(await store.agents.byId(agent.id)).toMatchObject({ reported: [] })
    expect(await store.agents.wake(agent.id)).toBe(false)
    for (const isTaken of [false, true]) {
      if (isTaken) expect(await claim('h2')).toMatchObject({ key: agent.id })
      await expect(store.agents.report(lease, [])).rejects.toMatchObject(LOST)
      await expect(store.agents.listen(lease, 'file:///a', 5)).rejects.toMatchObject(LOST)
      await expect(store.agents.unlisten(lease, 'file:///a')).rejects.toMatchObject(LOST)
      await expect(store.agents.sleep(lease)).rejects.toMatchObject(LOST)
    }
    expect(await store.agents.held(agent.id)).toMatchObject({ kind: 'awake', host: 'h2' })
    expect(await store.agents.byId(agent.id)).toMatchObject({ reported: [] })
    expect(await store.agents.subscriptions(agent.id)).toEqual([])
  })

  test('a fence of another queue, or one that nobody was given, holds no agent', async () => {
    const { agent, lease } = await awakeAgent(store, ann)
    await store.leases.offer('other', agent.id)
    const other = await store.leases.claim('other', 'h1', { ttlMs: TTL })
    if (other === undefined) throw new Error('nothing to claim')
    const wrong = [other, { ...other, queue: AGENT_QUEUE }, { ...lease, fence: lease.fence + 1 }, { ...lease, key: NO_AGENT }]
    for (const fence of [...wrong, { ...lease, fence: 9_999_999_999_999_998 }, { ...lease, fence: 0 }])
      await expect(store.agents.report(fence, [])).rejects.toMatchObject(LOST)
    await store.agents.report(lease, [])
  })

  test('what a host reports is told, and shown while it holds the agent', async () => {
    const { agent, lease } = await awakeAgent(store, ann)
    const told = await topicsTold(store)
    await store.agents.report(lease, [STATE])
    expect(await told(1)).toEqual([`agent/${agent.id}`])
    // A report is no change: its host would be told of its own words.
    expect(await store.agents.byId(agent.id)).toEqual({ ...agent, reported: [STATE] })
    expect(await store.agents.list({ limit: 5 })).toMatchObject([{ reported: [STATE] }])
    await store.agents.report(lease, [STATE])
    await store.topics.publish('after')
    expect(await told(1)).toEqual(['after'])
    const many = Array.from({ length: 33 }, () => STATE)
    await expect(store.agents.report(lease, many)).rejects.toMatchObject({ code: 'invalid_argument', field: 'mounts' })
    await store.leases.renew(lease, TTL)
    expect(await store.agents.byId(agent.id)).toMatchObject({ reported: [STATE] })
    await store.leases.release(lease)
    expect(await store.agents.byId(agent.id)).toMatchObject({ reported: [] })
    const next = await claim('h2')
    if (next === undefined) throw new Error('nothing to claim')
    expect(await store.agents.byId(agent.id)).toMatchObject({ reported: [] })
    await store.agents.report(next, [STATE])
    await store.agents.sleep(next)
    await store.agents.wake(agent.id)
    await claim('h3')
    expect(await store.agents.byId(agent.id)).toEqual(agent)
  })

  test('what it listens to stays while it sleeps, once each and up to a bound, however many come at once', async () => {
    const { agent, lease } = await awakeAgent(store, ann)
    const long = `file:///${'ä'.repeat(4_000)}`
    await store.agents.listen(lease, long, 3)
    await store.agents.listen(lease, long, 1)
    const uris = ['b', 'c', 'd', 'e']
    const listening = await Promise.allSettled(uris.map((uri) => store.agents.listen(lease, uri, 3)))
    for (const each of listening)
      if (each.status === 'rejected')
        expect(each.reason).toMatchObject({ code: 'quota_exceeded', bound: 'subscriptions', limit: 3 })
    const kept = await store.agents.subscriptions(agent.id)
    expect(kept).toHaveLength(3)
    await store.agents.sleep(lease)
    expect(await store.agents.subscriptions(agent.id)).toEqual(kept)
    await store.agents.wake(agent.id)
    const next = await claim('h2')
    if (next === undefined) throw new Error('nothing to claim')
    for (const uri of kept) await store.agents.unlisten(next, uri)
    await store.agents.unlisten(next, 'none')
    expect(await store.agents.subscriptions(agent.id)).toEqual([])
    await expect(store.agents.listen(next, '', 3)).rejects.toMatchObject({ field: 'uri' })
  })

  test('whoever wakes, sleeps and deletes at once leaves it as one of the orders would', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { agent, lease } = await awakeAgent(store, ann, { maxAgents: 100 })
      const [woken, slept] = await Promise.allSettled([
        store.agents.wake(agent.id),
        store.agents.sleep(lease),
        store.agents.report(lease, [STATE]),
      ])
      expect(slept.status).toBe('fulfilled')
      // It was woken after it slept, or there while it still was awake.
      const isWaking = woken.status === 'fulfilled' && woken.value
      expect(await store.agents.held(agent.id)).toEqual({ kind: isWaking ? 'waking' : 'asleep' })
      await Promise.allSettled([
        store.agents.wake(agent.id),
        store.agents.markDeleting(agent.id),
        store.agents.wake(agent.id),
        store.agents.markDeleting(agent.id),
      ])
      expect(await store.agents.held(agent.id)).toEqual({ kind: 'asleep' })
    }
    expect(await store.leases.count(AGENT_QUEUE)).toEqual({ waiting: 0, held: 0 })
  })

  test('of many who wake it at once one does', async () => {
    const { id } = await store.agents.add(sampleAgent(ann))
    const woken = await Promise.all(Array.from({ length: 8 }, () => store.agents.wake(id)))
    expect(woken.filter(Boolean)).toHaveLength(1)
    expect(await store.leases.count(AGENT_QUEUE)).toEqual({ waiting: 1, held: 0 })
  })
})

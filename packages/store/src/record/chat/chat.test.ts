import { AgentId, CHAT_LIMITS, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { awakeAgent, sampleAgent } from '../../fixture/sample-agent.ts'
import { AGENT_QUEUE, type Store, chatTopic, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'
import { execute } from '../../testing/execute.ts'

const NO_AGENT = AgentId.parse(`agt_${'0'.repeat(26)}`)

describe.each(ENGINES)('chats on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let url: string
  let ann: UserId
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
    ann = (await store.users.add({ username: 'ann', passwordHash: null, admin: false })).id
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const textsAfter = async (id: AgentId, after?: number, limit = 10) => {
    const { messages, head } = await store.chats.read(id, { limit, ...(after === undefined ? {} : { after }) })
    return [messages.map(({ number, text }) => `${number} ${text}`), head]
  }

  test('what people and the agent say stands in one order, for whoever reads from any place', async () => {
    const { agent, lease } = await awakeAgent(store, ann)
    expect(await textsAfter(agent.id)).toEqual([[], 0])
    const told = await topicsTold(store)
    const first = await store.chats.post(agent.id, { text: 'hello \u0000\ud800', by: 'ann' })
    expect(await told(1)).toEqual([chatTopic(agent.id)])
    expect(first).toEqual({
      agentId: agent.id,
      number: 1,
      from: 'person',
      by: 'ann',
      text: 'hello \u0000\ud800',
      createdAt: 1_000,
    })
    now += 1
    expect(await store.chats.postAsAgent(lease, { text: 'yes?', by: 'helper' })).toMatchObject({ number: 2, from: 'agent' })
    await store.chats.post(agent.id, { text: 'go', by: 'bob' })
    expect(await textsAfter(agent.id, 1)).toEqual([['2 yes?', '3 go'], 3])
    expect(await textsAfter(agent.id, 0, 1)).toEqual([['1 hello \u0000\ud800'], 3])
    expect(await textsAfter(agent.id, undefined, 2)).toEqual([['2 yes?', '3 go'], 3])
    expect(await textsAfter(agent.id, 3)).toEqual([[], 3])
    expect(await textsAfter(agent.id, 99)).toEqual([[], 3])
    const other = await store.agents.add(sampleAgent(ann))
    expect(await textsAfter(other.id)).toEqual([[], 0])
  })

  test('many at once have numbers without a gap, and the same key of the same author is one message', async () => {
    const { id } = await store.agents.add(sampleAgent(ann))
    const posted = await Promise.all(
      Array.from({ length: 8 }, (_, index) => store.chats.post(id, { text: `${index}`, by: 'ann', key: `k${index % 4}` })),
    )
    expect(new Set(posted.map(({ number }) => number))).toEqual(new Set([1, 2, 3, 4]))
    // The first words count.
    const again = await store.chats.post(id, { text: 'other words', by: 'ann', key: 'k0' })
    expect(posted.map(({ text }) => text)).toContain(again.text)
    expect(await store.chats.post(id, { text: 'mine', by: 'bob', key: 'k0' })).toMatchObject({ number: 5 })
    expect((await store.chats.read(id, { limit: 10 })).head).toBe(5)
  })

  test('fault 20: each reader has a place of its own, which never goes back nor beyond what there is', async () => {
    const { id } = await store.agents.add(sampleAgent(ann))
    for (const text of ['one', 'two']) await store.chats.post(id, { text, by: 'ann' })
    expect(await store.chats.mark(id, 'ann/laptop', 1)).toEqual({ reader: 'ann/laptop', readTo: 1, updatedAt: 1_000 })
    now += 1
    expect(await store.chats.mark(id, 'ann/phone', 9)).toMatchObject({ readTo: 2, updatedAt: 1_001 })
    expect(await store.chats.mark(id, 'ann/phone', 1)).toMatchObject({ readTo: 2, updatedAt: 1_001 })
    expect((await store.chats.markers(id)).map(({ reader, readTo }) => [reader, readTo])).toEqual([
      ['ann/phone', 2],
      ['ann/laptop', 1],
    ])
    // Reading marks nothing.
    await store.chats.read(id, { limit: 10 })
    expect(await store.chats.mark(id, 'ann/laptop', 0)).toMatchObject({ readTo: 1 })
  })

  test('so many messages and readers are kept, the newest', async () => {
    const { id } = await store.agents.add(sampleAgent(ann))
    await store.chats.post(id, { text: 'old', by: 'ann' })
    // As if as many had been said as are kept.
    await execute(url, `UPDATE chat_messages SET number = ${CHAT_LIMITS.kept}`, [])
    await store.chats.mark(id, 'first', 1)
    for (let index = 0; index < CHAT_LIMITS.markers; index++) {
      now += 1
      await store.chats.mark(id, `r${index}`, 1)
    }
    const readers = (await store.chats.markers(id)).map(({ reader }) => reader)
    expect(readers).toHaveLength(CHAT_LIMITS.markers)
    expect(readers).not.toContain('first')
    await store.chats.post(id, { text: 'new', by: 'ann' })
    expect(await textsAfter(id, 0)).toEqual([[`${CHAT_LIMITS.kept} old`, `${CHAT_LIMITS.kept + 1} new`], CHAT_LIMITS.kept + 1])
    await execute(url, `UPDATE chat_messages SET number = 1 WHERE number = ${CHAT_LIMITS.kept}`, [])
    await store.chats.post(id, { text: 'newer', by: 'ann' })
    expect((await textsAfter(id, 0))[0]).toEqual([`${CHAT_LIMITS.kept + 1} new`, `${CHAT_LIMITS.kept + 2} newer`])
  })

  test('an agent that is gone, or a host that holds it no more, says nothing', async () => {
    const { agent, lease } = await awakeAgent(store, ann, { ttlMs: 10 })
    const say = { text: 'x', by: 'ann' }
    await expect(store.chats.post(NO_AGENT, say)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.chats.mark(NO_AGENT, 'r', 1)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.chats.post(agent.id, { text: '', by: 'ann' })).rejects.toMatchObject({ field: 'text' })
    now += 20
    const next = await store.leases.claim(AGENT_QUEUE, 'h2', { ttlMs: 1_000 })
    await expect(store.chats.postAsAgent(lease, say)).rejects.toMatchObject({ code: 'lease_lost' })
    if (next === undefined) throw new Error('nobody can take it over')
    expect(await store.chats.postAsAgent(next, say)).toMatchObject({ number: 1 })
    await store.agents.markDeleting(agent.id)
    await expect(store.chats.post(agent.id, say)).rejects.toMatchObject({ code: 'not_found' })
    await store.agents.remove(agent.id)
    expect(await store.chats.read(agent.id, { limit: 1 })).toEqual({ messages: [], head: 0 })
  })
})

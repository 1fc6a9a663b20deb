import { type AgentId, CHAT_LIMITS, type UserId, WakeRules } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { awakeAgent, sampleAgent } from '../../fixture/sample-agent.ts'
import { AGENT_QUEUE, type Lease, type Store, newsTopic, openStore, transcriptLog } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'
import { execute } from '../../testing/execute.ts'

const TTL = 1_000
const ALL = { maxItems: 100, maxChars: 1_000_000 }
const BOUNDS = { maxQueued: 10, maxKept: 10 }
const DONE = { status: 'completed', code: null, message: '' } as const
const LOST = { code: 'lease_lost' }
const PAGE = 'demo://page'

describe.each(ENGINES)('news on %s', (engine) => {
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

  const say = (id: AgentId, text: string, on = store) => on.chats.post(id, { text, by: 'ann' })
  const prompts = async (id: AgentId) =>
    (await store.prompts.list(id, { limit: 20 })).map(({ status, wokenBy }) => `${status} ${wokenBy ?? 'told'}`)
  /** A local agent that a host holds and that rests, with what it listens to. */
  const resting = async (wake: object = {}) => {
    const { settings } = sampleAgent(ann)
    const { agent, lease } = await awakeAgent(store, ann, {
      kind: 'local',
      settings: { ...settings, wake: WakeRules.parse(wake) },
      ttlMs: 1_000_000,
    })
    await store.agents.listen(lease, PAGE, 5, 'v0')
    return { id: agent.id, lease }
  }
  /** The turn that waits begins; `yields`: it ends with that. */
  const turn = async (lease: Lease, yields?: Parameters<Store['news']['yield']>[2]) => {
    const next = await store.prompts.next(lease)
    if (next === undefined) throw new Error('there is no turn to take')
    if (yields !== undefined) await store.news.yield(lease, next.prompt.id, yields)
    return { prompt: next.prompt, end: () => store.prompts.end(lease, next.prompt.id, DONE) }
  }
  const told = async (id: AgentId) => store.prompts.add(id, { text: 'go', by: 'ann' }, BOUNDS)
  /** What is pending, and all of it heard with the next line of the transcript. */
  const hear = async (lease: Lease) => {
    const page = await store.news.pending(lease, ALL)
    const { offset } = await store.logs.end(transcriptLog(lease.key as AgentId))
    await store.news.hear(lease, [Buffer.from('line\n')], { offset, heard: page.heard })
    return page.items.map((item) => (item.kind === 'chat' ? item.text : `${item.kind} ${item.subject} ${item.text}`))
  }

  test('fault 16: a message wakes an agent that rests, asleep or not, once, and it is told until it was heard', async () => {
    const { id } = await store.agents.add(sampleAgent(ann, { kind: 'local' }))
    const heard = await topicsTold(store)
    await say(id, 'one')
    expect(await heard(5)).toContain(newsTopic(id))
    expect(await store.agents.held(id)).toEqual({ kind: 'waking' })
    await say(id, 'two')
    expect(await prompts(id)).toEqual(['queued chat'])
    const lease = await store.leases.claim(AGENT_QUEUE, 'h1', { ttlMs: TTL })
    if (lease === undefined) throw new Error('nothing to claim')
    const { prompt, end } = await turn(lease)
    expect(prompt).toMatchObject({ text: 'woken by the chat', by: 'parley', wokenBy: 'chat', number: 1 })
    expect(await store.news.pending(lease, ALL)).toMatchObject({
      items: [
        { kind: 'chat', id: 1, text: 'one', by: 'ann' },
        { kind: 'chat', id: 2, text: 'two' },
      ],
      heard: { news: 0, chat: 2 },
    })
    // The turn failed before it told the model anything: it is told with the next one, which it does not begin.
    await end()
    expect(await prompts(id)).toEqual(['completed chat'])
    await told(id)
    await store.prompts.next(lease)
    expect(await hear(lease)).toEqual(['one', 'two'])
    expect(await hear(lease)).toEqual([])
  })

  test('what comes while a turn goes on begins the next one unless it was heard', async () => {
    const { id, lease } = await resting()
    await told(id)
    const first = await turn(lease)
    await say(id, 'heard')
    await store.chats.postAsAgent(lease, { text: 'mine', by: 'helper' })
    expect(await hear(lease)).toEqual(['heard'])
    await first.end()
    expect(await prompts(id)).toEqual(['completed told'])
    await told(id)
    const second = await turn(lease)
    await say(id, 'late')
    await second.end()
    expect(await prompts(id)).toEqual(['queued chat', 'completed told', 'completed told'])
  })

  test('a change of what it listens to is news once for each content, folded, and nothing else is', async () => {
    const { id, lease } = await resting({ resources: false })
    expect(await store.news.changed(lease, PAGE, { digest: 'v0' })).toBe(false)
    expect(await store.news.changed(lease, 'demo://other', { digest: 'v1' })).toBe(false)
    expect(await store.news.changed(lease, PAGE, { digest: 'v1' })).toBe(true)
    expect(await store.news.changed(lease, PAGE, { digest: 'v1' })).toBe(false)
    expect(await store.news.changed(lease, PAGE, { digest: 'v1', isCertain: true })).toBe(true)
    now += 5
    expect(await store.news.changed(lease, PAGE, { digest: 'v2' })).toBe(true)
    expect((await store.news.pending(lease, ALL)).items).toEqual([
      { kind: 'resource', subject: PAGE, at: new Date(1_005).toISOString(), text: '' },
    ])
    // What cannot be known is a change where its server says so; else a server that ends again and again would tell of one each time.
    expect([
      await store.news.changed(lease, PAGE, { digest: null }),
      await store.news.changed(lease, PAGE, { digest: null, isCertain: true }),
      await store.news.changed(lease, PAGE, { digest: null }),
    ]).toEqual([false, true, false])
    expect(await prompts(id)).toEqual([])
    await store.agents.update(id, { settings: { wake: WakeRules.parse({}) } })
    expect(await prompts(id)).toEqual(['queued resource'])
  })

  test('resources wake it at most so often, and what came too early wakes it when that time is over', async () => {
    const { id, lease } = await resting({ every_s: 60 })
    await store.news.changed(lease, PAGE, { digest: 'v1' })
    const { end } = await turn(lease)
    expect(await hear(lease)).toEqual([`resource ${PAGE} `])
    await end()
    now += 10_000
    await store.news.changed(lease, PAGE, { digest: 'v2' })
    expect(await prompts(id)).toEqual(['completed resource'])
    expect(await store.news.wakeDue(10)).toBe(0)
    now += 50_000
    expect(await store.news.wakeDue(10)).toBe(1)
    expect(await store.news.wakeDue(10)).toBe(0)
    expect(await prompts(id)).toEqual(['queued resource', 'completed resource'])
  })

  test('fault 16: an agent that yields rests for what it asked for, until a turn begins', async () => {
    const { id, lease } = await resting()
    await told(id)
    const { end } = await turn(lease, { wake_on: ['resources'], resources: ['demo://other'], after_s: 60, say: 'look \u0000' })
    await end()
    const rest = { wake_on: ['resources'], resources: ['demo://other'], at: 61_000, say: 'look \u0000' }
    expect(await store.news.rest(id)).toEqual(rest)
    await say(id, 'hello')
    await store.news.changed(lease, PAGE, { digest: 'v1' })
    expect(await prompts(id)).toEqual(['completed told'])
    now += 60_000
    expect(await store.news.wakeDue(10)).toBe(1)
    expect(await prompts(id)).toEqual(['queued timer', 'completed told'])
    const woken = await turn(lease)
    expect(await store.news.rest(id)).toBeUndefined()
    expect(await hear(lease)).toEqual(['hello', `resource ${PAGE} `, 'timer timer look \u0000'])
    await woken.end()
    expect(await prompts(id)).toEqual(['completed timer', 'completed told'])
    expect(await store.news.wakeDue(10)).toBe(0)
  })

  test('a time that comes while the turn goes on wakes it at the end of that, and a prompt ends the rest before', async () => {
    const { id, lease } = await resting()
    await told(id)
    const first = await turn(lease, { after_s: 1 })
    now += 5_000
    expect(await store.news.wakeDue(10)).toBe(0)
    await first.end()
    expect(await prompts(id)).toEqual(['queued timer', 'completed told'])
    const second = await turn(lease, { after_s: 1 })
    await second.end()
    await told(id)
    const third = await turn(lease)
    now += 5_000
    await third.end()
    expect(await store.news.wakeDue(10)).toBe(0)
    expect((await prompts(id))[0]).toBe('completed told')
  })

  test('only the turn that runs under the claim is ended so, and the next host is told', async () => {
    const { id, lease } = await resting()
    const { id: waiting } = await told(id)
    await expect(store.news.yield(lease, waiting, {})).rejects.toMatchObject({ code: 'conflict' })
    const { prompt } = await turn(lease, {})
    expect(await store.news.hasYielded(id, prompt.id)).toBe(true)
    await store.leases.release(lease)
    const next = await store.leases.claim(AGENT_QUEUE, 'h2', { ttlMs: TTL })
    if (next === undefined) throw new Error('nothing to claim')
    await expect(store.news.yield(lease, prompt.id, {})).rejects.toMatchObject(LOST)
    await expect(store.news.yield(next, prompt.id, {})).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.prompts.next(next)).toMatchObject({ resumed: true })
    expect(await store.news.hasYielded(id, prompt.id)).toBe(true)
    await store.prompts.end(next, prompt.id, DONE)
    expect(await store.news.rest(id)).toEqual({ wake_on: null, resources: null, at: null, say: null })
  })

  test('fault 18: it is heard with the lines that say so or not at all, and never un-heard', async () => {
    const { id, lease } = await resting()
    await told(id)
    await store.prompts.next(lease)
    for (const text of ['one', 'two']) await say(id, text)
    await store.news.changed(lease, PAGE, { digest: 'v1' })
    const { heard } = await store.news.pending(lease, ALL)
    const line = [Buffer.from('line\n')]
    expect(await store.news.hear(lease, line, { offset: 9, heard })).toMatchObject({ kind: 'mismatch' })
    await expect(store.news.hear({ ...lease, fence: lease.fence + 1 }, line, { offset: 0, heard })).rejects.toMatchObject(LOST)
    expect((await store.news.pending(lease, ALL)).items).toHaveLength(3)
    expect(await store.news.hear(lease, line, { offset: 0, heard })).toMatchObject({ kind: 'appended', offset: 5 })
    expect((await store.news.pending(lease, ALL)).items).toEqual([])
    // A resend is recognised, and what was said since is not heard with it; nor with one that claims too much.
    await say(id, 'three')
    expect(await store.news.hear(lease, line, { offset: 0, heard: { news: 9, chat: 9 } })).toMatchObject({ kind: 'repeated' })
    expect(await store.news.hear(lease, line, { offset: 5, heard: { news: 0, chat: 1 } })).toMatchObject({ kind: 'appended' })
    expect((await store.news.pending(lease, ALL)).items).toMatchObject([{ text: 'three' }])
    expect(await store.news.hear(lease, line, { offset: 10, heard: { news: 99, chat: 99 } })).toMatchObject({ kind: 'appended' })
    await say(id, 'four')
    expect((await store.news.pending(lease, ALL)).items).toMatchObject([{ text: 'four' }])
  })

  test('what does not fit comes with the next request, in order', async () => {
    const { id, lease } = await resting({ chat: false, resources: false })
    for (const text of ['one', 'two']) await say(id, text)
    await store.news.changed(lease, PAGE, { digest: 'v1' })
    await say(id, 'three')
    expect(await store.news.pending(lease, { maxItems: 2, maxChars: 10_000 })).toMatchObject({
      items: [{ text: 'one' }, { text: 'two' }],
      heard: { news: 0, chat: 2 },
    })
    expect((await store.news.pending(lease, { maxItems: 9, maxChars: 400 })).heard).toMatchObject({ chat: 2 })
    expect((await store.news.pending(lease, { maxItems: 9, maxChars: 1 })).items).toMatchObject([{ text: 'one' }])
    await store.news.hear(lease, [Buffer.from('line\n')], { offset: 0, heard: { news: 0, chat: 2 } })
    expect(await hear(lease)).toEqual(['three', `resource ${PAGE} `])
  })

  test('what quoting adds counts, too', async () => {
    const { id, lease } = await resting()
    for (let count = 0; count < 3; count += 1) await say(id, '\n'.repeat(1_000))
    expect((await store.news.pending(lease, { maxItems: 9, maxChars: 20_000 })).items).toHaveLength(2)
  })

  test('somebody who ends what an agent does ends what it waits for, at rest and in a turn', async () => {
    const { id, lease } = await resting()
    await told(id)
    const first = await turn(lease, { after_s: 1 })
    await first.end()
    expect(await store.prompts.abort(id, { queued: false })).toEqual({ aborting: null, withdrawn: 0, restEnded: true })
    expect(await store.prompts.abort(id, { queued: false })).toMatchObject({ restEnded: false })
    expect(await store.news.rest(id)).toBeUndefined()
    await told(id)
    const second = await turn(lease, { after_s: 1 })
    await store.prompts.end(lease, second.prompt.id, { status: 'interrupted', code: null, message: '' })
    now += 5_000
    expect(await store.news.wakeDue(10)).toBe(0)
    expect((await prompts(id))[0]).toBe('interrupted told')
  })

  test('one time after the other comes no oftener than a resource may wake it', async () => {
    const { id, lease } = await resting({ every_s: 60 })
    await told(id)
    await (await turn(lease, { after_s: 1 })).end()
    now += 1_000
    expect(await store.news.wakeDue(10)).toBe(1)
    const { end } = await turn(lease, { after_s: 1 })
    await hear(lease)
    await end()
    now += 59_000
    expect(await store.news.wakeDue(10)).toBe(0)
    now += 1_000
    expect(await store.news.wakeDue(10)).toBe(1)
  })

  test('what a person said waits to be told, however much the agent says', async () => {
    const { id, lease } = await resting({ chat: false })
    await say(id, 'first')
    await execute(url, `UPDATE chat_messages SET number = 2`, [])
    await store.chats.postAsAgent(lease, { text: 'mine', by: 'helper' })
    await execute(url, `UPDATE chat_messages SET number = ${CHAT_LIMITS.kept + 2} WHERE said_from = 'agent'`, [])
    await store.chats.postAsAgent(lease, { text: 'mine', by: 'helper' })
    expect(await hear(lease)).toEqual(['first'])
    await store.chats.postAsAgent(lease, { text: 'mine', by: 'helper' })
    expect((await store.chats.read(id, { after: 0, limit: 10 })).messages.map(({ text }) => text)).toEqual([
      'mine',
      'mine',
      'mine',
    ])
  })

  test('nobody wakes an external agent, one of a disabled owner or one that is gone, and a fork begins without news', async () => {
    const external = await awakeAgent(store, ann)
    await say(external.agent.id, 'hello')
    await store.news.add(external.lease, { kind: 'call', subject: 'c1', text: 'returned' })
    expect(await prompts(external.agent.id)).toEqual([])
    expect((await store.news.pending(external.lease, ALL)).items).toMatchObject([{ kind: 'chat' }])
    const { id, lease } = await resting({ chat: false })
    await told(id)
    const { end } = await turn(lease, { after_s: 1 })
    await end()
    await say(id, 'hello')
    const { id: forked } = await store.agents.add(sampleAgent(ann, { kind: 'local', knows: { agentId: id, offset: 0 } }))
    await store.agents.wake(forked)
    const held = await store.leases.claim(AGENT_QUEUE, 'h1', { ttlMs: TTL })
    if (held?.key !== forked) throw new Error('another one was claimed')
    expect((await store.news.pending(held, ALL)).items).toEqual([])
    now += 2_000
    await store.users.setDisabled(ann, true)
    expect(await store.news.wakeDue(10)).toBe(0)
    await expect(store.news.add(lease, { kind: 'call', subject: 'c1', text: '' })).rejects.toMatchObject(LOST)
    await store.users.setDisabled(ann, false)
    await store.agents.markDeleting(id)
    expect(await store.news.wakeDue(10)).toBe(0)
    await store.agents.remove(id)
    expect(await store.news.rest(id)).toBeUndefined()
  })

  test('many at once, over two stores where there may be, wake it once', async () => {
    const { id, lease } = await resting()
    const other = engine === 'postgres' ? await openStore({ url, now: () => now }) : store
    const both = [store, other]
    await told(id)
    const { end } = await turn(lease, { after_s: 1 })
    await end()
    now += 1_000
    await Promise.all([
      ...both.flatMap((each) => Array.from({ length: 5 }, (_item, index) => say(id, `${index}`, each))),
      ...both.map((each) => each.news.wakeDue(10)),
      ...both.map((each, index) => each.news.add(lease, { kind: 'call', subject: `c${index}`, text: 'returned' })),
      ...both.map((each) => each.news.changed(lease, PAGE, { digest: 'v1' })),
    ])
    const woken = (await prompts(id)).filter((word) => word.startsWith('queued'))
    expect(woken).toHaveLength(1)
    // The timer may have come second: then it is news of the same turn, or due at its end.
    const items = (await store.news.pending(lease, ALL)).items.map(({ kind }) => kind)
    expect(items.filter((kind) => kind === 'chat')).toHaveLength(10)
    expect(items.filter((kind) => kind === 'call')).toHaveLength(2)
    expect(items.filter((kind) => kind === 'resource')).toHaveLength(1)
    if (other !== store) await other.close()
  })

  test('two gateways over one database look at the same time, and a timer is told once', async () => {
    const other = engine === 'postgres' ? await openStore({ url, now: () => now }) : store
    for (let round = 0; round < 5; round += 1) {
      const { id, lease } = await resting()
      await told(id)
      const { end } = await turn(lease, { after_s: 1, say: `${round}` })
      await end()
      now += 1_000
      await Promise.all([store.news.wakeDue(10), other.news.wakeDue(10), store.news.wakeDue(10)])
      expect(await prompts(id)).toEqual(['queued timer', 'completed told'])
      await store.prompts.next(lease)
      expect(await hear(lease)).toEqual([`timer timer ${round}`])
    }
    if (other !== store) await other.close()
  })
})

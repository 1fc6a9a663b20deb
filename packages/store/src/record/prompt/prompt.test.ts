import { AgentId, PromptId, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { awakeAgent, sampleAgent } from '../../fixture/sample-agent.ts'
import { AGENT_QUEUE, type Lease, type Store, openStore, transcriptLog } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const TTL = 1_000
const BOUNDS = { maxQueued: 3, maxKept: 2 }
const LOST = { code: 'lease_lost' }
const NO_AGENT = AgentId.parse(`agt_${'0'.repeat(26)}`)
const NO_PROMPT = PromptId.parse(`prm_${'0'.repeat(26)}`)
const DONE = { status: 'completed', code: null, message: 'done \u0000\ud800' } as const

describe.each(ENGINES)('prompts on %s', (engine) => {
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

  const local = () => store.agents.add(sampleAgent(ann, { kind: 'local' }))
  const tell = (id: AgentId, text: string) => store.prompts.add(id, { text, by: 'ann' }, BOUNDS)
  const claim = async (holder = 'h1'): Promise<Lease> => {
    const lease = await store.leases.claim(AGENT_QUEUE, holder, { ttlMs: TTL })
    if (lease === undefined) throw new Error('nothing to claim')
    return lease
  }

  test('one wakes its agent, is answered, and the next follows it in order', async () => {
    const { id } = await local()
    const told = await topicsTold(store)
    const first = await tell(id, 'one \u0000\ud800')
    expect(await told(3)).toEqual(['agents', `agent/${id}`, `agents/${ann}`].toSorted())
    const second = await tell(id, 'two')
    expect([first, second]).toMatchObject([
      { number: 1, status: 'queued', text: 'one \u0000\ud800', by: 'ann', startedAt: null },
      { number: 2, status: 'queued' },
    ])
    expect(await store.prompts.open(id)).toEqual({ running: undefined, queued: 2 })
    const lease = await claim()
    now += 5
    expect(await store.prompts.next(lease)).toEqual({
      prompt: { ...first, status: 'running', startedAt: 1_005 },
      resumed: false,
    })
    // Asked again it is the same one: the answer may have been lost.
    expect(await store.prompts.next(lease)).toMatchObject({ prompt: { id: first.id }, resumed: false })
    expect(await store.prompts.open(id)).toMatchObject({ running: { id: first.id }, queued: 1 })
    const ended = {
      ...first,
      status: 'completed',
      startedAt: 1_005,
      endedAt: 1_005,
      outcome: { code: null, message: DONE.message },
    }
    expect(await store.prompts.end(lease, first.id, DONE)).toEqual(ended)
    expect(await store.prompts.end(lease, first.id, DONE)).toEqual(ended)
    await expect(store.prompts.end(lease, first.id, { ...DONE, status: 'failed' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(store.prompts.end(lease, second.id, DONE)).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.prompts.next(lease)).toMatchObject({ prompt: { id: second.id }, resumed: false })
    await store.prompts.end(lease, second.id, { status: 'failed', code: 'model_timeout', message: 'silent' })
    expect(await store.prompts.next(lease)).toBeUndefined()
    expect((await store.prompts.list(id, { limit: 10 })).map(({ number, status }) => [number, status])).toEqual([
      [2, 'failed'],
      [1, 'completed'],
    ])
    expect(await store.prompts.list(id, { before: 2, limit: 10 })).toHaveLength(1)
  })

  test('one that its host left is gone on with by the next, and what the dead one says late does not count', async () => {
    const { id } = await local()
    const { id: prompt } = await tell(id, 'one')
    const dead = await claim()
    await store.prompts.next(dead)
    now += TTL
    const lease = await claim('h2')
    await expect(store.prompts.next(dead)).rejects.toMatchObject(LOST)
    await expect(store.prompts.end(dead, prompt, DONE)).rejects.toMatchObject(LOST)
    expect(await store.prompts.next(lease)).toMatchObject({ prompt: { id: prompt, status: 'running' }, resumed: true })
    expect(await store.prompts.next(lease)).toMatchObject({ prompt: { id: prompt }, resumed: false })
    expect(await store.prompts.end(lease, prompt, DONE)).toMatchObject({ status: 'completed' })
  })

  test('an agent that was told something does not fall asleep over it', async () => {
    const { agent, lease } = await awakeAgent(store, ann, { kind: 'local' })
    const { id: prompt } = await tell(agent.id, 'one')
    await store.agents.sleep(lease)
    expect(await store.agents.held(agent.id)).toEqual({ kind: 'waking' })
    const next = await claim('h2')
    expect(await store.prompts.next(next)).toMatchObject({ prompt: { id: prompt }, resumed: false })
    await store.prompts.end(next, prompt, DONE)
    await store.agents.sleep(next)
    expect(await store.agents.held(agent.id)).toEqual({ kind: 'asleep' })
  })

  test('an abort is asked of the one that runs, and takes back the rest where that is wanted', async () => {
    const { id } = await local()
    expect(await store.prompts.abort(id, { queued: true })).toEqual({ aborting: null, withdrawn: 0, restEnded: false })
    const first = await tell(id, 'one')
    await tell(id, 'two')
    const lease = await claim()
    await store.prompts.next(lease)
    now += 1
    const told = await topicsTold(store)
    expect(await store.prompts.abort(id, { queued: false })).toEqual({ aborting: first.id, withdrawn: 0, restEnded: false })
    expect(await told(1)).toEqual([`agent/${id}`])
    now += 1
    expect(await store.prompts.abort(id, { queued: true })).toEqual({ aborting: first.id, withdrawn: 1, restEnded: false })
    expect(await store.prompts.byId(id, first.id)).toMatchObject({ status: 'running', abortedAt: 1_001 })
    await store.prompts.end(lease, first.id, { status: 'interrupted', code: null, message: '' })
    expect((await store.prompts.list(id, { limit: 10 })).map(({ status }) => status)).toEqual(['withdrawn', 'interrupted'])
    await expect(store.prompts.abort(NO_AGENT, { queued: false })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('there are bounds, kinds and owners', async () => {
    const { id } = await local()
    for (const text of ['one', 'two', 'three']) await tell(id, text)
    await expect(tell(id, 'four')).rejects.toMatchObject({ code: 'quota_exceeded' })
    await expect(tell(id, '')).rejects.toMatchObject({ code: 'invalid_argument', field: 'text' })
    await expect(tell(NO_AGENT, 'x')).rejects.toMatchObject({ code: 'not_found' })
    const external = await store.agents.add(sampleAgent(ann))
    await expect(tell(external.id, 'x')).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.agents.held(external.id)).toEqual({ kind: 'asleep' })
    expect(await store.prompts.byId(external.id, NO_PROMPT)).toBeUndefined()
    await store.users.setDisabled(ann, true)
    await expect(tell(id, 'x')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('of those that ended the newest stay, and the numbers go on', async () => {
    const { id } = await local()
    await tell(id, 'one')
    const lease = await claim()
    for (const text of ['two', 'three', 'four']) {
      const next = await store.prompts.next(lease)
      if (next !== undefined) await store.prompts.end(lease, next.prompt.id, DONE)
      await tell(id, text)
    }
    expect((await store.prompts.list(id, { limit: 10 })).map(({ number }) => number)).toEqual([4, 3])
  })

  test('two tell an agent something at once, and both are heard once', async () => {
    const { id } = await local()
    const numbers = (await Promise.all(['a', 'b', 'c'].map((text) => tell(id, text)))).map(({ number }) => number)
    expect(new Set(numbers)).toEqual(new Set([1, 2, 3]))
  })

  test('one that begins as another knows its transcript up to a line, and nothing that came later', async () => {
    const { id } = await local()
    const lines = ['a\n', 'bb\n', 'ccc\n'].map((line) => Buffer.from(line))
    await store.logs.append(transcriptLog(id), lines)
    const forked = await store.agents.add(sampleAgent(ann, { kind: 'local', knows: { agentId: id, offset: 5 } }))
    const read = async (of: AgentId) =>
      (await store.logs.read(transcriptLog(of), { from: { offset: 0 }, maxBytes: 100 })).entries.map(({ bytes }) =>
        String(Buffer.from(bytes)),
      )
    expect(await read(forked.id)).toEqual(['a\n', 'bb\n'])
    expect(await store.logs.end(transcriptLog(forked.id))).toMatchObject({ seq: 2, offset: 5 })
    expect(await store.logs.append(transcriptLog(forked.id), [Buffer.from('d\n')], { at: { offset: 5 } })).toMatchObject({
      kind: 'appended',
      offset: 7,
    })
    expect(await read(id)).toHaveLength(3)
    await expect(store.agents.add(sampleAgent(ann, { kind: 'local', knows: { agentId: id, offset: 4 } }))).rejects.toMatchObject({
      code: 'invalid_argument',
      field: 'offset',
    })
    await store.agents.markDeleting(forked.id)
    await store.agents.remove(forked.id)
    expect(await store.logs.end(transcriptLog(forked.id))).toMatchObject({ offset: 0 })
  })

  test('they go with their agent', async () => {
    const { id } = await local()
    const { id: prompt } = await tell(id, 'one')
    await store.agents.markDeleting(id)
    await expect(tell(id, 'two')).rejects.toMatchObject({ code: 'not_found' })
    await store.agents.remove(id)
    expect(await store.prompts.byId(id, prompt)).toBeUndefined()
  })
})

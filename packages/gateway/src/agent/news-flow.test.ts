import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, openTestGateway } from '../fixture/test-gateway.ts'

const kept = keeping()

type Answer = Record<string, unknown>
const contentOf = async (reply: ReturnType<TestGateway['admin']>): Promise<Answer> => (await reply).structuredContent ?? {}
const errorOf = async (reply: ReturnType<TestGateway['admin']>) => (await reply)._meta?.['parley/error']
const LINES = ['{"type":"message","text":"x"}']
const outcome = { status: 'completed', code: null, message: '' }

async function open() {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  const agent_id = String((await contentOf(gw.admin('agent.create', { kind: 'local', model: 'small' })))['agent_id'])
  const next = async (claim: object) => (await host.call('host.next_prompt', claim))['prompt'] as Answer
  return { gw, host, agent_id, next, get: () => contentOf(gw.admin('agent.get', { agent_id })) }
}

test('fault 18: a message wakes an agent that sleeps, and is told until the lines that hold it are written', async () => {
  const { gw, host, agent_id, next, get } = await open()
  expect(await get()).toMatchObject({ wake: { chat: true, resources: true, calls: true, every_s: 10 }, rest: null })
  await gw.admin('chat.post', { agent_id, text: 'hello' })
  const claim = await host.claim()
  const prompt = await next(claim)
  expect(prompt).toMatchObject({ woken_by: 'chat', by: 'parley', text: 'woken by the chat', resumed: false, yielded: false })
  const page = await host.call('host.news', claim)
  expect(page).toEqual({
    items: [{ kind: 'chat', id: 1, at: expect.any(String), by: 'admin', text: 'hello' }],
    heard: { news: 0, chat: 1 },
  })
  const append = { ...claim, offset: 0, lines: LINES }
  expect(await host.call('host.append_transcript', { ...append, offset: 7, heard: page['heard'] })).toMatchObject({ ok: false })
  expect(await host.call('host.news', claim)).toEqual(page)
  expect(await host.call('host.append_transcript', { ...append, heard: page['heard'] })).toMatchObject({ ok: true })
  expect(await host.call('host.news', claim)).toEqual({ items: [], heard: { news: 0, chat: 0 } })
  // What comes meanwhile is told to the host, and begins the next turn.
  await gw.admin('chat.post', { agent_id, text: 'and?' })
  await expect.poll(() => host.told('host_control')).toContainEqual({ ...claim, action: 'news' })
  await host.call('host.end_prompt', { ...claim, prompt_id: prompt['prompt_id'], outcome })
  expect(await next(claim)).toMatchObject({ number: 2, woken_by: 'chat' })
  expect((await contentOf(gw.admin('agent.prompts', { agent_id })))['items']).toMatchObject([
    { woken_by: 'chat', status: 'running' },
    { woken_by: 'chat', status: 'completed' },
  ])
  await host.call('host.release', claim)
  await expect(host.call('host.news', claim)).rejects.toThrow('lease_lost')
})

test('fault 16: an agent that yields says for what it rests, the next host is told, and its time comes once', async () => {
  const { gw, host, agent_id, next, get } = await open()
  await gw.admin('agent.prompt', { agent_id, text: 'rest' })
  const claim = await host.claim()
  const prompt = await next(claim)
  const wants = { wake_on: ['calls'], after_s: 1, say: 'look \u0000' }
  const rest = { wake_on: ['calls'], resources: null, until: expect.any(String), say: 'look \u0000' }
  const yields = { ...claim, prompt_id: prompt['prompt_id'], ...wants }
  expect(await host.call('host.yield', yields)).toEqual({ prompt_id: prompt['prompt_id'], rest })
  expect(await host.call('host.agent_get', claim)).toMatchObject({ rest })
  await host.call('host.release', claim)
  const again = await host.claim()
  expect(await next(again)).toMatchObject({ resumed: true, yielded: true })
  await host.call('host.end_prompt', { ...again, prompt_id: prompt['prompt_id'], outcome })
  await expect(host.call('host.yield', { ...yields, ...again })).rejects.toThrow('conflict')
  await gw.admin('chat.post', { agent_id, text: 'not now' })
  await expect.poll(async () => (await get())['turn'], { timeout: 20_000 }).toMatchObject({ queued: 1 })
  expect(await next(again)).toMatchObject({ number: 2, woken_by: 'timer' })
  expect(await get()).toMatchObject({ rest: null })
  expect(await host.call('host.news', again)).toMatchObject({
    items: [{ text: 'not now' }, { kind: 'timer', text: 'look \u0000' }],
  })
})

test('a change is news once for each content, of what the agent listens to, and its rules say whether it wakes', async () => {
  const { gw, host, agent_id, next, get } = await open()
  expect(await errorOf(gw.admin('agent.update', { agent_id, wake: { every_s: 0 } }))).toMatchObject({
    code: 'invalid_argument',
    field: 'wake.every_s',
  })
  await gw.admin('agent.update', { agent_id, wake: { resources: false } })
  await gw.admin('agent.prompt', { agent_id, text: 'watch' })
  const claim = await host.claim()
  const { prompt_id } = await next(claim)
  const uri = 'demo://page'
  const tell = async (digest: string | null) => (await host.call('host.tell_news', { ...claim, uri, digest }))['told']
  expect(await tell('a')).toBe(false)
  await host.call('host.agent_listen', { ...claim, uri, listens: true })
  await host.call('host.agent_listen', { ...claim, uri, listens: true, digest: 'a' })
  expect([await tell('a'), await tell('b'), await tell('b')]).toEqual([false, true, false])
  await host.call('host.end_prompt', { ...claim, prompt_id, outcome })
  expect(await get()).toMatchObject({ turn: { queued: 0 } })
  await gw.admin('agent.update', { agent_id, wake: {} })
  expect(await next(claim)).toMatchObject({ woken_by: 'resource' })
})

test('an approval wakes nobody, and an external agent is not woken by its chat', async () => {
  const { gw, host, agent_id, next, get } = await open()
  await gw.admin('agent.prompt', { agent_id, text: 'ask' })
  const claim = await host.claim()
  const { prompt_id } = await next(claim)
  const ask = {
    ...claim,
    kind: 'tool',
    mount: 'web',
    mount_version: 1,
    name: 'x',
    arguments_json: '{}',
    caller: 'c',
    reason: 'r',
    policy: '',
    rule: null,
    layer: null,
    askers: ['default'],
    approvers: [],
  }
  const { approval_id } = await host.call('host.ask', ask)
  await host.call('host.end_prompt', { ...claim, prompt_id, outcome })
  await gw.admin('approval.decide', { approval_id, decision: 'approve' })
  expect(await get()).toMatchObject({ turn: { running: null, queued: 0 } })
  expect(await host.call('host.next_prompt', claim)).toEqual({ prompt: null })
  const external = String((await contentOf(gw.admin('agent.create', { name: 'out' })))['agent_id'])
  await gw.admin('chat.post', { agent_id: external, text: 'hello' })
  expect(await contentOf(gw.admin('agent.get', { agent_id: external }))).toMatchObject({ status: 'asleep', rest: null })
})

import { CHAT_LIMITS } from '@parley/protocol'
import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

const kept = keeping()

type Answer = Record<string, unknown>
const contentOf = async (reply: ReturnType<TestGateway['admin']>): Promise<Answer> => (await reply).structuredContent ?? {}
const errorOf = async (reply: ReturnType<TestGateway['admin']>) => (await reply)._meta?.['parley/error']

test('fault 20: people and an agent talk: everybody reads the same, waits for the next, and marks for themselves', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  const agent_id = String(
    (await contentOf(gw.admin('agent.create', { kind: 'local', model: 'small', name: 'helper' })))['agent_id'],
  )
  await gw.admin('agent.prompt', { agent_id, text: 'wake' })
  const claim = await host.claim()

  // Whoever waits hears of the next one.
  const waited = contentOf(gw.admin('chat.read_since', { agent_id, after: 0, wait_ms: 30_000 }))
  const post = await contentOf(gw.admin('chat.post', { agent_id, text: '**hello** \u0000', key: 'one' }))
  expect(post).toEqual({ message: { id: 1, at: expect.any(String), from: 'person', by: 'admin', text: '**hello** \u0000' } })
  expect(await waited).toEqual({ messages: [post['message']], last_id: 1, head: 1 })
  expect(await contentOf(gw.admin('chat.post', { agent_id, text: '**hello** \u0000', key: 'one' }))).toEqual(post)

  expect(await host.call('host.chat_read', { ...claim, after: 0 })).toEqual({ messages: [post['message']], last_id: 1, head: 1 })
  expect(await host.call('host.chat_post', { ...claim, text: 'yes?' })).toMatchObject({
    message: { id: 2, from: 'agent', by: 'helper' },
  })
  expect(await contentOf(gw.admin('chat.read_since', { agent_id, after: 1 }))).toMatchObject({
    messages: [{ id: 2, text: 'yes?' }],
    last_id: 2,
    head: 2,
  })
  expect(await contentOf(gw.admin('chat.read_since', { agent_id, after: 2 }))).toEqual({ messages: [], last_id: 2, head: 2 })

  const marked = await contentOf(gw.admin('chat.mark_read', { agent_id, reader: 'phone', read_to: 1 }))
  expect(marked).toMatchObject({ marker: { reader: 'admin/phone', read_to: 1 } })
  expect(await contentOf(gw.admin('chat.mark_read', { agent_id, read_to: 99 }))).toMatchObject({
    marker: { reader: 'admin/default', read_to: 2 },
  })
  await host.call('host.release', claim)
  await expect(host.call('host.chat_post', { ...claim, text: 'late' })).rejects.toThrow('lease_lost')
  await expect(host.call('host.chat_read', claim)).rejects.toThrow('lease_lost')
})

test('the chat is a resource, and only those who listen to it are told', async () => {
  const gw = kept(await openTestGateway())
  const agent_id = String((await contentOf(gw.admin('agent.create', {})))['agent_id'])
  const socket = await TestSocket.open(gw.gateway.ws, gw.adminToken)
  const uri = `resource://agents/${agent_id}/chat`
  await socket.call('resources/subscribe', { uri })
  await gw.admin('chat.post', { agent_id, text: 'hello' })
  await expect.poll(() => socket.messages).toContainEqual(expect.objectContaining({ params: { uri } }))
  const read = (await socket.call('resources/read', { uri })).result as { contents: { text: string }[] }
  expect(JSON.parse(read.contents[0]?.text ?? '')).toMatchObject({
    messages: [{ id: 1, text: 'hello' }],
    head: 1,
    markers: [],
  })
  socket.socket.close()
})

test('what is wrong is said, nobody else’s agent is seen, and an answer stays within its bound', async () => {
  const gw = kept(await openTestGateway())
  await gw.admin('user.add', { username: 'bob' })
  const bob = (await mint(gw, { role: 'user', username: 'bob' })).token
  const agent_id = String((await contentOf(gw.admin('agent.create', {})))['agent_id'])
  for (const [name, args] of [
    ['chat.post', { text: 'x' }],
    ['chat.read_since', {}],
    ['chat.mark_read', { read_to: 1 }],
  ] as const)
    expect((await callTool(gw.gateway.url, bob, name, { agent_id, ...args }))._meta?.['parley/error']).toMatchObject({
      code: 'not_found',
    })
  for (const [args, field] of [
    [{ text: '' }, 'text'],
    [{ text: 'x'.repeat(CHAT_LIMITS.textChars + 1) }, 'text'],
    [{ text: 'x', key: 'a b' }, 'key'],
  ] as const)
    expect(await errorOf(gw.admin('chat.post', { agent_id, ...args }))).toMatchObject({ code: 'invalid_argument', field })
  expect(await errorOf(gw.admin('chat.read_since', { agent_id, after: -1 }))).toMatchObject({ field: 'after' })
  expect(await errorOf(gw.admin('chat.mark_read', { agent_id, read_to: 1, reader: 'a/b' }))).toMatchObject({ field: 'reader' })

  const text = 'x'.repeat(CHAT_LIMITS.textChars)
  const fit = CHAT_LIMITS.pageChars / CHAT_LIMITS.textChars
  for (let count = 0; count <= fit; count++) await gw.admin('chat.post', { agent_id, text })
  const page = await contentOf(gw.admin('chat.read_since', { agent_id, after: 0, limit: 200 }))
  expect(page).toMatchObject({ last_id: fit, head: fit + 1 })
  expect(await contentOf(gw.admin('chat.read_since', { agent_id, after: fit }))).toMatchObject({ last_id: fit + 1 })
})

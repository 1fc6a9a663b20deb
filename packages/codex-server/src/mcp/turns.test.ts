import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { patch, say, shell } from '../backend/fixture/mini-backend-world.ts'
import { openMcpWorld } from './fixture/mcp-world.ts'

const stalls = { pieces: [{ text: 'x'.repeat(400) }], manner: { stallAfterEvents: 6 } }
const threadOf = ({ structuredContent }: JsonObject): string =>
  isJsonObject(structuredContent) && typeof structuredContent['threadId'] === 'string' ? structuredContent['threadId'] : ''

test('a call and its reply: events by request, the thread in the result', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  await client.initialize()
  mini.say(say('HELLO'), say('AGAIN'))
  client.start('tools/call', { name: 'codex', arguments: { prompt: 'hi' } }, 'text-id')
  const first = await client.answered('text-id')
  const threadId = threadOf(first['result'] as JsonObject)
  expect(first['result']).toEqual({
    structuredContent: { threadId, content: 'HELLO' },
    content: [{ type: 'text', text: 'HELLO' }],
  })
  const [configured, ...rest] = client.received.filter(({ method }) => method === 'codex/event')
  expect(configured).toMatchObject({
    params: { _meta: { requestId: 'text-id', threadId }, id: '', msg: { thread_id: threadId } },
  })
  expect(new Set(rest.map(({ params }) => (isJsonObject(params) ? params['id'] : null))).size).toBe(2)
  expect(client.types('text-id')).not.toContain('raw_response_item')
  expect(client.events('text-id')).toContainEqual({ type: 'agent_message_delta', delta: 'HELLO' })
  for (const args of [{ threadId }, { conversationId: threadId }]) {
    mini.say(say('AGAIN'))
    expect(await client.call('codex-reply', { ...args, prompt: 'more' })).toMatchObject({ structuredContent: { threadId } })
  }
})

test('the older dialect: the id of the call in its events, a number for each reply, no thread in the result', async () => {
  await using world = await openMcpWorld({ dialect: '0.44' })
  const { client, mini } = world
  await client.initialize()
  mini.say(say('HELLO'), say('AGAIN'))
  const id = client.startCall('codex', { prompt: 'hi' })
  expect(await client.answered(id)).toMatchObject({ result: { content: [{ type: 'text', text: 'HELLO' }] } })
  const conversationId = client.events(id)[0]?.['session_id'] ?? ''
  const reply = client.startCall('codex-reply', { conversationId, prompt: 'more' })
  expect((await client.answered(reply))['result']).toEqual({ content: [{ type: 'text', text: 'AGAIN' }] })
  const ids = client.received.flatMap(({ params }) =>
    isJsonObject(params) && isJsonObject(params['msg']) ? [[params['_meta'], params['id']]] : [],
  )
  expect(ids[0]).toEqual([{ requestId: id }, ''])
  expect(ids[1]).toEqual([{ requestId: id }, String(id)])
  expect(ids.at(-1)).toEqual([{ requestId: reply }, '0'])
})

test('conversations run side by side, each under its own request', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  await client.initialize()
  mini.say(stalls, say('second'))
  const slow = client.startCall('codex', { prompt: 'one' })
  await client.until(() => client.types(slow).includes('agent_message_delta') || undefined)
  expect(await client.call('codex', { prompt: 'two' })).toMatchObject({ content: [{ text: 'second' }] })
  expect(client.answerTo(slow)).toBeUndefined()
  client.notify('notifications/cancelled', { requestId: slow })
  await client.answered(slow)
})

test('a cancelled call is answered, and the next call gets its own answer', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  await client.initialize()
  mini.say(stalls, say('after'))
  const id = client.startCall('codex', { prompt: 'one' })
  await client.until(() => client.types(id).includes('agent_message_delta') || undefined)
  client.notify('notifications/cancelled', { requestId: id, reason: 'user' })
  const cancelled = await client.answered(id)
  const threadId = threadOf(cancelled['result'] as JsonObject)
  const text = 'The call was cancelled and its turn interrupted.'
  expect(cancelled['result']).toEqual({
    isError: true,
    content: [{ type: 'text', text }],
    structuredContent: { threadId, content: text },
  })
  expect(client.types(id).at(-1)).toBe('turn_aborted')
  const before = client.types(id).length
  expect(await client.call('codex-reply', { threadId, prompt: 'two' })).toMatchObject({ structuredContent: { content: 'after' } })
  expect(client.types(id)).toHaveLength(before)
})

test('two replies at once are queued and both answered; one that is cancelled while it waits does not run', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  await client.initialize()
  mini.say(say('first'))
  const threadId = threadOf(await client.call('codex', { prompt: 'hi' }))
  mini.say(say('one'), say('three'))
  const [one, two, three] = ['1', '2', '3'].map((prompt) => client.startCall('codex-reply', { threadId, prompt }))
  client.notify('notifications/cancelled', { requestId: two ?? '' })
  expect(await client.answered(one ?? '')).toMatchObject({ result: { structuredContent: { content: 'one' } } })
  expect(await client.answered(three ?? '')).toMatchObject({ result: { structuredContent: { content: 'three' } } })
  expect(await client.answered(two ?? '')).toMatchObject({
    result: { isError: true, content: [{ text: 'The call was cancelled before its turn began.' }] },
  })
  expect(client.events(two ?? '')).toEqual([])
  expect(mini.model.requests).toHaveLength(3)
})

test('no more replies wait than may', async () => {
  await using world = await openMcpWorld({ limits: { waitingReplies: 1 } })
  const { client, mini } = world
  await client.initialize()
  mini.say(say('first'))
  const threadId = threadOf(await client.call('codex', { prompt: 'hi' }))
  mini.say(stalls, say('second'))
  const [running, waiting] = ['1', '2'].map((prompt) => client.startCall('codex-reply', { threadId, prompt }))
  await client.until(() => client.types(running ?? '').includes('agent_message_delta') || undefined)
  expect(await client.call('codex-reply', { threadId, prompt: '3' })).toMatchObject({
    isError: true,
    content: [{ text: '1 replies wait for their turn in this conversation already' }],
  })
  client.notify('notifications/cancelled', { requestId: running ?? '' })
  expect(await client.answered(waiting ?? '')).toMatchObject({ result: { structuredContent: { content: 'second' } } })
})

test('a reply works after a restart of the server, with what was said before and in the same folder', async () => {
  await using world = await openMcpWorld()
  world.mini.say(say('The word is plum.'))
  await world.client.initialize()
  await mkdir(join(world.mini.workspace, 'inner'))
  const order = { prompt: 'What is the word?', cwd: 'inner', 'approval-policy': 'never', sandbox: 'danger-full-access' }
  const threadId = threadOf(await world.client.call('codex', order))
  const again = await world.restart()
  await again.client.initialize()
  again.mini.say(shell('touch', 'here'), patch('*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch'), say('plum'))
  expect(await again.client.call('codex-reply', { threadId, prompt: 'Again?' })).toMatchObject({
    structuredContent: { threadId, content: 'plum' },
  })
  expect(JSON.stringify(again.mini.model.requests.at(-1)?.body)).toContain('The word is plum.')
  expect(existsSync(join(world.mini.workspace, 'inner', 'here'))).toBe(true)
  expect(JSON.stringify(again.client.received)).toContain(`"changes":{"${join(world.mini.workspace, 'inner', 'new.txt')}"`)
  again.input.end()
  await again.ended
})

test('idle conversations make room, and are resumed when somebody asks for them', async () => {
  await using world = await openMcpWorld({ limits: { openConversations: 1 } })
  const { client, mini } = world
  await client.initialize()
  mini.say(say('a'), say('b'), say('c'), stalls)
  const first = threadOf(await client.call('codex', { prompt: 'one' }))
  await client.call('codex', { prompt: 'two' })
  expect(await client.call('codex-reply', { threadId: first, prompt: 'three' })).toMatchObject({ content: [{ text: 'c' }] })
  expect(world.logged).toContain(`info: conversation ${first} was resumed`)
  const busy = client.startCall('codex-reply', { threadId: first, prompt: 'four' })
  await client.until(() => client.types(busy).includes('agent_message_delta') || undefined)
  expect(await client.call('codex', { prompt: 'five' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('1 conversations have a turn under way') }],
  })
})

test('of many who come at once as many get in as there is room for', async () => {
  await using world = await openMcpWorld({ limits: { openConversations: 2 } })
  const { client, mini } = world
  await client.initialize()
  mini.say(stalls, stalls, stalls, stalls)
  const calls = ['one', 'two', 'three', 'four'].map((prompt) => client.startCall('codex', { prompt }))
  const refused = await Promise.all(calls.slice(2).map((id) => client.answered(id)))
  for (const answer of refused)
    expect(answer).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('2 conversations have a turn under way') }] },
    })
})

test('progress is told to whoever asks for it, and only forwards', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  await client.initialize()
  mini.say(shell('true'), say('done'))
  await client.call('codex', { prompt: 'hi', 'approval-policy': 'never', sandbox: 'workspace-write' }, { progressToken: 'p1' })
  const told = client.received.flatMap(({ method, params }) =>
    method === 'notifications/progress' && isJsonObject(params) ? [params] : [],
  )
  expect(told.map(({ message }) => message)).toEqual([
    'turn started',
    'running true',
    'the command ended with 0',
    'answering',
    'answered',
  ])
  expect(told.map(({ progress }) => progress)).toEqual([1, 2, 3, 4, 5])
  expect(new Set(told.map(({ progressToken }) => progressToken))).toEqual(new Set(['p1']))
})

test('the end of the input interrupts the turn and ends the server', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  await client.initialize()
  mini.say(stalls)
  const id = client.startCall('codex', { prompt: 'one' })
  await client.until(() => client.types(id).includes('agent_message_delta') || undefined)
  world.input.end()
  await world.ended
  expect(mini.model.requests[0]?.gone.aborted).toBe(true)
})

test('failures of the model are results', async () => {
  for (const dialect of ['0.44', '0.153'] as const) {
    await using world = await openMcpWorld({ dialect })
    const { client, mini } = world
    await client.initialize()
    mini.say({ status: 400, body: { error: { message: 'bad thing', type: 'invalid_request_error', code: 'x', param: null } } })
    const id = client.startCall('codex', { prompt: 'one' })
    const { result } = await client.answered(id)
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('bad thing') }] })
    expect(client.types(id).at(-1)).toBe('error')
  }
})

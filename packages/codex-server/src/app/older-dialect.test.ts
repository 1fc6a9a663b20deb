import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type JsonObject, isJsonObject } from '@parley/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type MiniBackendWorld, openMiniBackendWorld, patch, say, shell } from '../backend/fixture/mini-backend-world.ts'
import { AppClient, text } from './fixture/app-client.ts'

let world: MiniBackendWorld
let client: AppClient

beforeAll(async () => {
  world = await openMiniBackendWorld({ needsKey: false })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  client = await AppClient.open({ dialect: '0.42', backend: () => Promise.resolve(world.reopen()), folder: world.workspace })
  return () => client.end()
})

const settings = { approvalPolicy: 'untrusted', sandbox: 'workspace-write' }
const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'probe', version: '1.0' },
}

test('everything carries jsonrpc, and nothing has to come first', async () => {
  const { userAgent } = await client.call('getUserAgent')
  expect(userAgent).toBe('codex_cli_rs/0.42.0 (Debian 12.0.0; x86_64) xterm parley/0.1.0')
  expect(client.received).toEqual([{ jsonrpc: '2.0', id: 1, result: { userAgent } }])
})

test('what is wrong is answered, where the real one is silent', async () => {
  expect(await client.ask('no/such', {})).toMatchObject({ jsonrpc: '2.0', error: { code: -32601, data: { method: 'no/such' } } })
  expect(await client.ask('fuzzyFileSearch', { query: 'x', roots: [] })).toMatchObject({ error: { code: -32601 } })
  expect(await client.ask('newConversation', { model: 5 })).toMatchObject({ error: { code: -32602, data: { param: 'model' } } })
  client.sendText('{"id":"x","method":[]}')
  expect(await client.answerTo('x')).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
})

test('what only the documents say of a parameter is noted, and it is taken all the same', async () => {
  const { conversationId } = await client.call('newConversation', { ...settings, profile: null })
  expect(conversationId).toEqual(expect.any(String))
  expect(client.notes).toEqual([expect.stringMatching(/^newConversation: 'profile' requires Codex >= 0\.44/)])
})

test('a command and a patch are asked about in snake case', async () => {
  const { conversationId } = await client.call('newConversation', settings)
  await client.call('addConversationListener', { conversationId })
  world.say(shell('touch', 'x'), patch('*** Begin Patch\n*** Add File: made\n+hi\n*** End Patch'), say('DONE'))
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  const exec = await client.until(({ method }) => method === 'execCommandApproval')
  expect(exec).toMatchObject({ jsonrpc: '2.0', id: 0, params: { conversation_id: conversationId, command: ['touch', 'x'] } })
  expect(Object.keys(toObject(exec['params'])).toSorted()).toEqual(['call_id', 'command', 'conversation_id', 'cwd'])
  client.send({ id: 0, result: { decision: 'denied' } })
  const apply = await client.until(({ method }) => method === 'applyPatchApproval')
  const file_changes = { [join(world.workspace, 'made')]: { add: { content: 'hi\n' } } }
  expect(apply).toMatchObject({ id: 1, params: { conversation_id: conversationId, call_id: expect.any(String), file_changes } })
  client.send({ id: 1, result: { decision: 'approved' } })
  expect(await client.event('task_complete')).toMatchObject({ last_agent_message: 'DONE' })
})

test('a resumed conversation is told as codex/event', async () => {
  const { conversationId, rolloutPath } = await client.call('newConversation', settings)
  await client.call('addConversationListener', { conversationId })
  world.say(say('KEPT'))
  await client.call('sendUserMessage', { conversationId, items: text('hi') })
  await client.event('task_complete')
  const from = client.received.length
  const { initialMessages } = await client.call('resumeConversation', { path: rolloutPath })
  expect(client.received[from]).toMatchObject({
    method: 'codex/event',
    params: { id: '', msg: { type: 'session_configured', session_id: conversationId, initial_messages: initialMessages } },
  })
})

test('MCP is served on the same wire, under the name of 0.42', async () => {
  expect(await client.call('tools/list')).toMatchObject({ tools: [{ name: 'codex' }, { name: 'codex-reply' }] })
  expect(await client.call('initialize', INITIALIZE)).toMatchObject({
    protocolVersion: '2025-06-18',
    serverInfo: {
      name: 'codex-mcp-server',
      title: 'Codex',
      version: '0.42.0',
      user_agent: 'codex_cli_rs/0.42.0 (Debian 12.0.0; x86_64) xterm parley/0.1.0 (probe; 1.0)',
    },
  })
  client.send({ method: 'notifications/initialized' })
  expect(await client.ask('initialize', INITIALIZE)).toMatchObject({ error: { code: -32600 } })
  expect(await client.call('ping')).toEqual({})
  expect(await client.call('getUserAgent')).toMatchObject({ userAgent: expect.stringMatching(/\(probe; 1\.0\)$/) })
})

test('a tool is called, asks and is answered beside the methods', async () => {
  await client.call('initialize', INITIALIZE)
  client.send({ method: 'notifications/initialized' })
  world.say(shell('touch', 'by-tool'), say('TOOL'))
  const id = client.post('tools/call', { name: 'codex', arguments: { prompt: 'go', 'approval-policy': 'untrusted' } })
  const asked = await client.until(({ method }) => method === 'elicitation/create')
  expect(asked).toMatchObject({ params: { codex_elicitation: 'exec-approval', codex_command: ['touch', 'by-tool'] } })
  expect(await client.call('userInfo')).toEqual({ allegedUserEmail: null })
  client.send({ id: asked['id'], result: { decision: 'denied' } })
  expect(await client.answerTo(id)).toMatchObject({ jsonrpc: '2.0', result: { content: [{ type: 'text', text: 'TOOL' }] } })
  const events = client.received.filter(({ method }) => method === 'codex/event')
  expect(events[0]).toMatchObject({ jsonrpc: '2.0', params: { _meta: { requestId: id }, msg: { type: 'session_configured' } } })
  expect(events.at(-1)).toMatchObject({ params: { msg: { type: 'task_complete' } } })
})

test('a question of a tool that is cancelled is taken back under its own id, or not at all', async () => {
  await client.call('initialize', INITIALIZE)
  world.say(shell('touch', 'never'))
  const id = client.post('tools/call', { name: 'codex', arguments: { prompt: 'go', 'approval-policy': 'untrusted' } })
  const asked = await client.until(({ method }) => method === 'elicitation/create')
  client.send({ method: 'notifications/cancelled', params: { requestId: id } })
  expect(await client.answerTo(id)).toMatchObject({ result: { isError: true } })
  const cancelled = client.received.flatMap(({ method, params }) =>
    method === 'notifications/cancelled' ? [toObject(params)['requestId']] : [],
  )
  expect(cancelled.filter((requestId) => requestId !== asked['id'])).toEqual([])
})

test('a conversation of a tool is one of the methods too, and the other way round', async () => {
  await client.call('initialize', INITIALIZE)
  const tool = (name: string, args: JsonObject) => client.call('tools/call', { name, arguments: args })
  world.say(say('BY TOOL'), say('BY METHOD'), say('BY REPLY'))
  await tool('codex', { prompt: 'go', 'approval-policy': 'untrusted', sandbox: 'workspace-write' })
  const configured = await client.until(({ method }) => method === 'codex/event')
  const { session_id: conversationId } = toObject(toObject(configured['params'])['msg'])
  await client.call('addConversationListener', { conversationId })
  await client.call('sendUserMessage', { conversationId, items: text('more') })
  expect(await client.event('task_complete')).toMatchObject({ last_agent_message: 'BY METHOD' })
  expect(JSON.stringify(world.model.requests.at(-1)?.body['input'])).toContain('BY TOOL')
  const from = client.received.length
  expect(await tool('codex-reply', { conversationId: conversationId ?? '', prompt: 'again' })).toMatchObject({
    content: [{ text: 'BY REPLY' }],
  })
  // Whoever listens hears what the tools do as well.
  const later = client.received.slice(from).map(({ method }) => method)
  expect(later).toEqual(expect.arrayContaining(['codex/event', 'codex/event/task_complete']))

  const made = await client.call('newConversation', settings)
  world.say(say('IN NEW ONE'), shell('touch', 'shared'), say('ASKED'))
  const reply = { conversationId: made['conversationId'] ?? '', prompt: 'hi' }
  expect(await tool('codex-reply', reply)).toMatchObject({ content: [{ text: 'IN NEW ONE' }] })
  // Whose turn it is, is asked.
  await client.call('addConversationListener', { conversationId: reply.conversationId })
  await client.call('sendUserMessage', { conversationId: reply.conversationId, items: text('touch') })
  const asked = await client.until(({ method }) => method === 'execCommandApproval' || method === 'elicitation/create')
  expect(asked['method']).toBe('execCommandApproval')
  // One that comes meanwhile waits for its turn.
  const waiting = client.post('tools/call', { name: 'codex-reply', arguments: { ...reply, prompt: 'after it' } })
  world.say(say('AFTER IT'))
  client.send({ id: asked['id'], result: { decision: 'denied' } })
  expect(await client.answerTo(waiting)).toMatchObject({ result: { content: [{ text: 'AFTER IT' }] } })
  const { rolloutPath } = made
  await client.call('archiveConversation', { conversationId: reply.conversationId, rolloutPath })
  expect(await tool('codex-reply', reply)).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('Session not found') }],
  })
})

test('a tool that waits for its turn hears nothing of the one before', async () => {
  await client.call('initialize', INITIALIZE)
  const { conversationId = '' } = await client.call('newConversation', settings)
  await client.call('addConversationListener', { conversationId })
  world.say(shell('touch', 'waited-for'), say('OF A METHOD'), say('OF A TOOL'))
  await client.call('sendUserMessage', { conversationId, items: text('touch') })
  const asked = await client.until(({ method }) => method === 'execCommandApproval')
  const waiting = client.post('tools/call', { name: 'codex-reply', arguments: { conversationId, prompt: 'after it' } })
  await client.quiet()
  client.send({ id: asked['id'], result: { decision: 'denied' } })
  expect(await client.answerTo(waiting)).toMatchObject({ result: { content: [{ text: 'OF A TOOL' }] } })
  const told = client.received.flatMap(({ method, params }) => {
    const { _meta, msg } = toObject(params)
    return method === 'codex/event' && toObject(_meta)['requestId'] === waiting ? [toObject(msg)['type']] : []
  })
  expect([told[0], told.filter((type) => type === 'task_complete').length]).toEqual(['task_started', 1])
})

test('a tool that goes on with a conversation of the methods tells paths in the folder of that one', async () => {
  await client.call('initialize', INITIALIZE)
  const folder = join(world.workspace, 'inner')
  await mkdir(folder)
  const { conversationId = '' } = await client.call('newConversation', { ...settings, cwd: folder })
  world.say(patch('*** Begin Patch\n*** Add File: made\n+hi\n*** End Patch'), say('DONE'))
  const id = client.post('tools/call', { name: 'codex-reply', arguments: { conversationId, prompt: 'go' } })
  const asked = await client.until(({ method }) => method === 'elicitation/create')
  expect(toObject(asked['params'])['codex_changes']).toEqual({ [join(folder, 'made')]: { add: { content: 'hi\n' } } })
  client.send({ id: asked['id'], result: { decision: 'approved' } })
  expect(await client.answerTo(id)).toMatchObject({ result: { content: [{ text: 'DONE' }] } })
  const events = client.received.map(({ params }) => toObject(toObject(params)['msg']))
  const begun = events.find(({ type }) => type === 'patch_apply_begin')
  expect(Object.keys(toObject(begun?.['changes']))).toEqual([join(folder, 'made')])
})

test('a tool call is under way when the input ends', async () => {
  world.say({ silent: true })
  client.post('tools/call', { name: 'codex', arguments: { prompt: 'go' } })
  await client.until(({ method }) => method === 'codex/event')
  await client.end()
})

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@parley/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type MiniBackendWorld, openMiniBackendWorld, patch, say, shell } from '../backend/fixture/mini-backend-world.ts'
import { AppClient, text } from './fixture/app-client.ts'

const UNKNOWN = '00000000-0000-7000-8000-000000000000'
let world: MiniBackendWorld
let client: AppClient

beforeAll(async () => {
  world = await openMiniBackendWorld({ needsKey: false })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  const backend = world.reopen()
  client = await AppClient.open({ backend: () => Promise.resolve(backend), folder: world.workspace })
  return () => client.end()
})

async function opened(params: JsonObject = {}): Promise<{ conversationId: string; rolloutPath: string }> {
  const { conversationId, rolloutPath } = await client.call('newConversation', { approvalPolicy: 'never', ...params })
  if (typeof conversationId !== 'string' || typeof rolloutPath !== 'string') throw new TypeError('not opened')
  return { conversationId, rolloutPath }
}

async function listened(params: JsonObject = {}) {
  const conversation = await opened(params)
  const { conversationId } = conversation
  return { ...conversation, subscriptionId: await client.textOf('subscriptionId', 'addConversationListener', { conversationId }) }
}

test('a conversation is opened, heard and answered in the words and the order of 0.44', async () => {
  const from = client.received.length
  const { conversationId, rolloutPath } = await listened({ model: 'gpt-5', config: { model_reasoning_effort: 'high' } })
  world.say(say('HELLO'))
  await client.call('sendUserMessage', { conversationId, items: text('hi') })
  await client.event('task_complete')
  expect(client.received.slice(from)).toEqual([
    { id: 2, result: { conversationId, model: 'gpt-5', reasoningEffort: 'high', rolloutPath } },
    { id: 3, result: { subscriptionId: expect.stringMatching(/^[0-9a-f-]{36}$/) } },
    { id: 4, result: {} },
    event('task_started', { model_context_window: null }),
    event('token_count', { info: null, rate_limits: { primary: null, secondary: null } }),
    event('agent_message_delta', { delta: 'HELLO' }),
    event('agent_message', { message: 'HELLO' }),
    event('token_count', { info: expect.objectContaining({ model_context_window: null }), rate_limits: expect.anything() }),
    event('task_complete', { last_agent_message: 'HELLO' }),
  ])
  function event(type: string, msg: JsonObject): JsonObject {
    return { method: `codex/event/${type}`, params: { id: '0', msg: { type, ...msg }, conversationId } }
  }
})

test('a file that is no picture stops no turn: the model is told, and so is whoever reads the log', async () => {
  const { conversationId } = await listened()
  const noted = client.notes.length
  const asked = world.model.requests.length
  world.say(say('SEEN'))
  const items = ['/nope.png', '/etc/hostname'].map((path) => ({ type: 'localImage', data: { path } }))
  await client.call('sendUserMessage', { conversationId, items })
  await client.event('task_complete')
  expect(client.notes.slice(noted).toSorted()).toEqual([
    'items[0]: the picture "/nope.png" is left out: it cannot be read',
    expect.stringContaining('"/etc/hostname" is left out: it does not end in .png'),
  ])
  const sent = JSON.stringify(world.model.requests[asked]?.body)
  expect(sent).toMatch(/nope\.png.*could not be shown.*hostname/)
  expect(sent).not.toContain('input_image')
})

test('what happened before the first listener is told right after the answer to it', async () => {
  const { conversationId } = await opened()
  world.say(say('EARLY'))
  const before = world.model.requests.length
  await client.call('sendUserMessage', { conversationId, items: text('hi') })
  await expect.poll(() => world.model.requests.length).toBeGreaterThan(before)
  await client.quiet()
  expect(client.story()).not.toContain('task_started')
  const from = client.received.length
  await client.call('addConversationListener', { conversationId })
  await client.event('task_complete', from)
  expect(client.story(from).slice(0, 2)).toEqual(['answer', 'task_started'])
})

test('several listeners are one client: each event comes once, until the last one is removed', async () => {
  const { conversationId, subscriptionId } = await listened()
  const second = await client.call('addConversationListener', { conversationId })
  world.say(say('ONE'), say('TWO'), say('THREE'))
  await client.call('sendUserMessage', { conversationId, items: text('one') })
  await client.event('task_complete')
  expect(client.story().filter((type) => type === 'task_complete')).toHaveLength(1)
  expect(await client.call('removeConversationListener', { subscriptionId })).toEqual({})
  const from = client.received.length
  await client.call('sendUserMessage', { conversationId, items: text('two') })
  await client.event('task_complete', from)
  await client.call('removeConversationListener', { subscriptionId: second['subscriptionId'] ?? null })
  expect(await client.ask('removeConversationListener', { subscriptionId })).toMatchObject({
    error: { code: -32600, message: `subscription not found: ${subscriptionId}` },
  })
  const after = client.received.length
  const requests = world.model.requests.length
  await client.call('sendUserMessage', { conversationId, items: text('three') })
  await expect.poll(() => world.model.requests.length).toBeGreaterThan(requests)
  await client.quiet()
  expect(client.story(after)).toEqual(['answer'])
})

test('a listener that is removed in the middle of a turn hears no more of it, and the next one the rest', async () => {
  const { conversationId, subscriptionId } = await listened()
  world.say({ pieces: [{ text: 'x'.repeat(400) }], manner: { deltaCharacters: 4, pauseMs: 2 } })
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  await client.event('agent_message_delta')
  await client.call('removeConversationListener', { subscriptionId })
  const from = client.received.length
  await client.quiet()
  expect(client.story(from)).toEqual([])
  await client.call('addConversationListener', { conversationId })
  expect(await client.event('task_complete', from)).toMatchObject({ last_agent_message: 'x'.repeat(400) })
  const deltas = client.received.flatMap(({ method, params }) => (method === 'codex/event/agent_message_delta' ? [params] : []))
  expect(deltas.map((params) => Object(Object(params).msg).delta).join('')).toBe('x'.repeat(400))
})

test('what is said during a turn goes into it, and both are answered', async () => {
  const { conversationId } = await listened()
  world.say(shell('sleep', '0.3'), say('BOTH'))
  await client.call('sendUserMessage', { conversationId, items: text('first') })
  await client.event('exec_command_begin')
  await client.call('sendUserMessage', { conversationId, items: text('second') })
  expect(await client.event('task_complete')).toMatchObject({ last_agent_message: 'BOTH' })
  expect(JSON.stringify(world.model.requests.at(-1)?.body)).toContain('second')
  expect(client.story().filter((type) => type === 'task_started')).toHaveLength(1)
})

test('a turn with settings of its own waits for the one under way, so that they hold', async () => {
  const { conversationId } = await listened({ sandbox: 'danger-full-access' })
  world.say(shell('sleep', '0.3'), say('FIRST'), shell('pwd'), say('SECOND'))
  await client.call('sendUserMessage', { conversationId, items: text('first') })
  await client.event('exec_command_begin')
  const turn = {
    cwd: '/',
    approvalPolicy: 'never',
    sandboxPolicy: { mode: 'danger-full-access' },
    model: 'gpt-other',
    summary: 'auto',
  }
  await client.call('sendUserTurn', { conversationId, items: text('second'), ...turn, effort: 'low' })
  await client.until(({ params }) => Object(Object(params).msg).last_agent_message === 'SECOND')
  const pwd = client.received.findLast(({ method }) => method === 'codex/event/exec_command_begin')
  expect(pwd).toMatchObject({ params: { id: '1', msg: { command: ['pwd'], cwd: '/' } } })
  expect(world.model.requests.at(-1)?.body).toMatchObject({ model: 'gpt-other', reasoning: { effort: 'low' } })
  world.say(say('THIRD'))
  await client.call('sendUserMessage', { conversationId, items: text('third') })
  await client.until(({ params }) => Object(Object(params).msg).last_agent_message === 'THIRD')
  expect(world.model.requests.at(-1)?.body).toMatchObject({ model: 'gpt-5' })
})

test('an interruption is told first and answered then; without a turn it is answered at once', async () => {
  const { conversationId } = await listened()
  expect(await client.call('interruptConversation', { conversationId })).toEqual({ abortReason: 'interrupted' })
  world.say({ silent: true })
  const before = world.model.requests.length
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  await expect.poll(() => world.model.requests.length).toBeGreaterThan(before)
  const turn = { cwd: '.', approvalPolicy: 'never', sandboxPolicy: { mode: 'read-only' }, model: 'gpt-5', summary: 'none' }
  await client.call('sendUserTurn', { conversationId, items: text('dropped'), ...turn })
  const from = client.received.length
  expect(await client.call('interruptConversation', { conversationId })).toEqual({ abortReason: 'interrupted' })
  await client.quiet()
  expect(client.story(from)).toEqual(['turn_aborted', 'answer'])
  expect(client.notes).toContain(`1 waiting turns of ${conversationId} were dropped by an interruption`)
})

test('an interruption while a person is asked ends the turn; the answer that comes too late is left out', async () => {
  const { conversationId } = await listened({ approvalPolicy: 'untrusted' })
  world.say(shell('touch', 'late'))
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  const { id } = await client.until(({ method }) => method === 'execCommandApproval')
  const from = client.received.length
  await client.call('interruptConversation', { conversationId })
  expect(client.story(from).at(-2)).toBe('turn_aborted')
  client.send({ id: id ?? null, result: { decision: 'approved' } })
  expect(await client.call('getUserAgent')).toMatchObject({ userAgent: expect.stringContaining('codex_cli_rs/0.44.0') })
  expect(await readdir(world.workspace)).not.toContain('late')
})

test('a model that fails is told as an error and the end of the turn', async () => {
  const { conversationId } = await listened()
  world.say({ status: 400, body: { error: { message: 'boom', code: 'x' } } })
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  expect(await client.event('task_complete')).toEqual({ type: 'task_complete', last_agent_message: null })
  expect(await client.event('error')).toMatchObject({ message: expect.stringContaining('boom') })
})

test('a message without items ends without having begun', async () => {
  const { conversationId } = await listened()
  const from = client.received.length
  await client.call('sendUserMessage', { conversationId, items: [] })
  await client.event('task_complete')
  expect(client.story(from)).toEqual(['answer', 'task_complete'])
})

test('conversations are listed by page, resumed with what was said and archived', async () => {
  world.say(say('OLDER'), say('KEPT'))
  const older = await listened()
  await client.call('sendUserMessage', { conversationId: older.conversationId, items: text('there is one before') })
  await client.event('task_complete')
  const { conversationId, rolloutPath } = await listened()
  const sent = client.received.length
  await client.call('sendUserMessage', { conversationId, items: text('remember this') })
  await client.event('task_complete', sent)
  const first = await client.call('listConversations', { pageSize: 1 })
  expect(first).toMatchObject({ items: [{ conversationId, path: rolloutPath, preview: 'remember this' }] })
  expect(await client.call('listConversations', { pageSize: 0 })).toEqual({ items: [] })
  const next = await client.call('listConversations', { pageSize: 1, cursor: first['nextCursor'] ?? null })
  expect(JSON.stringify(next['items'])).not.toContain(conversationId)

  const from = client.received.length
  const said = [
    { type: 'user_message', message: 'remember this', kind: 'plain' },
    { type: 'agent_message', message: 'KEPT' },
  ]
  const resumed = await client.call('resumeConversation', { path: rolloutPath, overrides: { model: 'gpt-mini' } })
  expect(resumed).toEqual({ conversationId, model: 'gpt-mini', initialMessages: expect.arrayContaining(said) })
  expect(client.received[from]).toEqual({
    method: 'sessionConfigured',
    params: {
      sessionId: conversationId,
      model: 'gpt-mini',
      historyLogId: 0,
      historyEntryCount: 0,
      initialMessages: resumed['initialMessages'],
      rolloutPath,
    },
  })
  world.say(say('AGAIN'))
  await client.call('sendUserMessage', { conversationId, items: text('go on') })
  expect(await client.event('task_complete', from)).toMatchObject({ last_agent_message: 'AGAIN' })

  const before = client.received.length
  const outside = await client.ask('archiveConversation', { conversationId, rolloutPath: '/etc/passwd' })
  expect(outside).toMatchObject({ error: { code: -32600, message: 'rollout path `/etc/passwd` must be in sessions directory' } })
  expect(await client.call('archiveConversation', { conversationId, rolloutPath })).toEqual({})
  expect(client.story(before)).toEqual(['answer', 'shutdown_complete', 'answer'])
  expect(JSON.stringify(await client.call('listConversations', {}))).not.toContain(conversationId)
  const gone = await client.ask('sendUserMessage', { conversationId, items: text('there?') })
  expect(gone).toMatchObject({ error: { code: -32600, message: `conversation not found: ${conversationId}` } })
})

test('the declared shapes of resume and archive name the conversation alone', async () => {
  const { conversationId } = await listened()
  world.say(say('KEPT'))
  await client.call('sendUserMessage', { conversationId, items: text('by id') })
  await client.event('task_complete')
  expect(await client.call('resumeConversation', { conversationId })).toMatchObject({ conversationId })
  expect(await client.call('archiveConversation', { conversationId })).toEqual({})
  expect(client.notes).toEqual([
    'resumeConversation: conversationId is taken for the path of that conversation',
    'archiveConversation: rolloutPath is looked up by the id',
  ])
})

test('what is not there is said in the words of 0.44', async () => {
  const path = join(world.data, 'conversations', 'nope.jsonl')
  expect(await client.ask('resumeConversation', { path })).toMatchObject({
    error: { code: -32603, message: 'error resuming conversation: No such file or directory (os error 2)' },
  })
  for (const method of ['addConversationListener', 'interruptConversation'])
    expect(await client.ask(method, { conversationId: UNKNOWN })).toMatchObject({
      error: { code: -32600, message: `conversation not found: ${UNKNOWN}` },
    })
  expect(await client.ask('newConversation', { profile: 'zz' })).toMatchObject({
    error: { code: -32600, message: 'error deriving config: config profile `zz` not found' },
  })
})

test('the conversation that was idle longest makes room for one too many, and wakes when it is spoken to', async () => {
  const first = await listened()
  const { conversationId } = first
  world.say(say('FIRST'), say('AGAIN'))
  await client.call('sendUserMessage', { conversationId, items: text('remember me') })
  await client.event('task_complete')
  const silent = await opened()
  for (let count = 2; count < 61; count += 1) await opened()
  expect(await client.call('interruptConversation', { conversationId })).toEqual({ abortReason: 'interrupted' })
  // None of the others has been spoken in, so none of them can be let go.
  expect(await client.ask('sendUserMessage', { conversationId, items: text('and now?') })).toMatchObject({
    error: { code: -32600, message: '60 conversations are at work: interrupt or archive some first' },
  })
  await client.call('archiveConversation', silent)
  const from = client.received.length
  await client.call('sendUserMessage', { conversationId, items: text('and now?') })
  expect(await client.event('task_complete', from)).toMatchObject({ last_agent_message: 'AGAIN' })
  expect(JSON.stringify(world.model.requests.at(-1)?.body)).toContain('remember me')
})

test('a resumed conversation works where it did, and tells paths there', async () => {
  const folder = join(world.workspace, 'inner')
  await mkdir(folder)
  const settings = { cwd: folder, approvalPolicy: 'untrusted', sandbox: 'workspace-write' }
  const { conversationId, rolloutPath } = await listened(settings)
  world.say(say('KEPT'))
  await client.call('sendUserMessage', { conversationId, items: text('hi') })
  await client.event('task_complete')
  await client.call('resumeConversation', { path: rolloutPath })
  world.say(patch('*** Begin Patch\n*** Add File: made\n+hi\n*** End Patch'), say('DONE'))
  await client.call('sendUserMessage', { conversationId, items: text('go on') })
  const asked = await client.until(({ method }) => method === 'applyPatchApproval')
  expect(asked).toMatchObject({ params: { fileChanges: { [join(folder, 'made')]: { add: { content: 'hi\n' } } } } })
  client.send({ id: asked['id'], result: { decision: 'approved' } })
  await client.until(({ method }) => method === 'codex/event/patch_apply_end')
  expect(await readdir(folder)).toEqual(['made'])
})

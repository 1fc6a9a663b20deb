import { readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type JsonObject, isJsonObject } from '@parley/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Answer } from '@parley/agent/testing/model-server'
import { type MiniBackendWorld, openMiniBackendWorld, patch, say, shell } from '../backend/fixture/mini-backend-world.ts'
import { AppClient, text } from './fixture/app-client.ts'

let world: MiniBackendWorld
let client: AppClient
let conversationId: string

beforeAll(async () => {
  world = await openMiniBackendWorld({ needsKey: false })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  await rm(join(world.workspace, 'made'), { force: true })
  const backend = world.reopen()
  client = await AppClient.open({ backend: () => Promise.resolve(backend), folder: world.workspace })
  conversationId = await client.textOf('conversationId', 'newConversation', {
    approvalPolicy: 'untrusted',
    sandbox: 'workspace-write',
  })
  return () => client.end()
})

const asked = (method = 'execCommandApproval', from = 0): Promise<JsonObject> =>
  client.until((message) => message['method'] === method, from)
const isMade = async (): Promise<boolean> => (await readdir(world.workspace)).includes('made')

async function run(...after: readonly Answer[]): Promise<JsonObject> {
  await client.call('addConversationListener', { conversationId })
  world.say(shell('touch', 'made'), ...after)
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  return asked()
}

test('a command is asked about after its event, with ids of the server, and done when approved', async () => {
  const { id, params } = await run(say('DONE'))
  expect(id).toBe(0)
  expect(client.story().slice(-2)).toEqual(['exec_approval_request', 'execCommandApproval'])
  const { msg } = toObject((await client.until(({ method }) => method === 'codex/event/exec_approval_request'))['params'])
  const { call_id: callId, command, cwd } = toObject(msg)
  expect({ command, cwd }).toEqual({ command: ['touch', 'made'], cwd: world.workspace })
  expect(toObject(params)).toMatchObject({ conversationId, callId, command, cwd })
  client.send({ id, result: { decision: 'approved' } })
  expect(await client.event('task_complete')).toMatchObject({ last_agent_message: 'DONE' })
  expect(await isMade()).toBe(true)
})

test('what is approved for the session is not asked about again', async () => {
  const { id } = await run(say('DONE'))
  client.send({ id, result: { decision: 'approved_for_session' } })
  await client.event('task_complete')
  const from = client.received.length
  world.say(shell('touch', 'made'), say('AGAIN'))
  await client.call('sendUserMessage', { conversationId, items: text('again') })
  expect(await client.event('task_complete', from)).toMatchObject({ last_agent_message: 'AGAIN' })
  expect(client.story(from)).not.toContain('execCommandApproval')
})

test('a patch is asked about with its changes by path', async () => {
  await client.call('addConversationListener', { conversationId })
  world.say(patch('*** Begin Patch\n*** Add File: made\n+hello\n*** End Patch'), say('DONE'))
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  const { id, params } = await asked('applyPatchApproval')
  const fileChanges = { [join(world.workspace, 'made')]: { add: { content: 'hello\n' } } }
  expect(params).toMatchObject({ conversationId, fileChanges })
  expect(await client.event('apply_patch_approval_request')).toMatchObject({ changes: fileChanges })
  client.send({ id, result: { decision: 'approved' } })
  await client.event('task_complete')
  expect(await readFile(join(world.workspace, 'made'), 'utf8')).toBe('hello\n')
})

test.each([
  ['denied', { result: { decision: 'denied' } }, undefined],
  [
    'the declared deny',
    { result: { decision: 'deny', note: 'no' } },
    'execCommandApproval: the decision "deny" is taken for "denied"',
  ],
  ['another word', { result: { decision: 'yes please' } }, expect.stringContaining('the answer has no decision')],
  ['a name that every object has', { result: { decision: 'constructor' } }, expect.stringContaining('no decision')],
  ['no object', { result: 'approved' }, expect.stringContaining('no decision')],
  ['nothing', { result: null }, expect.stringContaining('no decision')],
  ['an MCP answer', { result: { action: 'accept' } }, expect.stringContaining('no decision')],
  ['an error', { error: { code: -1, message: 'no' } }, 'execCommandApproval: the client answered with an error (-1): denied'],
])('%s denies, and the turn goes on', async (_name, answer, note: unknown) => {
  const { id } = await run(say('DONE'))
  client.send({ id, ...answer })
  expect(await client.event('task_complete')).toMatchObject({ last_agent_message: 'DONE' })
  expect(await isMade()).toBe(false)
  expect(client.notes).toEqual(note === undefined ? [] : [note])
})

test('the declared allow approves, and is noted once', async () => {
  const first = await run(say('DONE'))
  client.send({ id: first['id'], result: { decision: 'allow' } })
  await client.event('task_complete')
  const from = client.received.length
  world.say(shell('touch', 'made', 'twice'), say('DONE'))
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  const second = await asked('execCommandApproval', from)
  client.send({ id: second['id'], result: { decision: 'allow' } })
  await client.event('task_complete', from)
  expect(await isMade()).toBe(true)
  expect(client.notes).toEqual(['execCommandApproval: the decision "allow" is taken for "approved"'])
})

test('abort ends the turn', async () => {
  const { id } = await run()
  client.send({ id, result: { decision: 'abort' } })
  expect(await client.event('turn_aborted')).toEqual({ type: 'turn_aborted', reason: 'interrupted' })
  expect(await isMade()).toBe(false)
})

test('the first of two answers counts, and the server goes on', async () => {
  const { id } = await run(say('DONE'))
  client.send({ id, result: { decision: 'denied' } })
  client.send({ id, result: { decision: 'approved' } })
  await client.event('task_complete')
  expect(await isMade()).toBe(false)
  expect(await client.call('getUserAgent')).toHaveProperty('userAgent')
})

test('without a listener the question waits for one', async () => {
  world.say(shell('touch', 'made'), say('DONE'))
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  await client.quiet()
  expect(client.story()).not.toContain('execCommandApproval')
  const from = client.received.length
  await client.call('addConversationListener', { conversationId })
  const { id } = await asked()
  expect(client.story(from)[0]).toBe('answer')
  client.send({ id, result: { decision: 'approved' } })
  await client.event('task_complete')
  expect(await isMade()).toBe(true)
})

test('an approval of a conversation that was archived meanwhile does nothing', async () => {
  const { id } = await run()
  expect(await client.call('archiveConversation', { conversationId })).toEqual({})
  client.send({ id, result: { decision: 'approved' } })
  await client.quiet()
  expect(await isMade()).toBe(false)
  expect(client.notes.at(-1)).toMatch(/neither a request nor an answer that is waited for/)
})

test('a client that goes away in the middle of a question has denied it', async () => {
  await run()
  await client.end()
  expect(await isMade()).toBe(false)
})

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

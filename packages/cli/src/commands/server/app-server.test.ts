import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codexModelAnswers } from '@parley/codex/testing'
import { type JsonObject, isJsonObject } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { peerFor } from '../../../../../scripts/peers/peer-or-skip.ts'
import { type OldClient, ServerWorld } from '../../codex-server/fixture/server-world.ts'

let world: ServerWorld
beforeAll(async () => {
  world = await ServerWorld.open()
})
afterAll(() => world[Symbol.asyncDispose]())

const CLIENT = { clientInfo: { name: 'test', title: 'Test', version: '1' } }
const say = (text: string) => ({ pieces: [{ text }] })
const resultOf = (message: JsonObject): JsonObject => (isJsonObject(message['result']) ? message['result'] : {})
const textIn = (object: JsonObject, key: string): string => {
  const value = object[key]
  return typeof value === 'string' ? value : ''
}
const isEvent = (type: string) => (message: JsonObject) => message['method'] === `codex/event/${type}`

/** A conversation with one thing said, as a client of old has it. */
async function converse(client: OldClient, text: string): Promise<JsonObject> {
  const conversation = resultOf(await client.ask('newConversation', { approvalPolicy: 'never', sandbox: 'danger-full-access' }))
  const { conversationId } = conversation
  await client.ask('addConversationListener', { conversationId })
  expect(await client.ask('sendUserMessage', { conversationId, items: [{ type: 'text', data: { text } }] })).toMatchObject({
    result: {},
  })
  await client.seen(
    (message) => isEvent('task_complete')(message) && JSON.stringify(message).includes(textIn(conversation, 'conversationId')),
  )
  return conversation
}

test('our own engine serves the methods of 0.44: conversations, settings, key, git and commands', async () => {
  const remote = join(world.home, 'remote')
  mkdirSync(remote)
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'pipe' })
  git(remote, 'init', '-q')
  git(remote, 'commit', '-qm', 'one', '--allow-empty')
  git(world.home, 'clone', '-q', remote, 'clone')
  const clone = join(world.home, 'clone')
  writeFileSync(join(clone, 'new.txt'), 'mine\n')

  const { PARLEY_MODEL_API_KEY: _, ...env } = world.ownEnv
  await using client = world.start(['app-server', '--engine', 'mini'], env)
  expect(await client.ask('newConversation', {})).toMatchObject({ error: { code: -32_600, message: 'Not initialized' } })
  expect(resultOf(await client.ask('initialize', CLIENT))['userAgent']).toMatch(/^codex_cli_rs\/0\.44\.0 \(.*parley\//)
  client.send({ method: 'initialized' })

  await client.ask('loginApiKey', { apiKey: 'sk-mine' })
  expect(statSync(join(world.home, 'data', 'auth.json')).mode & 0o777).toBe(0o600)
  world.say(say('well said'))
  const conversation = await converse(client, 'say well')
  expect(world.model.requests.at(-1)?.headers.authorization).toBe('Bearer sk-mine')
  const { conversationId, rolloutPath } = conversation
  expect(existsSync(textIn(conversation, 'rolloutPath'))).toBe(true)
  expect(resultOf(await client.ask('interruptConversation', { conversationId }))).toMatchObject({
    abortReason: expect.any(String),
  })

  const listed = resultOf(await client.ask('listConversations', { pageSize: 5 }))
  expect(listed).toMatchObject({ items: [{ conversationId, path: rolloutPath, preview: 'say well' }] })
  const resumed = resultOf(await client.ask('resumeConversation', { path: rolloutPath }))
  expect(resumed).toMatchObject({
    conversationId,
    initialMessages: [{ type: 'user_message', message: 'say well' }, { type: 'agent_message' }],
  })

  await client.ask('setDefaultModel', { model: 'another', reasoningEffort: 'high' })
  expect(resultOf(await client.ask('getUserSavedConfig'))).toMatchObject({
    config: { model: 'another', modelReasoningEffort: 'high' },
  })
  expect(resultOf(await client.ask('gitDiffToRemote', { cwd: clone }))).toMatchObject({
    sha: expect.stringMatching(/^[0-9a-f]{40}$/),
    diff: /\+mine/,
  })
  const free = { mode: 'danger-full-access' }
  expect(
    resultOf(await client.ask('execOneOffCommand', { command: ['sh', '-c', 'echo o; exit 3'], sandboxPolicy: free })),
  ).toEqual({
    exitCode: 3,
    stdout: 'o\n',
    stderr: '',
  })
  expect(await client.ask('execOneOffCommand', { command: ['sleep', '60'], timeoutMs: 100, sandboxPolicy: free })).toMatchObject({
    error: { code: -32_603, message: 'exec failed: sandbox error: command timed out' },
  })
  expect(await client.ask('execOneOffCommand', { command: ['no-such-program'], sandboxPolicy: free })).toMatchObject({
    error: { code: -32_603, message: 'exec failed: No such file or directory (os error 2)' },
  })
  expect(await client.ask('loginChatGpt')).toMatchObject({ error: { message: expect.stringContaining('--engine codex') } })
  await client.ask('archiveConversation', { conversationId, rolloutPath })
  expect(existsSync(textIn(conversation, 'rolloutPath'))).toBe(false)
  expect(client.received.every((message) => message['jsonrpc'] === undefined)).toBe(true)
})

test('a command that may only read writes nothing', async () => {
  await using client = world.start(['app-server', '--engine', 'mini'], world.ownEnv)
  await client.ask('initialize', CLIENT)
  const answer = await client.ask('execOneOffCommand', {
    command: ['sh', '-c', 'echo in; touch written'],
    cwd: world.workspace,
    sandboxPolicy: { mode: 'read-only' },
  })
  // Where no sandbox holds, nothing is run at all.
  if (answer['error'] === undefined) expect(resultOf(answer)).toMatchObject({ stdout: 'in\n', exitCode: 1 })
  else expect(answer).toMatchObject({ error: { message: expect.stringContaining('no sandbox') } })
  expect(existsSync(join(world.workspace, 'written'))).toBe(false)
})

test('the bridge to 0.166 serves a client of 0.42, and ends with its input in the middle of a turn', async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  await using client = world.start(['app-server', '--dialect', '0.42'], world.codexEnv(peer))
  world.say(codexModelAnswers(peer.version, [{ say: 'from the new one' }]))
  const { conversationId } = await converse(client, 'hello')
  expect(await client.seen(isEvent('agent_message'))).toMatchObject({
    jsonrpc: '2.0',
    params: { msg: { message: 'from the new one' } },
  })
  expect(resultOf(await client.ask('listConversations', { pageSize: 5 }))).toMatchObject({
    items: [{ conversationId, preview: 'hello' }],
  })
  world.say({ silent: true })
  const asked = world.model.requests.length
  await client.ask('sendUserMessage', { conversationId, items: [{ type: 'text', data: { text: 'wait' } }] })
  await world.model.arrived(asked + 1)
  client.end()
  expect(await client.exited).toEqual({ code: 0, signal: null })
  expect(client.err()).toMatch(/INFO parley_codex: engine codex/)
})

test('a port is a usage error', async () => {
  expect(await world.scratch.run(['app-server', '--port', '1'])).toMatchObject({
    code: 2,
    err: /parley proxy .* parley app-server/,
  })
})

import type { JsonObject, JsonValue } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BackendError } from '@parley/codex/port'
import { type MiniBackendWorld, openMiniBackendWorld } from '../backend/fixture/mini-backend-world.ts'
import { METHODS } from './methods.ts'
import { AppClient, text } from './fixture/app-client.ts'

const ID = '00000000-0000-7000-8000-000000000000'
let world: MiniBackendWorld
let client: AppClient

beforeAll(async () => {
  world = await openMiniBackendWorld({ needsKey: false })
  client = await AppClient.open({ backend: () => Promise.resolve(world.backend), folder: world.workspace })
})
afterAll(async () => {
  await client.end()
  await world[Symbol.asyncDispose]()
})

const WRONG: readonly (readonly [method: string, params: JsonValue | undefined, param: string])[] = [
  ['newConversation', undefined, 'params'],
  ['newConversation', null, 'params'],
  ['newConversation', [], 'params'],
  ['newConversation', 'gpt-5', 'params'],
  ['newConversation', { model: 5 }, 'model'],
  ['newConversation', { profile: {} }, 'profile'],
  ['newConversation', { cwd: [] }, 'cwd'],
  ['newConversation', { approvalPolicy: 'sometimes' }, 'approvalPolicy'],
  ['newConversation', { sandbox: 'none' }, 'sandbox'],
  ['newConversation', { config: 'model=x' }, 'config'],
  ['newConversation', { config: [] }, 'config'],
  ['newConversation', { baseInstructions: 1 }, 'baseInstructions'],
  ['newConversation', { includePlanTool: 'yes' }, 'includePlanTool'],
  ['newConversation', { includeApplyPatchTool: 1 }, 'includeApplyPatchTool'],
  ['listConversations', undefined, 'params'],
  ['listConversations', { pageSize: -1 }, 'pageSize'],
  ['listConversations', { pageSize: 1.5 }, 'pageSize'],
  ['listConversations', { pageSize: '2' }, 'pageSize'],
  ['listConversations', { cursor: 7 }, 'cursor'],
  ['resumeConversation', {}, 'path'],
  ['resumeConversation', { path: 7 }, 'path'],
  ['resumeConversation', { path: '' }, 'path'],
  ['resumeConversation', { conversationId: 'x' }, 'conversationId'],
  ['resumeConversation', { path: '/x', overrides: { model: 1 } }, 'overrides.model'],
  ['archiveConversation', { conversationId: 'x', rolloutPath: '/x' }, 'conversationId'],
  ['archiveConversation', { conversationId: ID, rolloutPath: 1 }, 'rolloutPath'],
  ['sendUserMessage', { items: text('x') }, 'conversationId'],
  ['sendUserMessage', { conversationId: 'nope', items: text('x') }, 'conversationId'],
  ['sendUserMessage', { conversationId: ID }, 'items'],
  ['sendUserMessage', { conversationId: ID, items: 'x' }, 'items'],
  ['sendUserMessage', { conversationId: ID, items: Array.from({ length: 1_025 }, () => text('x')[0] ?? null) }, 'items'],
  ['sendUserTurn', { conversationId: ID, items: [], sandboxPolicy: {} }, 'sandboxPolicy.mode'],
  ['sendUserTurn', { conversationId: ID, items: [], sandboxPolicy: 'all' }, 'sandboxPolicy.mode'],
  ['sendUserTurn', { conversationId: ID, items: [], sandboxPolicy: 5 }, 'sandboxPolicy'],
  ['sendUserTurn', { conversationId: ID, items: [], approvalPolicy: 1 }, 'approvalPolicy'],
  ['sendUserTurn', { conversationId: ID, items: [], effort: 'huge' }, 'effort'],
  ['sendUserTurn', { conversationId: ID, items: [], summary: 'some' }, 'summary'],
  ['sendUserTurn', { conversationId: ID, items: [], model: {} }, 'model'],
  ['sendUserTurn', { conversationId: ID, items: [], cwd: 1 }, 'cwd'],
  ['interruptConversation', {}, 'conversationId'],
  ['addConversationListener', { conversationId: null }, 'conversationId'],
  ['removeConversationListener', { subscriptionId: 'x' }, 'subscriptionId'],
  ['gitDiffToRemote', {}, 'cwd'],
  ['gitDiffToRemote', { cwd: '' }, 'cwd'],
  ['loginApiKey', { apiKey: '' }, 'apiKey'],
  ['loginApiKey', { apiKey: 7 }, 'apiKey'],
  ['cancelLoginChatGpt', { loginId: 'x' }, 'loginId'],
  ['getAuthStatus', undefined, 'params'],
  ['getAuthStatus', { includeToken: 'yes' }, 'includeToken'],
  ['setDefaultModel', { model: 1 }, 'model'],
  ['setDefaultModel', { reasoningEffort: 'huge' }, 'reasoningEffort'],
  ['fuzzyFileSearch', { roots: [] }, 'query'],
  ['fuzzyFileSearch', { query: 'x', roots: 'y' }, 'roots'],
  ['fuzzyFileSearch', { query: 'x', roots: [1] }, 'roots[0]'],
  ['fuzzyFileSearch', { query: 'x', roots: ['/'], cancellationToken: 1 }, 'cancellationToken'],
  ['execOneOffCommand', { command: 'ls' }, 'command'],
  ['execOneOffCommand', { command: [1] }, 'command[0]'],
  ['execOneOffCommand', { command: ['ls'], timeoutMs: -1 }, 'timeoutMs'],
  ['execOneOffCommand', { command: ['ls'], timeoutMs: 'long' }, 'timeoutMs'],
  ['getUserAgent', { more: true }, 'params'],
  ['userInfo', [], 'params'],
  ['loginChatGpt', 'now', 'params'],
  ['initialize', {}, 'clientInfo'],
  ['initialize', { clientInfo: { name: 'x' } }, 'clientInfo.version'],
]

test.each(WRONG)('%s with %j names the parameter %s', async (method, params, param) => {
  const answer = await client.ask(method, params)
  expect(answer).toMatchObject({ error: { code: -32600, message: expect.stringMatching(/^Invalid request: /), data: { param } } })
})

describe('items', () => {
  test.each([
    [['text'], 'items[0]'],
    [[{}], 'items[0].type'],
    [[{ type: 'sound', data: {} }], 'items[0].type'],
    [[{ type: 'toString', data: {} }], 'items[0].type'],
    [[...text('ok'), { type: 'text' }], 'items[1].data'],
    [[{ type: 'text', data: 'x' }], 'items[0].data'],
    [[{ type: 'text', data: {} }], 'items[0].data.text'],
    [[{ type: 'text', text: 5 }], 'items[0].text'],
    [[{ type: 'image', data: { image_url: 5 } }], 'items[0].data.image_url'],
    [[{ type: 'image', data: { image_url: 'https://example.com/x.png' } }], 'input[0].url'],
    [[{ type: 'localImage', data: { path: 5 } }], 'items[0].data.path'],
  ] as const)('%j names %s', async (items, param) => {
    const { conversationId } = await client.call('newConversation', {})
    const params: JsonObject = {
      conversationId,
      items: items.map((item): JsonValue => (typeof item === 'string' ? item : { ...item })),
    }
    expect(await client.ask('sendUserMessage', params)).toMatchObject({ error: { code: -32600, data: { param } } })
    await client.call('archiveConversation', { conversationId }).catch(() => undefined)
  })
})

test('every method of the table is called here with something wrong, or takes nothing', () => {
  const bare = ['getUserAgent', 'getUserSavedConfig', 'loginChatGpt', 'logoutChatGpt', 'userInfo']
  const served = Object.entries(METHODS).flatMap(([name, { dialects }]) => (dialects.includes('0.44') ? [name] : []))
  expect(new Set([...WRONG.map(([method]) => method), ...bare])).toEqual(new Set(served))
})

test('an unknown method is refused with the known ones', async () => {
  const { error } = await client.ask('no/such', {})
  expect(error).toMatchObject({ code: -32600, data: { param: 'method', method: 'no/such' } })
  expect(JSON.stringify(error)).toContain('unknown method `no/such`, expected one of `initialize`, `newConversation`')
  expect(await client.ask('tools/list')).toMatchObject({ error: { code: -32600 } })
  expect(await client.ask('toString', {})).toMatchObject({ error: { code: -32600 } })
})

test('a method that is taken out of the table is unknown', async () => {
  const { getUserAgent: _gone, ...methods } = METHODS
  await using other = await AppClient.open({ backend: () => Promise.resolve(world.reopen()), folder: world.workspace, methods })
  expect(await other.ask('getUserAgent')).toMatchObject({ error: { code: -32600, data: { method: 'getUserAgent' } } })
})

test('nothing is served before initialize, and initialize only once', async () => {
  await using raw = await AppClient.open({ backend: () => Promise.resolve(world.reopen()), folder: world.workspace, isRaw: true })
  expect(await raw.ask('getUserAgent')).toEqual({ id: 1, error: { code: -32600, message: 'Not initialized' } })
  expect(await raw.ask('no/such')).toMatchObject({ error: { message: 'Not initialized' } })
  const clientInfo = { name: 'pro\nbe', version: '1.0' }
  expect(await raw.ask('initialize', { clientInfo })).toEqual({
    id: 3,
    result: { userAgent: 'codex_cli_rs/0.44.0 (Debian 12.0.0; x86_64) xterm parley/0.1.0 (pro_be; 1.0)' },
  })
  expect(await raw.ask('initialize', { clientInfo })).toMatchObject({ error: { code: -32600, message: 'Already initialized' } })
})

test('a line that is no message is noted and left out; one with an id is answered', async () => {
  const from = client.received.length
  const noted = client.notes.length
  for (const line of [
    '{',
    'null',
    '[]',
    '[{"id":1,"method":"getUserAgent"}]',
    '{"id":null,"method":"getUserAgent"}',
    '{"id":{},"method":"x"}',
    '{}',
    '',
  ])
    client.sendText(line)
  client.sendText('{"id":"a","method":7}')
  client.sendText('{"id":"b"}')
  expect(await client.answerTo('b')).toMatchObject({ error: { code: -32600 } })
  expect(client.story(from)).toEqual(['answer', 'answer'])
  expect(client.notes.length - noted).toBeGreaterThanOrEqual(8)
  expect(await client.call('getUserAgent', {})).toHaveProperty('userAgent')
})

test('ids of text come back as text, and jsonrpc is read and not written', async () => {
  client.sendText('{"jsonrpc":"2.0","id":"seven","method":"getUserAgent"}')
  expect(await client.answerTo('seven')).toEqual({ id: 'seven', result: { userAgent: expect.any(String) } })
})

test('a version that lacks a parameter is told apart by its code', async () => {
  const data = { param: 'profile', currentVersion: '0.166.0', minVersion: '0.44.0' }
  const fails = (): Promise<never> => Promise.reject(new BackendError('unsupported', "'profile' is gone", { data }))
  await using other = await AppClient.open({ backend: fails, folder: world.workspace })
  expect(await other.ask('newConversation', { profile: 'x' })).toMatchObject({ error: { code: -32602, data } })
})

test('a backend that could not be opened is tried again by the next request', async () => {
  let tries = 0
  const backend = () => {
    tries += 1
    return tries === 1 ? Promise.reject(new BackendError('lost', 'Codex did not start')) : Promise.resolve(world.reopen())
  }
  await using other = await AppClient.open({ backend, folder: world.workspace })
  expect(await other.ask('userInfo')).toMatchObject({ error: { code: -32603, message: 'Codex did not start' } })
  expect(await other.call('userInfo')).toEqual({ allegedUserEmail: null })
})

import { expect, test } from 'vitest'
import { openMiniBackendWorld, say } from '../backend/fixture/mini-backend-world.ts'
import { BackendError } from '@parley/codex/port'
import { openMcpWorld } from './fixture/mcp-world.ts'

const NOBODY = '00000000-0000-7000-8000-000000000000'
const failure = (text: string, more = {}) => ({ isError: true, content: [{ type: 'text', text }], ...more })

test('initialize is answered as the old server did, once, before any engine is opened', async () => {
  await using world = await openMcpWorld()
  const { client } = world
  expect(await client.initialize({}, '2025-06-18')).toEqual({
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true } },
    serverInfo: {
      name: 'codex-mcp-server',
      title: 'Codex',
      version: '0.153.4',
      user_agent: 'codex_cli_rs/0.153.4 (Test 1; x86_64) dumb parley/0.1.0 (line-client; 1.0)',
    },
  })
  const again = await client.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  })
  expect(again).toMatchObject({ error: { code: -32_600 } })
  expect(await client.request('ping')).toMatchObject({ result: {} })
  expect(world.opened()).toBe(0)
})

test('the version is negotiated: one that nobody knows is not repeated', async () => {
  await using world = await openMcpWorld()
  expect(await world.client.initialize({}, '1999-01-01')).toMatchObject({ protocolVersion: '2025-11-25' })
})

test.each(['constructor', '__proto__', 'toString'])('a method that is called %s is unknown like any other', async (method) => {
  await using world = await openMcpWorld()
  expect(await world.client.request(method)).toMatchObject({ error: { code: -32_601, data: { method } } })
})

test('the list comes before initialize too, and initialize is still answered after it', async () => {
  await using world = await openMcpWorld()
  const { client } = world
  expect(await client.request('tools/list')).toMatchObject({
    result: { tools: [{ name: 'codex' }, { name: 'codex-reply' }] },
  })
  expect(await client.initialize()).toMatchObject({ protocolVersion: '2025-06-18' })
})

test('the newer list has an output schema, and what older clients send is marked as deprecated', async () => {
  await using world = await openMcpWorld()
  const { result } = await world.client.request('tools/list')
  expect(result).toMatchObject({
    tools: [
      {
        inputSchema: {
          additionalProperties: false,
          required: ['prompt'],
          properties: {
            profile: { type: 'string', deprecated: true },
            'include-plan-tool': { type: 'boolean', deprecated: true },
            'approval-policy': { enum: ['on-request', 'never', 'untrusted', 'on-failure'] },
            'developer-instructions': { type: 'string' },
          },
        },
        outputSchema: { required: ['threadId', 'content'] },
      },
      { inputSchema: { required: ['prompt'], properties: { threadId: {}, conversationId: { deprecated: true } } } },
    ],
  })
})

test('the older list is what it was', async () => {
  await using world = await openMcpWorld({ dialect: '0.44' })
  const { result } = await world.client.request('tools/list')
  const properties = ['approval-policy', 'base-instructions', 'config', 'cwd', 'include-plan-tool', 'model', 'profile', 'prompt']
  expect(result).toEqual({
    tools: [
      expect.objectContaining({ name: 'codex', title: 'Codex' }),
      expect.objectContaining({
        name: 'codex-reply',
        description: 'Continue a Codex conversation by providing the conversation id and prompt.',
      }),
    ],
  })
  const text = JSON.stringify(result)
  for (const property of properties) expect(text).toContain(`"${property}"`)
  for (const word of ['outputSchema', 'threadId', 'deprecated', 'additionalProperties":false']) expect(text).not.toContain(word)
})

test('whatever else is asked for is answered', async () => {
  await using world = await openMcpWorld()
  const { client } = world
  expect(await client.request('resources/list')).toMatchObject({ result: { resources: [] } })
  expect(await client.request('resources/templates/list')).toMatchObject({ result: { resourceTemplates: [] } })
  expect(await client.request('prompts/list')).toMatchObject({ result: { prompts: [] } })
  expect(await client.request('no/such')).toMatchObject({
    error: { code: -32_601, message: 'method not found: no/such', data: { method: 'no/such' } },
  })
  expect(await client.request('tools/call')).toMatchObject({ error: { code: -32_602, data: { field: 'name' } } })
})

test('calls that cannot be read are told what is wrong, in the old words', async () => {
  await using world = await openMcpWorld()
  const { client } = world
  const cannot = (why: string) => failure(`Failed to parse configuration for Codex tool: ${why}`)
  expect(await client.call('nope', {})).toEqual(failure("Unknown tool 'nope'"))
  expect(await client.call('codex')).toEqual(failure('Missing arguments for codex tool-call; the `prompt` field is required.'))
  expect(await client.call('codex', {})).toEqual(cannot('missing field `prompt`'))
  expect(await client.call('codex', { model: 5 })).toEqual(cannot('invalid type: number, expected a string'))
  expect(await client.call('codex', { prompt: 'x', sandbox: 'weird' })).toEqual(
    cannot('unknown variant `weird`, expected one of `read-only`, `workspace-write`, `danger-full-access`'),
  )
  expect(await client.call('codex', { prompt: 'x', extra: 1 })).toMatchObject({
    content: [{ text: expect.stringContaining('unknown field `extra`, expected one of `prompt`, `model`') }],
  })
  expect(await client.call('codex-reply')).toEqual(
    failure('Missing arguments for codex-reply tool-call; the `thread_id` and `prompt` fields are required.'),
  )
  expect(await client.call('codex-reply', { prompt: 'x' })).toEqual(
    failure('Failed to parse thread_id: either threadId or conversationId must be provided'),
  )
  expect(await client.call('codex-reply', { threadId: NOBODY })).toEqual(cannot('missing field `prompt`'))
  expect(await client.call('codex-reply', { threadId: 'nope', prompt: 'x' })).toEqual(
    failure(
      'Failed to parse thread_id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1',
    ),
  )
  const text = `Session not found for thread_id: ${NOBODY}`
  expect(await client.call('codex-reply', { conversationId: NOBODY, prompt: 'x' })).toEqual(
    failure(text, { structuredContent: { threadId: NOBODY, content: text } }),
  )
})

test('the older dialect has its own words, and ignores what it does not know', async () => {
  await using world = await openMcpWorld({ dialect: '0.44' })
  const { client, mini } = world
  expect(await client.call('codex', { model: 5 })).toEqual(
    failure('Failed to parse configuration for Codex tool: invalid type: integer `5`, expected a string'),
  )
  expect(await client.call('codex-reply', { conversationId: NOBODY, prompt: 'x' })).toEqual(
    failure(`Session not found for conversation_id: ${NOBODY}`),
  )
  mini.say(say('hello'))
  expect(await client.call('codex', { prompt: 'x', extra: 1, 'developer-instructions': 'Be kind.' })).toEqual({
    content: [{ type: 'text', text: 'hello' }],
  })
  expect(world.logged).toEqual(["info: codex: 'developer-instructions' is of another version of Codex than 0.44, and is taken"])
})

test('an engine that cannot be had is a failure of the call, and is tried again', async () => {
  let tries = 0
  await using world = await openMcpWorld({
    backend: () => {
      tries += 1
      return Promise.reject(new BackendError('failed', 'there is no Codex'))
    },
  })
  const text = 'Failed to start Codex session: there is no Codex'
  expect(await world.client.call('codex', { prompt: 'x' })).toEqual(failure(text))
  expect(await world.client.call('codex', { prompt: 'x' })).toEqual(failure(text))
  expect(tries).toBe(2)
})

test('an unknown profile is told in the old words', async () => {
  await using world = await openMcpWorld()
  expect(await world.client.call('codex', { prompt: 'x', profile: 'nope' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^Failed to load Codex configuration from overrides: .*`?nope`?.* not found/) }],
  })
})

test('an argument that the Codex behind it lacks is refused with the version that it needs', async () => {
  await using world = await openMcpWorld({
    backend: async () => {
      const mini = await openMiniBackendWorld({ givenKey: 'key' })
      return { ...mini.backend, engine: 'codex', version: '0.44.0', close: async () => mini[Symbol.asyncDispose]() }
    },
  })
  const args = { prompt: 'x', 'compact-prompt': 'y' }
  expect(await world.client.request('tools/call', { name: 'codex', arguments: args })).toMatchObject({
    error: {
      code: -32_602,
      message: "Invalid params: 'compact-prompt' requires Codex >= 0.140.0 (current: 0.44.0)",
      data: { param: 'compact-prompt', currentVersion: '0.44.0', minVersion: '0.140.0' },
    },
  })
})

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { contractTools } from '@parley/agent/testing'
import { isJsonObject, type JsonObject } from '@parley/protocol'
import { memoryPair, memoryTransport, serveMemory } from '@parley/rpc'
import { expect, test } from 'vitest'
import { patch, say, shell } from '../backend/fixture/mini-backend-world.ts'
import { decisionIn } from './elicitation.ts'
import { type McpWorld, openMcpWorld } from './fixture/mcp-world.ts'

const ASKING = { prompt: 'go', 'approval-policy': 'untrusted', sandbox: 'workspace-write' }
const PATCH = '*** Begin Patch\n*** Add File: new.txt\n+hi\n*** Update File: old.txt\n@@\n a\n-b\n+B\n*** End Patch'

/** Whether the command that the model wanted has run, and what the call came to. */
async function attempt(world: McpWorld, file: string, answer: JsonObject | undefined): Promise<readonly [boolean, JsonObject]> {
  const { client, mini } = world
  client.onRequest = () => answer
  mini.say(shell('touch', file), say('went on'))
  const result = await client.call('codex', ASKING)
  return [existsSync(join(mini.workspace, file)), result]
}

test('every answer is understood: those of Codex and those of the protocol', async () => {
  await using world = await openMcpWorld()
  await world.client.initialize()
  const wentOn = { content: [{ text: 'went on' }] }
  const cases: readonly (readonly [JsonObject, boolean])[] = [
    [{ result: { decision: 'approved' } }, true],
    [{ result: { decision: 'approved_for_session' } }, true],
    [{ result: { decision: 'denied' } }, false],
    [{ result: { action: 'accept', content: {} } }, true],
    [{ result: { action: 'decline' } }, false],
    [{ error: { code: -32_603, message: 'no window to ask in' } }, false],
    [{ result: { decision: 'yes please' } }, false],
    [{ result: {} }, false],
    [{ result: 'approved' }, false],
    [{ error: 'no' }, false],
  ]
  for (const [index, [answer, runs]] of cases.entries()) {
    const [hasRun, result] = await attempt(world, `case-${index}`, answer)
    expect([answer, hasRun]).toEqual([answer, runs])
    expect(result).toMatchObject(wentOn)
    world.mini.say()
  }
  expect(world.logged.filter((line) => line.startsWith('warn'))).toHaveLength(5)
  for (const answer of [{ result: { decision: 'abort' } }, { result: { action: 'cancel' } }]) {
    const [hasRun, result] = await attempt(world, 'aborted', answer)
    expect([hasRun, result]).toMatchObject([false, { isError: true, content: [{ text: 'The turn was aborted.' }] }])
    // The script still holds what the model would have said next.
    world.mini.say()
    await drainScript(world)
  }
})

async function drainScript({ client }: McpWorld): Promise<void> {
  expect(await client.call('codex', { prompt: 'rest' })).toMatchObject({ content: [{ text: 'went on' }] })
}

test('decisions with details, and a decision inside an accepted form', () => {
  expect(decisionIn({ decision: { denied: { reason: 'no' } } })).toBe('denied')
  expect(decisionIn({ decision: { approved_execpolicy_amendment: {} } })).toBe('approved')
  expect(decisionIn({ action: 'accept', content: { decision: 'approved_for_session' } })).toBe('approved_for_session')
  expect(decisionIn({ action: 'accept', content: { decision: 'perhaps' } })).toBeUndefined()
  expect(decisionIn({ action: 'constructor' })).toBeUndefined()
  expect(decisionIn({ decision: null })).toBeUndefined()
})

test.each(['0.44', '0.153'] as const)('questions about commands and patches have the fields of %s', async (dialect) => {
  await using world = await openMcpWorld({ dialect })
  const { client, mini } = world
  const { workspace } = mini
  await client.initialize()
  mini.say(shell('sh', '-c', 'echo a > old.txt; echo b >> old.txt'), patch(PATCH), say('done'))
  client.onRequest = () => ({ result: { action: 'accept' } })
  const id = client.startCall('codex', ASKING)
  await client.answered(id)
  const asked = client.received.flatMap(({ method, params }) =>
    method === 'elicitation/create' && isJsonObject(params) ? [params] : [],
  )
  const newer = dialect === '0.153'
  const threadId = client.events(id)[0]?.['session_id']
  const [, request] = client
    .types(id)
    .flatMap((type, index) => (type === 'exec_approval_request' ? [index, client.events(id)[index]] : []))
  const command = ['sh', '-c', 'echo a > old.txt; echo b >> old.txt']
  const eventId = newer ? expect.stringMatching(/^turn_/) : String(id)
  expect(asked).toEqual([
    {
      message: `Allow Codex to run \`sh -c 'echo a > old.txt; echo b >> old.txt'\` in \`${workspace}\`?`,
      requestedSchema: { type: 'object', properties: {} },
      ...(newer ? { threadId } : {}),
      codex_elicitation: 'exec-approval',
      codex_mcp_tool_call_id: String(id),
      codex_event_id: eventId,
      codex_call_id: isJsonObject(request) ? request['call_id'] : '',
      codex_command: command,
      codex_cwd: workspace,
      ...(newer ? { codex_parsed_cmd: [{ type: 'unknown', cmd: command[2] }] } : {}),
    },
    {
      message: 'Allow Codex to apply proposed code changes?',
      requestedSchema: { type: 'object', properties: {} },
      ...(newer ? { threadId } : {}),
      codex_elicitation: 'patch-approval',
      codex_mcp_tool_call_id: String(id),
      codex_event_id: eventId,
      codex_call_id: expect.any(String),
      codex_changes: newer
        ? {
            [`${workspace}/new.txt`]: { type: 'add', content: 'hi\n' },
            [`${workspace}/old.txt`]: { type: 'update', unified_diff: '@@ -1,2 +1,2 @@\n a\n-b\n+B\n', move_path: null },
          }
        : {
            [`${workspace}/new.txt`]: { add: { content: 'hi\n' } },
            [`${workspace}/old.txt`]: { update: { unified_diff: '@@ -1,2 +1,2 @@\n a\n-b\n+B\n', move_path: null } },
          },
    },
  ])
})

test('a client that cannot be asked is told what was denied, and the turn goes on', async () => {
  for (const dialect of ['0.44', '0.153'] as const) {
    await using world = await openMcpWorld({ dialect })
    await world.client.initialize({})
    const [hasRun, result] = await attempt(world, 'unasked', undefined)
    expect([hasRun, result]).toMatchObject([false, { content: [{ text: 'went on' }] }])
    const message =
      'the command `touch unasked` was denied: this client did not say that it can be asked (capability elicitation)'
    expect(world.logged).toContain(`warn: ${message}`)
    const told = world.client.events(2).find((event) => event['message'] === message)
    expect(told?.['type']).toBe(dialect === '0.44' ? 'background_event' : 'warning')
    expect(JSON.stringify(world.mini.model.requests.at(-1)?.body)).toContain('The call was denied')
  }
})

test('what is done when nobody can be asked may be set', async () => {
  await using approving = await openMcpWorld({ whenUnanswerable: 'approve' })
  await approving.client.initialize({})
  expect((await attempt(approving, 'approved', undefined))[0]).toBe(true)
  await using asking = await openMcpWorld({ whenUnanswerable: 'ask' })
  await asking.client.initialize({})
  expect((await attempt(asking, 'asked', { result: { decision: 'approved' } }))[0]).toBe(true)
})

test('a question may be given a time, after which it is denied and taken back', async () => {
  await using world = await openMcpWorld({ answerMs: 20 })
  await world.client.initialize()
  const [hasRun, result] = await attempt(world, 'late', undefined)
  expect([hasRun, result]).toMatchObject([false, { content: [{ text: 'went on' }] }])
  expect(world.client.received.map(({ method }) => method)).toContain('notifications/cancelled')
})

test('a call that is cancelled while its question is open takes the question back', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  await client.initialize()
  mini.say(shell('touch', 'never'))
  const id = client.startCall('codex', ASKING)
  await client.until(() => client.received.find(({ method }) => method === 'elicitation/create'))
  client.notify('notifications/cancelled', { requestId: id })
  expect(await client.answered(id)).toMatchObject({ result: { isError: true } })
  expect(client.received.map(({ method }) => method)).toContain('notifications/cancelled')
  expect(existsSync(join(mini.workspace, 'never'))).toBe(false)
})

test('tools of mounted servers are asked about as well', async () => {
  const open = () => {
    const { client, server } = memoryPair()
    serveMemory(server, contractTools(), { key: 'test' })
    return memoryTransport(client)
  }
  const mounts = [{ name: 'fixed', required: true, server: { kind: 'linked', open } }] as const
  await using world = await openMcpWorld({ defaults: { mounts } })
  const { client, mini } = world
  await client.initialize()
  client.onRequest = () => ({ result: { action: 'accept' } })
  mini.say({ pieces: [{ call: 'fixed_echo', arguments: { text: 'hi' } }] }, say('done'))
  const id = client.startCall('codex', ASKING)
  await client.answered(id)
  expect(client.received.find(({ method }) => method === 'elicitation/create')).toMatchObject({
    params: {
      message: 'Allow Codex to call the tool `fixed.echo`?',
      codex_elicitation: 'tool-approval',
      codex_server: 'fixed',
      codex_tool: 'echo',
      codex_arguments: { text: 'hi' },
    },
  })
  expect(client.events(id).find(({ type }) => type === 'mcp_tool_call_end')).toMatchObject({
    invocation: { server: 'fixed', tool: 'echo', arguments: { text: 'hi' } },
    result: { Ok: { content: [{ type: 'text' }] } },
  })
})

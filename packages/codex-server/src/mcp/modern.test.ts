import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@parley/protocol'
import { connectClient, stdioTransport } from '@parley/rpc'
import { expect, test } from 'vitest'
import { say, shell } from '../backend/fixture/mini-backend-world.ts'
import { openMcpWorld } from './fixture/mcp-world.ts'

const ASKING = { prompt: 'go', 'approval-policy': 'untrusted', sandbox: 'workspace-write' }
const WHO = { name: 'modern', version: '1' }

function modern(capabilities: JsonObject): JsonObject {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
}

test('a client of the modern era calls, hears the events of its call, and is asked by an answer while the turn waits', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  mini.say(shell('touch', 'asked'), say('done'))
  const _meta = modern({ elicitation: {} })
  const first = client.start('tools/call', { name: 'codex', arguments: ASKING, _meta })
  const { result } = await client.answered(first)
  expect(result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { q0: { method: 'elicitation/create', params: { codex_elicitation: 'exec-approval' } } },
  })
  expect(client.types(first)).toContain('exec_approval_request')
  expect(existsSync(join(mini.workspace, 'asked'))).toBe(false)
  const requestState = isJsonObject(result) ? result['requestState'] : ''
  const inputResponses = { q0: { action: 'accept' } }
  const second = client.start('tools/call', { name: 'codex', arguments: ASKING, inputResponses, requestState, _meta })
  expect(await client.answered(second)).toMatchObject({
    result: { resultType: 'complete', structuredContent: { content: 'done' } },
  })
  expect(client.types(second)).toEqual(expect.arrayContaining(['exec_command_begin', 'exec_command_end', 'task_complete']))
  expect(existsSync(join(mini.workspace, 'asked'))).toBe(true)
  expect(mini.model.requests).toHaveLength(2)
})

test('one that cannot be asked gets a clear denial', async () => {
  await using world = await openMcpWorld({ whenUnanswerable: 'ask' })
  const { client, mini } = world
  mini.say(shell('touch', 'unasked'), say('went on'))
  const id = client.start('tools/call', { name: 'codex', arguments: ASKING, _meta: modern({}) })
  expect(await client.answered(id)).toMatchObject({ result: { structuredContent: { content: 'went on' } } })
  expect(world.logged.join()).toContain('the command `touch unasked` was denied')
})

test('one that cancels interrupts its turn', async () => {
  await using world = await openMcpWorld()
  const { client, mini } = world
  mini.say({ pieces: [{ text: 'x'.repeat(400) }], manner: { stallAfterEvents: 6 } })
  const id = client.start('tools/call', { name: 'codex', arguments: { prompt: 'go' }, _meta: modern({}) })
  await client.until(() => client.types(id).includes('agent_message_delta') || undefined)
  client.notify('notifications/cancelled', { requestId: id })
  await gone(mini.model.requests[0]?.gone)
  expect(await client.request('ping')).toMatchObject({ result: {} })
})

test.each(['modern', 'legacy'] as const)('our own client, era %s', async (era) => {
  await using world = await openMcpWorld()
  const { mini } = world
  const client = await connectClient(stdioTransport({ input: world.output, output: world.input }), {
    clientInfo: WHO,
    capabilities: { elicitation: {} },
    era,
    handlers: { elicit: () => Promise.resolve({ action: 'accept', content: {} }) },
  })
  mini.say(shell('touch', 'by-ours'), say('done'))
  expect(await client.callToolRaw('codex', ASKING)).toMatchObject({ structuredContent: { content: 'done' } })
  expect(existsSync(join(mini.workspace, 'by-ours'))).toBe(true)
})

function gone(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal === undefined || signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

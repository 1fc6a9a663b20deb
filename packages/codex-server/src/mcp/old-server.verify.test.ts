import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { peerOrSkip } from '../../../../scripts/peers/peer-or-skip.ts'
import type { CodexProcess } from '@parley/contracts'
import { type CodexWorld, openCodexWorld } from '@parley/codex/testing'
import { LineClient } from './fixture/line-client.ts'

/**
 * What the server that stood here before does: the real `codex mcp-server` of 0.153.4, for each of the faults that ours
 * has not. When one of these fails, either the fault was never one or it is worth looking at again.
 */
/** What has not come while it answered so many others never comes. */
const OTHERS = 40
const STALLS = { pieces: [{ text: 'x'.repeat(400) }], manner: { stallAfterEvents: 6 } }
const say = (text: string) => ({ pieces: [{ text }] })

let world: CodexWorld | undefined
beforeAll(async () => {
  const peer = await peerOrSkip('codex-0.153')
  if (peer !== undefined) world = await openCodexWorld({ peer })
})
afterAll(() => world?.[Symbol.asyncDispose]())

interface Old {
  readonly client: LineClient
  readonly process: CodexProcess
  readonly model: string
  readonly free: JsonObject
  readonly asking: JsonObject
}

let models = 0
/** One process for each test, so that they run side by side. */
async function openOld(skip: (note: string) => never, capabilities: JsonObject = { elicitation: {} }): Promise<Old> {
  const open = world ?? skip('codex-0.153 cannot be had')
  const process = await open.start(['mcp-server'])
  const client = new LineClient(process.stdin, process.stdout)
  await client.initialize(capabilities)
  models += 1
  const model = `old-${models}`
  const order = { prompt: 'go', model, cwd: open.folder }
  const free = { ...order, 'approval-policy': 'never', sandbox: 'danger-full-access' }
  return { client, process, model, free, asking: { ...order, 'approval-policy': 'on-request', sandbox: 'read-only' } }
}

const touch = (file: string) => ({
  pieces: [
    {
      call: 'exec_command',
      arguments: { cmd: `touch ${file}`, sandbox_permissions: 'require_escalated', justification: 'so' },
    },
  ],
})

async function answersOthers(client: LineClient): Promise<void> {
  for (let asked = 0; asked < OTHERS; asked += 1) expect(await client.request('ping')).toMatchObject({ result: {} })
}

/** It lives and answers, and yet this request has no answer. */
async function expectUnanswered(client: LineClient, id: string | number): Promise<void> {
  await answersOthers(client)
  expect(client.answerTo(id)).toBeUndefined()
}

const hasBegun = (client: LineClient, id: string | number): Promise<boolean> =>
  client.until(() => client.types(id).includes('agent_message_content_delta') || undefined)

test.concurrent('a cancelled call is not answered, unless it takes the answer of the next one', async ({ skip }) => {
  const { client, model, free } = await openOld(skip)
  world?.scriptWire(model, [STALLS, say('after')])
  const id = client.startCall('codex', free)
  await hasBegun(client, id)
  client.notify('notifications/cancelled', { requestId: id })
  const threadId = await client.until(() => threadIn(client, id))
  await client.until(() => client.types(id).includes('turn_aborted') || undefined)
  await expectUnanswered(client, id)
  const reply = client.startCall('codex-reply', { threadId, prompt: 'next' })
  await client.until(() => client.answerTo(id) ?? client.answerTo(reply))
  // Both wait for the events of the one turn, and whoever is faster gets its end.
  await answersOthers(client)
  expect([client.answerTo(id), client.answerTo(reply)].filter((answer) => answer === undefined)).toHaveLength(1)
})

test.concurrent('an accepted elicitation counts as denied', async ({ skip }) => {
  const { client, model, asking } = await openOld(skip)
  const file = join(world?.folder ?? '', 'accepted')
  world?.scriptWire(model, [touch(file), say('went on')])
  client.onRequest = () => ({ result: { action: 'accept', content: {} } })
  await client.call('codex', asking)
  expect(client.received.map(({ method }) => method)).toContain('elicitation/create')
  expect(existsSync(file)).toBe(false)
})

test.concurrent('an error as the answer to an elicitation hangs the turn', async ({ skip }) => {
  const { client, model, asking } = await openOld(skip)
  world?.scriptWire(model, [touch('x'), say('went on')])
  client.onRequest = () => ({ error: { code: -32_603, message: 'no' } })
  const id = client.startCall('codex', asking)
  await client.until(() => client.received.find(({ method }) => method === 'elicitation/create'))
  await expectUnanswered(client, id)
})

test.concurrent('a client that cannot be asked is asked, and the turn hangs', async ({ skip }) => {
  const { client, model, asking } = await openOld(skip, {})
  world?.scriptWire(model, [touch('x'), say('went on')])
  const id = client.startCall('codex', asking)
  await client.until(() => client.received.find(({ method }) => method === 'elicitation/create'))
  await expectUnanswered(client, id)
})

test.concurrent('resources and prompts are not answered, any version is repeated, progress is not told', async ({ skip }) => {
  const { client, model, free, process } = await openOld(skip)
  const lists = [client.start('resources/list'), client.start('prompts/list')]
  world?.scriptWire(model, [say('done')])
  await client.call('codex', free, { progressToken: 'p' })
  expect(client.received.map(({ method }) => method)).not.toContain('notifications/progress')
  for (const id of lists) expect(client.answerTo(id)).toBeUndefined()
  const other = await (world ?? skip('')).start(['mcp-server'])
  expect(await new LineClient(other.stdin, other.stdout).initialize({}, '1999-01-01')).toMatchObject({
    protocolVersion: '1999-01-01',
  })
  expect(process.pid).toBeGreaterThan(0)
})

test.concurrent('of two replies at once one is never answered, and after a restart none finds its thread', async ({ skip }) => {
  const { client, model, free } = await openOld(skip)
  world?.scriptWire(model, [say('first'), say('second'), say('third')])
  const { structuredContent } = await client.call('codex', free)
  const threadId = isJsonObject(structuredContent) ? JSON.stringify(structuredContent['threadId']).slice(1, -1) : ''
  const replies = ['1', '2'].map((prompt) => client.startCall('codex-reply', { threadId, prompt }))
  await client.until(() => replies.map((id) => client.answerTo(id)).find((answer) => answer !== undefined))
  await answersOthers(client)
  expect(replies.filter((id) => client.answerTo(id) === undefined)).toHaveLength(1)
  const other = await (world ?? skip('')).start(['mcp-server'])
  const again = new LineClient(other.stdin, other.stdout)
  await again.initialize()
  expect(await again.call('codex-reply', { threadId, prompt: '3' })).toMatchObject({
    isError: true,
    content: [{ text: `Session not found for thread_id: ${threadId}` }],
  })
})

test.concurrent('the end of the input during a turn does not end it', async ({ skip }) => {
  const { client, model, free, process } = await openOld(skip)
  world?.scriptWire(model, [STALLS])
  const id = client.startCall('codex', free)
  await hasBegun(client, id)
  process.stdin.end()
  const ends = await Promise.race([process.exited, wait(2_000, 'lives on')])
  expect(ends).toBe('lives on')
})

function threadIn(client: LineClient, id: string | number): string | undefined {
  const configured = client.events(id).find(({ type }) => type === 'session_configured')
  return typeof configured?.['session_id'] === 'string' ? configured['session_id'] : undefined
}

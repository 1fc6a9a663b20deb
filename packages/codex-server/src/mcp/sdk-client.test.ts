import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client as NewClient } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { say, shell } from '../backend/fixture/mini-backend-world.ts'
import { openMcpWorld } from './fixture/mcp-world.ts'

const ASKING = { prompt: 'go', 'approval-policy': 'untrusted', sandbox: 'workspace-write' }

test('the official client 1.32 lists, calls, is asked, hears of progress, cancels and is told of failures', async () => {
  await using world = await openMcpWorld()
  const { mini } = world
  const client = new Client({ name: 'official', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: {} }))
  const events: string[] = []
  client.fallbackNotificationHandler = ({ method }) => {
    events.push(method)
    return Promise.resolve()
  }
  // It is a pair of streams in either direction; that of the client only spawns.
  await client.connect(new StdioServerTransport(world.output, world.input))
  expect(client.getServerVersion()).toMatchObject({ name: 'codex-mcp-server', title: 'Codex' })
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['codex', 'codex-reply'])
  mini.say(shell('touch', 'asked'), say('done'))
  const progress: number[] = []
  const result = await client.callTool({ name: 'codex', arguments: ASKING }, undefined, {
    onprogress: (told) => progress.push(told.progress),
  })
  expect(result.structuredContent).toMatchObject({ content: 'done' })
  expect(existsSync(join(mini.workspace, 'asked'))).toBe(true)
  expect(progress.length).toBeGreaterThan(3)
  expect(events).toContain('codex/event')
  // A failure fits the schema of the output, which this client checks.
  mini.say({ status: 400, body: { error: { message: 'bad thing', type: 'x', code: 'x', param: null } } })
  expect(await client.callTool({ name: 'codex', arguments: { prompt: 'go' } })).toMatchObject({ isError: true })
  expect(await client.callTool({ name: 'codex-reply', arguments: { prompt: 'x' } })).toMatchObject({ isError: true })
  const controller = new AbortController()
  mini.say({ pieces: [{ text: 'x'.repeat(400) }], manner: { stallAfterEvents: 6 } })
  const cancelled = client.callTool({ name: 'codex', arguments: { prompt: 'go' } }, undefined, { signal: controller.signal })
  await mini.model.arrived(4)
  controller.abort()
  await expect(cancelled).rejects.toThrow(/abort/i)
  mini.say(say('next'))
  expect(await client.callTool({ name: 'codex', arguments: { prompt: 'go' } })).toMatchObject({ content: [{ text: 'next' }] })
  await client.close()
})

test.each(['legacy', 'auto'] as const)('the official client 2.4 does the same, era %s', async (mode) => {
  await using world = await openMcpWorld()
  const { mini } = world
  const client = new NewClient(
    { name: 'official', version: '2' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: {} }))
  await client.connect(new StdioServerTransport(world.output, world.input))
  expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['codex', 'codex-reply'])
  mini.say(shell('touch', 'asked'), say('done'))
  const progress: number[] = []
  const result = await client.callTool(
    { name: 'codex', arguments: ASKING },
    { onprogress: (told) => progress.push(told.progress) },
  )
  expect(result.structuredContent).toMatchObject({ content: 'done' })
  expect(existsSync(join(mini.workspace, 'asked'))).toBe(true)
  expect(progress.length).toBeGreaterThan(1)
  // It checks what has a schema of its output against it.
  mini.say({ status: 400, body: { error: { message: 'bad thing', type: 'x', code: 'x', param: null } } })
  expect(await client.callTool({ name: 'codex', arguments: { prompt: 'go' } })).toMatchObject({ isError: true })
  const controller = new AbortController()
  mini.say({ pieces: [{ text: 'x'.repeat(400) }], manner: { stallAfterEvents: 6 } })
  const cancelled = client.callTool({ name: 'codex', arguments: { prompt: 'go' } }, { signal: controller.signal })
  await mini.model.arrived(4)
  controller.abort()
  await expect(cancelled).rejects.toThrow(/abort/i)
  mini.say(say('next'))
  expect(await client.callTool({ name: 'codex', arguments: { prompt: 'go' } })).toMatchObject({ content: [{ text: 'next' }] })
  await client.close()
})

import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { JobId } from '@parley/protocol'
import { type Client as OwnClient, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import { expect, test } from 'vitest'
import { until } from '../fixture/job-socket.ts'
import { PlayedJudge, addJob, addUser, statusLine } from '../fixture/test-job.ts'
import { type TestGateway, listIn, openTestGateway, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

const INFO = { name: 'test', version: '1' }
const PARTS = ['state', 'report', 'terminal', 'agent-status', 'cases'] as const
const uriOf = (id: JobId, part: (typeof PARTS)[number]) => `resource://jobs/${id}/${part}`

async function open(gw: TestGateway) {
  const ada = await addUser(gw, 'ada')
  return { ada, id: await addJob(gw.store, ada.id) }
}

test('templates are listed beside the resources, and what they stand for is read with its type', async () => {
  await using gw = await openTestGateway()
  const { ada, id } = await open(gw)
  const { url } = gw.gateway
  const templates = await request(url, ada.token, 'resources/templates/list')
  const ofJobs = listIn<{ name: string }>(templates.body.result, 'resourceTemplates').filter(({ name }) =>
    name.startsWith('job-'),
  )
  expect(ofJobs).toMatchObject(
    PARTS.map((part) => ({ uriTemplate: `resource://jobs/{id}/${part}`, name: `job-${part}`, mimeType: expect.any(String) })),
  )
  const resources = await request(url, ada.token, 'resources/list')
  expect(resources.body.result?.['resources']).toMatchObject([
    { uri: 'resource://account' },
    { uri: 'resource://agents/list' },
    { uri: 'resource://approvals/pending' },
    { uri: 'resource://jobs/list' },
    { uri: 'resource://models/list' },
  ])
  const read = async (uri: string) => {
    const { body } = await request(url, ada.token, 'resources/read', { uri })
    return (body.result?.['contents'] as { text: string; mimeType: string }[] | undefined)?.[0] ?? body.error
  }
  expect(await read(uriOf(id, 'report'))).toMatchObject({ code: -32602, data: { uri: uriOf(id, 'report') } })
  expect(await read(uriOf(id, 'terminal'))).toMatchObject({ text: '', mimeType: 'text/plain' })
  const judge = await PlayedJudge.take(gw.store, id)
  await judge.append('terminal', 'grün\n')
  await judge.append('agent_status', statusLine(id, 1))
  await judge.put({ 'report.json': '{"status":"succeeded"}' })
  expect(await read(uriOf(id, 'terminal'))).toMatchObject({ text: 'grün\n' })
  expect(await read(uriOf(id, 'agent-status'))).toMatchObject({ text: statusLine(id, 1), mimeType: 'application/x-ndjson' })
  expect(await read(uriOf(id, 'report'))).toMatchObject({ text: '{"status":"succeeded"}', mimeType: 'application/json' })
  expect(await read(uriOf(id, 'state'))).toMatchObject({ text: expect.stringContaining('"status":"running_test"') })
  expect(await read('resource://jobs/list')).toMatchObject({ text: expect.stringContaining(id) })
  for (const uri of [`resource://jobs/${id}`, `resource://jobs/${id}/`, 'resource://jobs/x/state', `${uriOf(id, 'state')}/x`])
    expect(await read(uri)).toMatchObject({ code: -32602 })
})

test('of a long log the end is read, from the beginning of a line on', async () => {
  await using gw = await openTestGateway()
  const { ada, id } = await open(gw)
  const judge = await PlayedJudge.take(gw.store, id)
  const read = async (part: 'terminal' | 'agent-status') => {
    const { body } = await request(gw.gateway.url, ada.token, 'resources/read', { uri: uriOf(id, part) })
    return listIn<{ text: string }>(body.result, 'contents')[0]?.text ?? ''
  }
  const lines = Array.from({ length: 3_000 }, (_, n) => statusLine(id, n))
  for (let at = 0; at < lines.length; at += 500) await judge.append('agent_status', lines.slice(at, at + 500).join(''))
  const text = await read('agent-status')
  expect(lines.join('').endsWith(text)).toBe(true)
  expect(text.startsWith('{"ts"')).toBe(true)
  expect(text.length).toBeGreaterThan(255 * 1024)
  expect(text.length).toBeLessThanOrEqual(256 * 1024)
  // Without any line end it is cut where a character begins.
  await judge.append('terminal', `a${'漢'.repeat(100_000)}`)
  expect(await read('terminal')).toMatch(/^漢+$/)
})

test('the official client 1.32 subscribes to a job, is told, and reads again', async () => {
  await using gw = await openTestGateway()
  const { ada, id } = await open(gw)
  const client = new Client(INFO)
  const updated: string[] = []
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
  const requestInit = { headers: { authorization: `Bearer ${ada.token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.gateway.mcp), { requestInit }))
  await lives(gw, id, {
    subscribe: (uri) => client.subscribeResource({ uri }),
    updated: () => updated.splice(0),
    read: async (uri) => (await client.readResource({ uri })).contents[0] as { text: string },
  })
  await expect(client.readResource({ uri: uriOf(`job_${'0'.repeat(26)}` as JobId, 'state') })).rejects.toMatchObject({
    code: -32002,
  })
  await client.close()
})

test('the official client 2.4 listens to a job, is told, and reads again', async () => {
  await using gw = await openTestGateway()
  const { ada, id } = await open(gw)
  const client = new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  const updated: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri))
  const requestInit = { headers: { authorization: `Bearer ${ada.token}` } }
  await client.connect(new ModernTransport(new URL(gw.gateway.mcp), { requestInit }))
  await lives(gw, id, {
    subscribe: (uri) => client.listen({ resourceSubscriptions: [uri] }),
    updated: () => updated.splice(0),
    read: async (uri) => (await client.readResource({ uri })).contents[0] as { text: string },
  })
  await client.close()
})

test.each([
  ['HTTP', 'legacy'],
  ['HTTP', 'modern'],
  ['WebSocket', 'legacy'],
  ['WebSocket', 'modern'],
] as const)('our own client over %s in the %s era', async (wire, era) => {
  await using gw = await openTestGateway()
  const { ada, id } = await open(gw)
  const { mcp, ws } = gw.gateway
  const transport =
    wire === 'HTTP' ? httpTransport({ url: mcp, token: ada.token }) : webSocketTransport({ url: ws, token: ada.token })
  const client: OwnClient = await connectClient(transport, { clientInfo: INFO, capabilities: {}, era })
  const updated: string[] = []
  await lives(gw, id, {
    subscribe: (uri) => client.subscribe(uri, () => updated.push(uri)),
    updated: () => updated.splice(0),
    read: async (uri) => {
      const { contents } = await client.request('resources/read', { uri })
      return (contents as unknown as { text: string }[])[0]
    },
  })
  await client.close()
})

test('who follows the list hears of their own jobs alone, an admin of all', async () => {
  await using gw = await openTestGateway()
  const { ada } = await open(gw)
  const bob = await addUser(gw, 'bob')
  const sockets: TestSocket[] = []
  for (const token of [ada.token, bob.token, gw.adminToken]) {
    const socket = await TestSocket.open(gw.gateway.ws, token)
    await socket.call('resources/subscribe', { uri: 'resource://jobs/list' })
    sockets.push(socket)
  }
  const told = () => sockets.map(({ messages }) => messages.filter(({ method }) => method !== undefined).length)
  await addJob(gw.store, bob.id)
  await until(() => told().toString() === '0,1,1')
  await addJob(gw.store, ada.id)
  await until(() => told().toString() === '1,1,2')
  for (const { socket } of sockets) socket.terminate()
})

interface Watcher {
  subscribe(uri: string): Promise<unknown>
  updated(): string[]
  read(uri: string): Promise<{ text: string } | undefined>
}

/** A job's life, seen through its resources: each change is told, and reading again shows it. */
async function lives(gw: TestGateway, id: JobId, watcher: Watcher): Promise<void> {
  for (const part of PARTS) await watcher.subscribe(uriOf(id, part))
  const told = async (...parts: (typeof PARTS)[number][]) => {
    const seen = new Set<string>()
    await until(() => {
      for (const uri of watcher.updated()) seen.add(uri)
      return parts.every((part) => seen.has(uriOf(id, part)))
    })
  }
  const shows = async (part: (typeof PARTS)[number], text: string) =>
    expect((await watcher.read(uriOf(id, part)))?.text).toContain(text)
  const judge = await PlayedJudge.take(gw.store, id)
  await told('state')
  await until(async () => ((await watcher.read(uriOf(id, 'state')))?.text ?? '').includes('running_test'))
  await judge.append('terminal', 'compiling\n')
  await told('terminal')
  await shows('terminal', 'compiling\n')
  for (let n = 0; n < 50; n += 1) await judge.append('agent_status', statusLine(id, n))
  await told('agent-status')
  await until(async () => ((await watcher.read(uriOf(id, 'agent-status')))?.text ?? '').includes('line 49'))
  await judge.append('cases', '{"name":"1"}\n')
  await told('cases')
  await shows('cases', '{"name":"1"}')
  await judge.put({ 'report.json': '{"status":"failed"}' })
  await judge.end('failed')
  await told('state', 'report')
  await shows('report', '{"status":"failed"}')
  await until(async () => ((await watcher.read(uriOf(id, 'state')))?.text ?? '').includes('"status":"failed"'))
}

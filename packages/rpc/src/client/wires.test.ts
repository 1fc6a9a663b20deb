import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { everythingService } from '../fixture/service.ts'
import { openHttpServer } from '../http/server.ts'
import { type TestServer, openTestServer } from '../fixture/open-server.ts'
import { browserWebSocketTransport } from './link/browser-web-socket-transport.ts'
import {
  type Client,
  type ClientOptions,
  type ClientTransport,
  connectClient,
  httpTransport,
  webSocketTransport,
} from './index.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
async function open(): Promise<TestServer> {
  const server = await openTestServer(everythingService())
  closing.push(() => server[Symbol.asyncDispose]())
  return server
}
async function connect(transport: ClientTransport, more: Partial<ClientOptions> = {}): Promise<Client> {
  const client = await connectClient(transport, {
    clientInfo: { name: 'test', version: '1' },
    capabilities: { elicitation: {} },
    handlers: { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) },
    ...more,
  })
  closing.push(() => client.close())
  return client
}

const WIRES: readonly { readonly wire: string; readonly transport: (server: TestServer, token: string) => ClientTransport }[] = [
  { wire: 'HTTP', transport: ({ mcp }, token) => httpTransport({ url: mcp, token }) },
  { wire: 'WebSocket by header', transport: ({ ws }, token) => webSocketTransport({ url: ws, token }) },
  {
    wire: 'WebSocket by subprotocol',
    transport: ({ ws }, token) => webSocketTransport({ url: ws, token, tokenIn: 'subprotocol' }),
  },
  { wire: "the browser's WebSocket", transport: ({ ws }, token) => browserWebSocketTransport({ url: ws, token }) },
]

describe.each(WIRES)('our client and our server over $wire', ({ wire, transport }) => {
  test.each(['auto', 'legacy', 'modern'] as const)('speak to each other in the era %s', async (era) => {
    const client = await connect(transport(await open(), 'me'), { era })
    expect(client.era).toBe(era === 'legacy' ? 'legacy' : 'modern')
    expect((await client.listTools()).length).toBeGreaterThan(20)
    const seen: number[] = []
    await client.callToolRaw('test_tool_with_progress', {}, { onProgress: ({ progress }) => seen.push(progress) })
    expect(seen).toEqual([0, 50, 100])
    expect(await client.callToolRaw('test_input_required_result_elicitation', {})).toMatchObject({
      content: [{ text: 'Hello, Ada!' }],
    })
    const kinds: string[] = []
    client.watchLists((kind) => kinds.push(kind))
    await client.subscribe('test://watched-resource', () => {})
    await client.callToolRaw('test_trigger_prompt_change', {})
    await expect.poll(() => kinds).toEqual(['prompts'])
  })

  test('a refused token is an error before any message', async () => {
    const refused = connect(transport(await open(), 'bad'))
    const code = wire === "the browser's WebSocket" ? 'unreachable' : 'unauthorized'
    await expect(refused).rejects.toMatchObject({ code })
  })
})

test('a socket that the server cuts says so, and fails what was under way', async () => {
  const { ws, server } = await open()
  const client = await connect(webSocketTransport({ url: ws, token: 'me' }), { era: 'legacy' })
  const call = client.callToolRaw('test_tool_with_progress', {})
  server.cut(() => true, 'token revoked')
  await expect(call).rejects.toMatchObject({ code: 'closed' })
  expect((await client.closed).code).toBeGreaterThan(1000)
})

test('a socket file is dialled instead of a host', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-client-'))
  closing.push(() => rm(folder, { recursive: true }))
  const socketPath = join(folder, 'admin.sock')
  const service = everythingService()
  const server = await openHttpServer({
    listen: { socketPath },
    door: { authenticate: () => ({ key: 'me' }), serviceFor: () => service },
    stateKey: randomBytes(32),
  })
  closing.push(() => server.close(0))
  const client = await connect(httpTransport({ url: 'http://localhost/mcp', socketPath }))
  expect(await client.callToolRaw('test_simple_text', {})).toMatchObject({ content: [{ type: 'text' }] })
  const socket = await connect(webSocketTransport({ url: 'ws://localhost/api/mcp/ws', socketPath }))
  expect(await socket.callToolRaw('test_simple_text', {})).toMatchObject({ content: [{ type: 'text' }] })
})

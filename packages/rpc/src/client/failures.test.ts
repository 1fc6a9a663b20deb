import { type RequestListener, createServer } from 'node:http'
import { PassThrough } from 'node:stream'
import { ByteRoom, ToolError } from '@parley/protocol'
import { expect, test } from 'vitest'
import { closeHttp, listen } from './fixture/sdk1-server.ts'
import { LineReader } from '../stdio/lines.ts'
import {
  type Client,
  type ClientOptions,
  connectClient,
  httpTransport,
  memoryPair,
  memoryTransport,
  stdioTransport,
} from './index.ts'

const FACE: ClientOptions = { clientInfo: { name: 'test', version: '1' }, era: 'legacy' }
const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } }

async function withHttp(answer: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(answer)
  try {
    await use(`http://127.0.0.1:${await listen(server)}/mcp`)
  } finally {
    await closeHttp(server)
  }
}

/** A pipe to nobody: the test itself plays the server, line by line. */
async function piped(
  more: Partial<ClientOptions> = {},
): Promise<{ client: Client; heard: object[]; fromServer: PassThrough; say: (line: object) => void }> {
  const fromServer = new PassThrough()
  const toServer = new PassThrough()
  const heard: object[] = []
  const say = (line: object): boolean => fromServer.write(`${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`)
  const line = (text: string): void => {
    const message: { id?: number; method: string } = JSON.parse(text)
    heard.push(message)
    if (message.method === 'initialize') say({ id: message.id, result: INITIALIZED })
  }
  const lines = new LineReader(10_000, { line, fault: (fault) => expect.fail(fault) })
  toServer.on('data', (chunk: Buffer) => lines.push(chunk))
  const client = await connectClient(stdioTransport({ input: fromServer, output: toServer }), { ...FACE, ...more })
  return { client, heard, fromServer, say }
}

test.each([
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [500, 'http_status'],
  [503, 'http_status'],
  [429, 'http_status'],
])('a server that answers the probe with %i is not taken for a legacy one', async (status, code) => {
  const methods: string[] = []
  const answer: RequestListener = (request, response) => {
    methods.push(String(request.headers['mcp-method']))
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":"no"}')
  }
  await withHttp(answer, async (url) => {
    await expect(connectClient(httpTransport({ url }), { ...FACE, era: 'auto' })).rejects.toMatchObject({ code, status })
  })
  expect(methods).toEqual(['server/discover'])
})

test.each([
  [400, ''],
  [404, 'Not Found'],
  [405, ''],
  [400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}'],
  [200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'],
])('a server that answers the probe with %i %s is spoken to in the legacy way', async (status, body) => {
  const answer: RequestListener = (request, response) => {
    const said = (text: string): unknown => response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    if (request.headers['mcp-method'] === 'server/discover') return void response.writeHead(status).end(body)
    if (request.method !== 'POST') return void response.writeHead(405).end()
    let text = ''
    request.on('data', (chunk: Buffer) => (text += String(chunk)))
    request.on('end', () => {
      const { id } = JSON.parse(text)
      if (id === undefined) response.writeHead(202).end()
      else said(JSON.stringify({ jsonrpc: '2.0', id, result: INITIALIZED }))
    })
  }
  await withHttp(answer, async (url) => {
    const client = await connectClient(httpTransport({ url }), { ...FACE, era: 'auto' })
    expect([client.era, client.revision]).toEqual(['legacy', '2025-06-18'])
    await client.close()
  })
})

test('nobody at the other end is a clear error', async () => {
  await expect(connectClient(httpTransport({ url: 'http://127.0.0.1:9/mcp' }), FACE)).rejects.toMatchObject({
    code: 'unreachable',
  })
})

test('an answer beyond the limit is refused, and the connection goes on', async () => {
  let size = 0
  const answer: RequestListener = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('x'.repeat(size))
  await withHttp(answer, async (url) => {
    size = 10_000
    await expect(connectClient(httpTransport({ url }), { ...FACE, limits: { messageBytes: 5_000 } })).rejects.toMatchObject({
      code: 'too_large',
    })
    size = 10
    await expect(connectClient(httpTransport({ url }), FACE)).rejects.toMatchObject({ code: 'bad_message' })
  })
})

test.each(['application/json', 'text/event-stream'])(
  'an answer as %s for which there is no room fails its call',
  async (type) => {
    const room = new ByteRoom({ bytes: 5_000, bytesPerOwner: 5_000 })
    const begun = `data: ${'x'.repeat(4_000)}`
    const answer: RequestListener = (_request, response) => {
      response.writeHead(200, { 'content-type': type }).write(begun)
      if (isLarge) response.write(begun)
      else response.end('\n\n')
    }
    let isLarge = true
    await withHttp(answer, async (url) => {
      const transport = () => httpTransport({ url, room: () => room.share('ann') })
      await expect(connectClient(transport(), FACE)).rejects.toMatchObject({ code: 'overloaded' })
      isLarge = false
      await expect(connectClient(transport(), FACE)).rejects.not.toMatchObject({ code: 'overloaded' })
    })
    expect(room.share('bob').hold(5_000)).toBe(true)
  },
)

test('a pipe that ends in the middle of a line says so, and every call under way fails', async () => {
  const { client, fromServer } = await piped()
  const call = client.request('tools/list')
  fromServer.end('{"jsonrpc":"2.0","id":')
  await expect(call).rejects.toMatchObject({ code: 'closed', message: expect.stringContaining('in the middle of a line') })
  expect(await client.closed).toEqual({ code: undefined, reason: 'the server ended in the middle of a line' })
  await expect(client.request('tools/list')).rejects.toMatchObject({ code: 'closed' })
})

test('a line that never ends closes the pipe', async () => {
  const { client, fromServer } = await piped({ limits: { messageBytes: 1_000 } })
  fromServer.write('x'.repeat(600))
  fromServer.write('x'.repeat(600))
  expect((await client.closed).reason).toContain('more than 1000 bytes')
})

test('noise on the pipe is dropped with a warning, and the answer after it counts', async () => {
  const warnings: string[] = []
  const { client, fromServer, say } = await piped({ onWarning: (message) => warnings.push(message) })
  const call = client.request('tools/list')
  fromServer.write('server is starting…\r\n\n[1]\n')
  say({ id: 99, result: {} })
  say({ id: '2', result: { tools: [] } })
  expect(await call).toEqual({ tools: [] })
  expect(warnings).toHaveLength(2)
})

const DEEP = '['.repeat(100) + ']'.repeat(100)
test.each([
  ['begins with its id', `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x","data":${DEEP}}}`],
  ['has spaces and its id as text', `{"jsonrpc": "2.0", "id": "2", "result": {"a": ${DEEP}}}`],
  ['ends with its id', `{"result":{"a":${DEEP}},"jsonrpc":"2.0","id":2}`],
  ['is wide', `{"jsonrpc":"2.0","id":2,"result":{"a":[${'[],'.repeat(300_000)}1]}}`],
])('an answer that holds more than is parsed fails its call alone: one that %s', async (_which, line) => {
  const { client, fromServer, say } = await piped()
  const call = client.request('tools/list')
  const other = client.request('prompts/list')
  fromServer.write(`${line}\n`)
  await expect(call).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('tools/list is not read: it') })
  say({ id: 3, result: { prompts: [] } })
  expect(await other).toEqual({ prompts: [] })
})

test.each([
  `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":${DEEP}}}`,
  `{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"data":${DEEP}}}`,
  `{"error":${DEEP},"id":99}`,
  DEEP,
])('what holds more than is parsed and is no answer is passed over with a warning: %s', async (line) => {
  const warnings: string[] = []
  const { client, fromServer, say } = await piped({ onWarning: (message) => warnings.push(message) })
  const call = client.request('tools/list')
  fromServer.write(`${line}\n`)
  say({ id: 2, result: { tools: [] } })
  expect(await call).toEqual({ tools: [] })
  expect(warnings).toEqual(['passed over a message: it nests deeper than 64 levels'])
})

test('more requests than allowed are refused at once', async () => {
  const { client, say } = await piped({ limits: { pendingRequests: 2 } })
  const first = client.request('a')
  const second = client.request('b')
  await expect(client.request('c')).rejects.toMatchObject({ code: 'overloaded' })
  say({ id: 2, result: {} })
  say({ id: 3, result: {} })
  expect(await Promise.all([first, second])).toEqual([{}, {}])
})

test('a ping is answered, a question without a handler is refused', async () => {
  const { say, heard, client } = await piped()
  say({ id: 'p', method: 'ping' })
  say({ id: 'q', method: 'elicitation/create', params: {} })
  await expect
    .poll(() => heard.slice(2))
    .toEqual([
      { jsonrpc: '2.0', id: 'p', result: {} },
      { jsonrpc: '2.0', id: 'q', error: { code: -32601, message: 'this client does not answer elicitation/create' } },
    ])
  await client.close()
})

test('a revision that nobody here speaks ends the connection', async () => {
  const { client: end, server } = memoryPair()
  let closed = ''
  server.listen(
    (text) => {
      const { id } = JSON.parse(text)
      server.send(JSON.stringify({ jsonrpc: '2.0', id, result: { ...INITIALIZED, protocolVersion: '2030-01-01' } }))
    },
    (reason) => (closed = reason),
  )
  await expect(connectClient(memoryTransport(end), FACE)).rejects.toMatchObject({ code: 'unsupported_version' })
  await expect.poll(() => closed).toBe('the client closed')
})

test('a failed tool call is thrown with its code, field and hint', async () => {
  const { client, say } = await piped()
  const call = client.callTool('account.get', {})
  const error = { code: 'not_found', message: 'gone', field: 'id', hint: 'list them' }
  say({
    id: 2,
    result: { isError: true, content: [{ type: 'text', text: 'not_found: gone' }], _meta: { 'parley/error': error } },
  })
  await expect(call).rejects.toMatchObject({ ...error, name: 'ToolError' })
  const foreign = client.callTool('some_tool', {})
  say({ id: 3, result: { isError: true, content: [{ type: 'text', text: 'boom' }] } })
  await expect(foreign).rejects.toEqual(new ToolError('internal', 'boom'))
})

test('a server that keeps asking is stopped', async () => {
  const { client: end, server } = memoryPair()
  let rounds = 0
  server.listen(
    (text) => {
      const { id, method, params } = JSON.parse(text)
      const discovered = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {} }
      if (method === 'tools/call') rounds++
      if (rounds > 1) expect(params.requestState).toBe(`state ${rounds - 1}`)
      const asked = { resultType: 'input_required', requestState: `state ${rounds}` }
      server.send(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'tools/call' ? asked : discovered }))
    },
    () => {},
  )
  const client = await connectClient(memoryTransport(end), { ...FACE, era: 'modern', limits: { inputPauseMs: 1 } })
  await expect(client.callToolRaw('x', {})).rejects.toMatchObject({ code: 'too_many_rounds' })
  expect(rounds).toBe(11)
})

import { once } from 'node:events'
import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { initializeParams, modern, rpc } from '../fixture/http-caller.ts'
import { openTestServer, type TestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'

interface Peer {
  readonly socket: WebSocket
  readonly messages: JsonObject[]
  send(message: JsonObject | JsonObject[] | string | Buffer): void
  next(count: number): Promise<void>
}

async function dial(
  open: TestServer,
  more: { query?: string; protocols?: string[]; token?: string } = { token: 'me' },
): Promise<Peer> {
  const headers = more.token === undefined ? {} : { authorization: `Bearer ${more.token}` }
  const socket = new WebSocket(`${open.ws}${more.query ?? ''}`, more.protocols ?? [], { headers })
  const messages: JsonObject[] = []
  socket.on('message', (data: Buffer) => {
    const message: JsonObject = JSON.parse(data.toString())
    messages.push(message)
  })
  await once(socket, 'open')
  return {
    socket,
    messages,
    send: (message) => socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message)),
    next: (count) => until(() => messages.length >= count, `${count} messages`),
  }
}

test.each([
  ['the header', { token: 'me' }, ''],
  ['the query', { query: '?token=me' }, ''],
  ['the subprotocol', { protocols: ['mcp', 'bearer.me'] }, 'mcp'],
])('a token in %s opens the socket', async (_words, how, protocol) => {
  await using open = await openTestServer(openProbe().service)
  const peer = await dial(open, how)
  peer.send(rpc(1, 'initialize', initializeParams()))
  await peer.next(1)
  expect(peer.messages).toMatchObject([{ id: 1, result: { protocolVersion: '2025-11-25', serverInfo: { role: 'user' } } }])
  expect(peer.socket.protocol).toBe(protocol)
  peer.socket.terminate()
})

test.each([
  ['no token', '', 401, 'missing_authorization'],
  ['a bad token', '?token=bad', 401, 'unknown_token'],
])('%s is refused before the socket opens, with the reason', async (_words, query, status, code) => {
  await using open = await openTestServer(openProbe().service)
  const socket = new WebSocket(`${open.ws}${query}`)
  const [, response] = await once(socket, 'unexpected-response')
  expect(response.statusCode).toBe(status)
  expect((await response.toArray()).join('')).toContain(code)
})

test('the query can be switched off', async () => {
  await using open = await openTestServer(openProbe().service, { queryToken: false })
  const socket = new WebSocket(`${open.ws}?token=me`)
  const [, response] = await once(socket, 'unexpected-response')
  expect(response.statusCode).toBe(401)
  response.resume()
})

test('another path has no socket, a foreign page gets none', async () => {
  await using open = await openTestServer(openProbe().service)
  for (const [url, headers, status] of [
    [open.ws.replace('/ws', '/other'), {}, 404],
    [open.ws, { origin: 'http://evil.example' }, 403],
  ] as const) {
    const socket = new WebSocket(url, { headers: { authorization: 'Bearer me', ...headers } })
    const [, response] = await once(socket, 'unexpected-response')
    expect(response.statusCode).toBe(status)
    response.resume()
  }
})

test('both eras share one socket, and a client that never says initialize is served', async () => {
  await using open = await openTestServer(openProbe().service)
  const peer = await dial(open)
  peer.send(rpc(1, 'tools/call', { name: 'echo', arguments: { a: 1 } }))
  peer.send(modern(2, 'tools/call', { name: 'echo', arguments: { b: 2 } }).body)
  await peer.next(2)
  expect(peer.messages).toMatchObject([
    { id: 1, result: { structuredContent: { a: 1 } } },
    { id: 2, result: { resultType: 'complete', structuredContent: { b: 2 } } },
  ])
  expect(peer.messages[0]).not.toMatchObject({ result: { resultType: 'complete' } })
  peer.socket.terminate()
})

test('garbage is answered as the specification says, and the socket goes on', async () => {
  await using open = await openTestServer(openProbe().service)
  const peer = await dial(open)
  for (const bad of ['{', '[]', '7', '{"jsonrpc":"2.0","id":3,"method":4}', '{"jsonrpc":"2.0","method":"nonsense"}'])
    peer.send(bad)
  peer.send(rpc('good', 'ping'))
  await peer.next(5)
  expect(peer.messages.map(({ id, error }) => [id, error === undefined ? 'result' : Reflect.get(Object(error), 'code')])).toEqual(
    [
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [3, -32600],
      ['good', 'result'],
    ],
  )
  peer.socket.terminate()
})

test('a batch is answered by one array where the revision has batches, and refused elsewhere', async () => {
  await using open = await openTestServer(openProbe().service)
  const socket = new WebSocket(open.ws, { headers: { authorization: 'Bearer me' } })
  const frames: unknown[] = []
  socket.on('message', (data: Buffer) => void frames.push(JSON.parse(data.toString())))
  await once(socket, 'open')
  socket.send(JSON.stringify([rpc(1, 'ping')]))
  socket.send(JSON.stringify(rpc(2, 'initialize', initializeParams('2025-03-26'))))
  socket.send(JSON.stringify([rpc(3, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }, rpc(4, 'nonsense')]))
  await until(() => frames.length === 3)
  expect(frames).toMatchObject([
    { id: null, error: { code: -32600 } },
    { id: 2, result: { protocolVersion: '2025-03-26' } },
    [
      { id: 3, result: {} },
      { id: 4, error: { code: -32601 } },
    ],
  ])
  socket.terminate()
})

test('a binary frame closes the socket with 1003, bad UTF-8 with 1007, a frame that is too large with 1009', async () => {
  await using open = await openTestServer(openProbe().service, { limits: { messageBytes: 1000 } })
  const codes: number[] = []
  for (const spoil of [
    (socket: WebSocket) => socket.send(Buffer.from('{}')),
    (socket: WebSocket) => socket.send(Buffer.from([0xc3, 0x28]), { binary: false }),
    (socket: WebSocket) => socket.send('x'.repeat(2000)),
  ]) {
    const { socket } = await dial(open)
    spoil(socket)
    const [code] = await once(socket, 'close')
    codes.push(code)
  }
  expect(codes).toEqual([1003, 1007, 1009])
})

test('subscriptions, cancellation and questions work on the socket', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const peer = await dial(open)
  peer.send(rpc(1, 'initialize', initializeParams('2025-06-18', { elicitation: {} })))
  peer.send(rpc(2, 'resources/subscribe', { uri: 'test://a' }))
  await peer.next(2)
  probe.change('test://a')
  await peer.next(3)
  expect(peer.messages[2]).toEqual({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://a' } })
  peer.send(rpc(3, 'tools/call', { name: 'hold' }))
  await until(() => probe.holding() === 1)
  peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } })
  await until(() => probe.cancelled.length === 1)
  peer.send(rpc(4, 'tools/call', { name: 'ask' }))
  await peer.next(4)
  peer.send({ jsonrpc: '2.0', id: peer.messages[3]?.['id'], result: { action: 'decline' } })
  await peer.next(5)
  expect(peer.messages[4]).toMatchObject({ id: 4, result: { content: [{ text: expect.stringContaining('decline') }] } })
  peer.socket.terminate()
  await until(() => probe.watchers() === 0)
})

test('a socket that closes cancels what it had under way, in both eras, and leaves nothing', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const peer = await dial(open)
  peer.send(rpc(1, 'tools/call', { name: 'hold' }))
  peer.send(modern(2, 'tools/call', { name: 'hold' }).body)
  peer.send(modern(3, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['test://a'] } }).body)
  await until(() => probe.holding() === 2 && probe.watchers() >= 1)
  peer.socket.terminate()
  await until(() => probe.cancelled.length === 2 && probe.watchers() === 0)
  expect(open.server.links()).toBe(0)
})

test('a revoked caller is cut, and at shutdown everybody is told to come back', async () => {
  await using open = await openTestServer(openProbe().service)
  const revoked = await dial(open)
  const other = await dial(open, { token: 'other' })
  open.server.cut((caller) => caller.key === 'Bearer me', 'the token was revoked')
  const [code, reason] = await once(revoked.socket, 'close')
  expect([code, String(reason)]).toEqual([1008, 'the token was revoked'])
  const closed = once(other.socket, 'close')
  await open.server.close(1000)
  expect((await closed)[0]).toBe(1012)
})

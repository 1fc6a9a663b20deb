import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { initializeParams, openSession, post, rpc } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { rawHead, rawPost, sendRaw } from '../fixture/raw-request.ts'
import { openHttpServer } from './server.ts'

const UPGRADE = { host: 'localhost', connection: 'Upgrade', upgrade: 'websocket' }

test.each(['//', 'http://[', '/%zz'])('an upgrade to %s is refused and harms nobody', async (target) => {
  await using open = await openTestServer(openProbe().service)
  const peer = sendRaw(open.server.port, rawHead(`GET ${target}`, UPGRADE))
  await until(() => peer.text() !== '')
  expect(peer.text()).toMatch(/^HTTP\/1.1 404/)
  peer.socket.destroy()
  expect((await openSession(open.mcp)).reply.status).toBe(200)
})

test('a client that offers h2c is served: the offer is not taken', async () => {
  await using open = await openTestServer(openProbe().service)
  const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }
  const peer = sendRaw(open.server.port, rawPost(rpc(1, 'initialize', initializeParams()), offer))
  await until(() => peer.text().includes('serverInfo'))
  expect(peer.text()).toMatch(/^HTTP\/1.1 200/)
  peer.socket.destroy()
})

test('a refused upgrade whose client never closes does not hold up a shutdown', async () => {
  const open = await openTestServer(openProbe().service)
  const peer = sendRaw(open.server.port, rawHead('GET /api/mcp/ws', UPGRADE))
  await until(() => peer.text().startsWith('HTTP/1.1 401'))
  await open.server.close(0)
  peer.socket.destroy()
})

test('an upgrade whose token is still being checked does not hold up a shutdown', async () => {
  const asked = Promise.withResolvers<void>()
  const authenticate = (): Promise<never> => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  const door = { authenticate, serviceFor: () => openProbe().service }
  const server = await openHttpServer({ listen: { host: '127.0.0.1', port: 0 }, door, stateKey: randomBytes(32) })
  const peer = sendRaw(server.port, rawHead('GET /api/mcp/ws', UPGRADE))
  await asked.promise
  await server.close(0)
  peer.socket.destroy()
})

test('headers that are too long are 431', async () => {
  await using open = await openTestServer(openProbe().service)
  const peer = sendRaw(open.server.port, rawHead(`GET /${'x'.repeat(20_000)}`, { host: 'localhost' }))
  await until(() => peer.text() !== '')
  expect(peer.text()).toMatch(/^HTTP\/1.1 431/)
  peer.socket.destroy()
})

test('a client that never sends its body is sent away', async () => {
  await using open = await openTestServer(openProbe().service, { limits: { requestTimeoutMs: 100 } })
  const peer = sendRaw(open.server.port, rawPost({}, { 'content-length': '1000' }))
  await until(() => peer.text() !== '')
  expect(peer.text()).toMatch(/^HTTP\/1.1 408/)
  peer.socket.destroy()
})

test('a body in chunks of one byte costs what it weighs', async () => {
  await using open = await openTestServer(openProbe().service)
  using taken = watchRequests()
  const peer = sendRaw(open.server.port, rawPost({}, { 'content-length': '0' }).replace(/content-length: 0\r\n[^]*/, ''))
  peer.socket.write('transfer-encoding: chunked\r\n\r\n')
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < 60; at += 1) {
    if (!peer.socket.write('1\r\n \r\n'.repeat(10_000))) await once(peer.socket, 'drain')
  }
  await until(() => taken.last()?.socket.bytesRead === peer.socket.bytesWritten, 'the last chunk')
  // 600,000 chunks in a list would be more than 110 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * 1024 * 1024)
  peer.socket.write('1\r\n7\r\n0\r\n\r\n')
  await until(() => peer.text() !== '')
  expect(peer.text()).toContain('a JSON-RPC message must be an object')
  peer.socket.destroy()
})

test('a reader that does not take its JSON answer is cut', async () => {
  await using open = await openTestServer(openProbe().service, { limits: { stalledReaderMs: 50 } })
  const { headers } = await openSession(open.mcp)
  const text = 'x'.repeat(12 * 1024 * 1024)
  using taken = watchRequests()
  const peer = sendRaw(open.server.port, rawPost(rpc(1, 'tools/call', { name: 'echo', arguments: { text } }), headers))
  peer.socket.once('data', () => peer.socket.pause())
  await until(() => peer.socket.isPaused())
  await until(() => taken.last()?.socket.destroyed === true, 'the cut')
  peer.socket.resume()
  await once(peer.socket, 'end')
  expect(peer.text().length).toBeLessThan(text.length)
  peer.socket.destroy()
})

test('a listener that left while its token was checked leaves nothing behind', async () => {
  const probe = openProbe()
  const gates: (() => void)[] = []
  const door = {
    authenticate: async ({ authorization }: { authorization: string | undefined }) => {
      if (authorization === 'Bearer slow') await new Promise<void>((resolve) => gates.push(resolve))
      return { key: 'me' }
    },
    serviceFor: () => probe.service,
  }
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door,
    stateKey: randomBytes(32),
    limits: { sessionIdleMs: 100, keepAliveMs: 20 },
  })
  const { headers } = await openSession(`${server.url}/mcp`)
  const all = { ...headers, authorization: 'Bearer slow', host: 'localhost', accept: 'text/event-stream' }
  using taken = watchRequests()
  const peer = sendRaw(server.port, rawHead('GET /mcp', all))
  await until(() => gates.length === 1)
  peer.socket.destroy()
  await until(() => taken.last()?.socket.destroyed === true, 'the end of the connection')
  gates[0]?.()
  await until(() => probe.links.size === 0, 'the end of the idle session')
  await server.close(0)
})

test('a target with the whole address and a query with two question marks reach their route', async () => {
  const seen: string[] = []
  const door = { authenticate: () => ({ key: 'me' }), serviceFor: () => openProbe().service }
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door,
    stateKey: randomBytes(32),
    routes: [({ path, query }) => (seen.push(`${path} ${query.get('to')}`), { status: 204 })],
  })
  const peer = sendRaw(server.port, rawHead('GET http://localhost/login?to=/a?b', { host: 'localhost' }))
  await until(() => peer.text() !== '')
  expect(seen).toEqual(['/login /a?b'])
  const mcp = sendRaw(server.port, rawPost(rpc(1, 'initialize', initializeParams()), {}, 'http://localhost/mcp'))
  await until(() => mcp.text().includes('serverInfo'))
  peer.socket.destroy()
  mcp.socket.destroy()
  await server.close(0)
})

test('a page may send the headers that repeat arguments', async () => {
  await using open = await openTestServer(openProbe().service)
  const asks = { origin: 'http://localhost', 'access-control-request-headers': 'mcp-param-region, x-other' }
  const peer = sendRaw(open.server.port, rawHead('OPTIONS /mcp', { host: 'localhost', ...asks }))
  await until(() => peer.text() !== '')
  expect(peer.text()).toMatch(/^access-control-allow-headers: .*Mcp-Name, mcp-param-region\r$/m)
  peer.socket.destroy()
})

test('a result that cannot be written is an internal error, not a lost answer', async () => {
  const circle: { [key: string]: object } = {}
  circle['self'] = circle
  const service = { ...openProbe().service, call: () => Promise.resolve(JSON.parse('{}', () => circle)) }
  await using open = await openTestServer(service)
  const { headers } = await openSession(open.mcp)
  const reply = await post(open.mcp, rpc(1, 'tools/list'), headers)
  expect(reply.messages).toMatchObject([{ id: 1, error: { code: -32603 } }])
})

/** The requests that servers of this process take from now on, as they see them. */
function watchRequests(): Disposable & { last(): IncomingMessage | undefined } {
  const taken: IncomingMessage[] = []
  const take = (message: unknown): void => {
    if (typeof message === 'object' && message !== null && 'request' in message) taken.push(message.request as IncomingMessage)
  }
  subscribe('http.server.request.start', take)
  return { last: () => taken.at(-1), [Symbol.dispose]: () => void unsubscribe('http.server.request.start', take) }
}

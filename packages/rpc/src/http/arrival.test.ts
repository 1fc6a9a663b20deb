import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { type Credentials, Denied } from '../door.ts'
import type { Limits } from '../limits.ts'
import type { Caller, Service } from '../service.ts'
import { modern, post, postModern, rpc } from '../fixture/http-caller.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { type RawPeer, rawHead, rawPost, sendRaw } from '../fixture/raw-request.ts'
import type { Route } from './route.ts'
import { openHttpServer } from './server.ts'

const BODY = JSON.stringify(rpc(1, 'tools/call', { name: 'echo', arguments: {} }))
const HEADERS = {
  host: 'localhost',
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
}

/** A server with a door that forgets tokens, and a service that counts what it did. */
async function openDoor(more: { readonly limits?: Partial<Limits>; readonly routes?: readonly Route[] } = {}) {
  const revoked = new Set<string>()
  const entered: string[] = []
  const probe = openProbe()
  const done: string[] = []
  const service: Service = {
    ...probe.service,
    call: (method, params, call) => {
      done.push(method)
      return probe.service.call(method, params, call)
    },
  }
  const authenticate = ({ authorization = '' }: Credentials): Caller => {
    if (revoked.has(authorization)) throw new Denied(401, 'revoked_token', 'this token was revoked')
    entered.push(authorization)
    return { key: authorization, hasKeptRoom: authorization === 'Bearer admin' }
  }
  const door = { authenticate, serviceFor: () => service }
  const server = await openHttpServer({ listen: { host: '127.0.0.1', port: 0 }, door, stateKey: randomBytes(32), ...more })
  return { server, mcp: `${server.url}/mcp`, revoked, entered, done, [Symbol.asyncDispose]: () => server.close(0) }
}

/** The headers of a POST and the first bytes of its body; the rest is for the test to send. */
function begin(port: number, { token = 'me', bytes = 100, first = '' } = {}): RawPeer {
  const head = rawHead('POST /mcp', { ...HEADERS, authorization: `Bearer ${token}`, 'content-length': String(bytes) })
  return sendRaw(port, head + first)
}

test('a token that is revoked between the headers and the body does nothing', async () => {
  await using open = await openDoor()
  const peer = begin(open.server.port, { bytes: BODY.length, first: BODY.slice(0, 10) })
  await until(() => open.entered.length === 1)
  open.revoked.add('Bearer me')
  peer.socket.write(BODY.slice(10))
  await until(() => peer.text() !== '')
  expect(peer.text()).toMatch(/^HTTP\/1.1 401 [\s\S]*revoked_token/)
  expect(open.done).toEqual([])
  peer.socket.destroy()
})

test('a body that is on its way is cut like a session, with the reason', async () => {
  await using open = await openDoor()
  const peer = begin(open.server.port)
  const other = begin(open.server.port, { token: 'other', bytes: BODY.length })
  const matches = (caller: Caller): boolean => caller.key === 'Bearer me'
  await until(() => open.entered.length === 2)
  open.revoked.add('Bearer me')
  expect(open.server.cut(matches, 'revoked_token')).toBe(1)
  await until(() => peer.text() !== '')
  expect(peer.text()).toMatch(/^HTTP\/1.1 401 [\s\S]*connection: close[\s\S]*revoked_token/i)
  expect(open.server.cut(matches, 'revoked_token')).toBe(0)
  other.socket.write(BODY)
  await until(() => other.text() !== '')
  expect(other.text()).toMatch(/^HTTP\/1.1 400 [\s\S]*Mcp-Session-Id is missing/)
  peer.socket.destroy()
  other.socket.destroy()
})

test('bodies under way are bounded for each caller, and nothing stays of a client that goes away', async () => {
  const limits = { bodyBytesPerCaller: 40_000, bodyBytes: 100_000, bodyBytesKept: 0 }
  await using open = await openDoor({ limits })
  const part = { bytes: 15_000_000, first: 'x'.repeat(25_000) }
  const first = begin(open.server.port, part)
  await expect
    .poll(
      async () => (await postModern(open.mcp, 1, 'tools/call', { name: 'echo', arguments: { text: 'y'.repeat(20_000) } })).status,
    )
    .toBe(429)
  const refused = begin(open.server.port, part)
  await until(() => refused.text() !== '')
  expect(refused.text()).toMatch(/^HTTP\/1.1 429 [\s\S]*retry-after: 2[\s\S]*too many bytes of yours/i)
  const other = begin(open.server.port, { ...part, token: 'other' })
  await until(() => other.socket.bytesWritten > 25_000)
  first.socket.destroy()
  await expect
    .poll(
      async () => (await postModern(open.mcp, 2, 'tools/call', { name: 'echo', arguments: { text: 'y'.repeat(20_000) } })).status,
    )
    .toBe(200)
  for (const peer of [refused, other]) peer.socket.destroy()
})

test('bodies under way are bounded in all, and some room is kept', async () => {
  await using open = await openDoor({ limits: { bodyBytesPerCaller: 60_000, bodyBytes: 130_000, bodyBytesKept: 30_000 } })
  const peers = ['a', 'b', 'c'].map((token) => begin(open.server.port, { token, bytes: 15_000_000, first: 'x'.repeat(30_000) }))
  const last = begin(open.server.port, { token: 'd', bytes: 15_000_000, first: 'x'.repeat(30_000) })
  const all = [...peers, last]
  await until(() => all.some((peer) => peer.text() !== ''))
  const refused = all.filter((peer) => peer.text() !== '')
  expect(refused).toHaveLength(1)
  expect(refused[0]?.text()).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: 2[\s\S]*too many bytes are on their way/i)
  const echo = modern(1, 'tools/call', { name: 'echo', arguments: { text: 'y'.repeat(20_000) } })
  const send = (token: string) => post(open.mcp, echo.body, { ...echo.headers, authorization: `Bearer ${token}` })
  expect([(await send('e')).status, (await send('admin')).status]).toEqual([503, 200])
  for (const peer of all) peer.socket.destroy()
})

test('before anybody says who they are, the bodies of one address are bounded', async () => {
  const route: Route = async (request) => ({ status: 200, body: String((await request.body(1_000_000)).length) })
  await using open = await openDoor({ routes: [route], limits: { bodyBytesPerAddress: 30_000 } })
  const head = rawHead('POST /sign-in', { ...HEADERS, 'content-length': '900000' })
  const first = sendRaw(open.server.port, head + 'x'.repeat(20_000))
  await until(() => first.socket.bytesWritten > 20_000)
  const second = sendRaw(open.server.port, head + 'x'.repeat(20_000))
  await until(() => first.text() + second.text() !== '')
  expect(first.text() + second.text()).toMatch(/^HTTP\/1.1 429 [\s\S]*retry-after[\s\S]*overloaded/i)
  for (const peer of [first, second]) peer.socket.destroy()
})

test('what a pipelined request held is free again when its connection breaks', async () => {
  await using open = await openDoor({ limits: { bodyBytesPerCaller: 40_000 } })
  const held = rpc(1, 'tools/call', { name: 'hold', arguments: { text: 'x'.repeat(10_000) } })
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  const text = rawPost(
    { ...held, params: { name: 'hold', arguments: { text: 'x'.repeat(10_000) }, _meta: meta } },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'hold' },
  )
  const peer = sendRaw(open.server.port, text + text)
  await until(() => open.done.length === 2)
  expect(open.server.cut(() => false, '')).toBe(0)
  peer.socket.destroy()
  const echo = { name: 'echo', arguments: { text: 'y'.repeat(35_000) } }
  await expect.poll(async () => (await postModern(open.mcp, 2, 'tools/call', echo)).status).toBe(200)
})

test('a body that comes too slowly is ended, and its room is free', async () => {
  await using open = await openDoor({ limits: { requestTimeoutMs: 300, bodyBytesPerCaller: 30_000 } })
  const slow = begin(open.server.port, { bytes: 900_000, first: 'x'.repeat(25_000) })
  await once(slow.socket, 'end')
  expect(slow.text()).toMatch(/^HTTP\/1.1 408/)
  slow.socket.destroy()
  const echo = { name: 'echo', arguments: { text: 'y'.repeat(20_000) } }
  await expect.poll(async () => (await postModern(open.mcp, 2, 'tools/call', echo)).status).toBe(200)
})

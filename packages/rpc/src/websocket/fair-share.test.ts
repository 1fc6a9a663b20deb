import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Credentials, Denied } from '../door.ts'
import { openHttpServer } from '../http/server.ts'
import type { Limits } from '../limits.ts'
import type { Caller, Service } from '../service.ts'
import { initializeParams, rpc } from '../fixture/http-caller.ts'
import { openProbe, until } from '../fixture/probe-service.ts'

const FLOOD = 3_000
const SHARE = 64

/** Every token is a person with a meter that counts what is taken from it, up to so much. */
async function openMetered(most = Number.POSITIVE_INFINITY, limits: Partial<Limits> = {}) {
  const taken = new Map<string, number>()
  const seen: number[] = []
  const revoked = new Set<string>()
  const probe = openProbe()
  const service: Service = {
    ...probe.service,
    call: (method, params, call) => {
      seen.push(taken.get('Bearer flood') ?? 0)
      return probe.service.call(method, params, call)
    },
  }
  const authenticate = ({ authorization: key = '' }: Credentials): Caller => {
    if (revoked.has(key)) throw new Denied(401, 'revoked_token', 'this token was revoked')
    const left = (): number => most - (taken.get(key) ?? 0)
    const take = (): boolean => {
      if (left() < 1) return false
      taken.set(key, (taken.get(key) ?? 0) + 1)
      return true
    }
    const meter = {
      take,
      get open() {
        return left() >= 1
      },
    }
    return { key, meter }
  }
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: { authenticate, serviceFor: () => service },
    stateKey: randomBytes(32),
    limits: { turnMessages: SHARE, ...limits },
  })
  const ws = `${server.url.replace('http', 'ws')}/api/mcp/ws`
  return { ws, taken, seen, revoked, [Symbol.asyncDispose]: () => server.close(0) }
}

async function connect(ws: string, token: string): Promise<{ socket: WebSocket; messages: unknown[] }> {
  const socket = new WebSocket(ws, { headers: { authorization: `Bearer ${token}` } })
  const messages: unknown[] = []
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString('utf8'))))
  await once(socket, 'open')
  return { socket, messages }
}

const text = (id: number, method: string, params = {}): string => JSON.stringify(rpc(id, method, params))

test.each([
  ['control frames', (socket: WebSocket) => socket.ping('x')],
  ['JSON-RPC pings', (socket: WebSocket, id: number) => socket.send(text(id, 'ping'))],
  ['notifications', (socket: WebSocket) => socket.send('{"jsonrpc":"2.0","method":"notifications/x"}')],
  ['answers to nothing', (socket: WebSocket) => socket.send('{"jsonrpc":"2.0","id":1,"result":{}}')],
  ['garbage', (socket: WebSocket) => socket.send('this is no JSON, and it is just as long as the others')],
])('%s cost their sender, and the call of another waits for a few of them at most', async (_what, send) => {
  await using open = await openMetered()
  const flood = await connect(open.ws, 'flood')
  const other = await connect(open.ws, 'other')
  for (let id = 0; id < FLOOD; id += 1) send(flood.socket, id)
  other.socket.send(text(1, 'tools/list'))
  await until(() => open.seen.length === 1)
  await until(() => open.taken.get('Bearer flood') === FLOOD)
  // Both were written before the server read anything: it had read the flood for a turn or two when it came to the other.
  expect(open.seen[0]).toBeLessThan(FLOOD / 2)
  flood.socket.terminate()
  other.socket.terminate()
})

test('subscribing, listening and asking what there is cost their sender', async () => {
  await using open = await openMetered()
  const { socket, messages } = await connect(open.ws, 'me')
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  const asked = [
    text(1, 'initialize', initializeParams()),
    text(2, 'resources/subscribe', { uri: 'test://a' }),
    text(3, 'resources/unsubscribe', { uri: 'test://a' }),
    text(4, 'subscriptions/listen', { notifications: {}, _meta: meta }),
    text(5, 'server/discover', { _meta: meta }),
    text(6, 'no/such', { _meta: meta }),
    text(7, 'ping'),
  ]
  for (const [index, message] of asked.entries()) {
    socket.send(message)
    await until(() => open.taken.get('Bearer me') === index + 1)
  }
  await until(() => messages.length >= asked.length)
  socket.terminate()
})

test('whoever has nothing left is told so, and is not read for a while', async () => {
  await using open = await openMetered(5)
  const { socket, messages } = await connect(open.ws, 'me')
  for (let id = 1; id <= 8; id += 1) socket.send(text(id, 'ping'))
  await until(() => messages.length >= 6)
  expect(messages.slice(0, 5)).toEqual([1, 2, 3, 4, 5].map((id) => ({ jsonrpc: '2.0', id, result: {} })))
  expect(messages[5]).toMatchObject({ id: 6, error: { code: -32970 } })
  socket.terminate()
})

test('a message that comes after its token was revoked is not served, though nobody has cut the socket yet', async () => {
  await using open = await openMetered()
  const { socket, messages } = await connect(open.ws, 'me')
  socket.send(text(1, 'tools/list'))
  await until(() => messages.length === 1)
  open.revoked.add('Bearer me')
  socket.send(text(2, 'tools/list'))
  const [code, reason] = await once(socket, 'close')
  expect([code, String(reason)]).toEqual([1008, 'revoked_token'])
  expect(open.seen).toHaveLength(1)
})

test('parts of messages that never end are bounded for each person', async () => {
  await using open = await openMetered(undefined, { bodyBytesPerCaller: 100_000 })
  const sockets = await Promise.all([1, 2, 3, 4].map(() => connect(open.ws, 'me')))
  const other = await connect(open.ws, 'other')
  const ends = sockets.map(({ socket }) => once(socket, 'close').then(([code, reason]) => `${code} ${reason}`))
  for (const { socket } of sockets) socket.send('x'.repeat(40_000), { fin: false })
  expect(await Promise.race(ends)).toBe('1008 too many bytes of yours are on their way')
  other.socket.send(text(1, 'tools/list'))
  await until(() => other.messages.length === 1)
  for (const { socket } of [...sockets, other]) socket.terminate()
})

test('messages that are being worked on are bounded in bytes for each person, until they are answered', async () => {
  await using open = await openMetered(undefined, { bodyBytesPerCaller: 290_000 })
  const first = await connect(open.ws, 'me')
  const second = await connect(open.ws, 'me')
  const large = (id: number, name: string): string => text(id, 'tools/call', { name, arguments: { text: 'x'.repeat(100_000) } })
  for (const { socket } of [first, second]) socket.send(large(1, 'hold'))
  await until(() => open.seen.length === 2)
  const closed = once(first.socket, 'close')
  first.socket.send(large(2, 'echo'))
  expect(String((await closed)[1])).toBe('too many bytes of yours are on their way')
  // Its call went with it, and so did what that held.
  second.socket.send(large(2, 'echo'))
  await until(() => second.messages.length === 1)
  expect(second.messages).toMatchObject([{ id: 2, result: {} }])
  second.socket.terminate()
})

test('a message that never ends is cut in time, though its sender pings; a socket that only pings stays', async () => {
  await using open = await openMetered(undefined, { requestTimeoutMs: 300, keepAliveMs: 50 })
  const slow = await connect(open.ws, 'me')
  const quiet = await connect(open.ws, 'other')
  slow.socket.send('{"jsonrpc":', { fin: false })
  const pings = setInterval(() => {
    slow.socket.ping('x')
    quiet.socket.ping('x')
  }, 20)
  await once(slow.socket, 'close')
  clearInterval(pings)
  quiet.socket.send(text(1, 'tools/list'))
  await until(() => quiet.messages.length === 1)
  quiet.socket.terminate()
})

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Credentials } from '../door.ts'
import { openHttpServer } from '../http/server.ts'
import type { Limits } from '../limits.ts'
import type { Caller, Service } from '../service.ts'
import { initializeParams, modern, openSession, post, rpc } from '../fixture/http-caller.ts'
import { openProbe, until } from '../fixture/probe-service.ts'

/** A token is `PERSON-NUMBER`: a person has as many as they like. Room is kept for `admin`. */
function byPerson({ authorization = '' }: Credentials): Caller {
  const token = authorization.replace('Bearer ', '')
  const person = token.split('-', 1)[0] ?? ''
  return { key: token, person, hasKeptRoom: person === 'admin' }
}

async function openForPeople(service: Service, limits: Partial<Limits>) {
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: { authenticate: byPerson, serviceFor: () => service },
    stateKey: randomBytes(32),
    limits,
  })
  const ws = `${server.url.replace('http', 'ws')}/api/mcp/ws`
  return { server, mcp: `${server.url}/mcp`, ws, [Symbol.asyncDispose]: () => server.close(0) }
}

const initialize = (mcp: string, token: string) =>
  post(mcp, rpc(1, 'initialize', initializeParams()), { authorization: `Bearer ${token}` })

async function upgrade(ws: string, token: string): Promise<number> {
  const socket = new WebSocket(ws, { headers: { authorization: `Bearer ${token}` } })
  socket.on('error', () => undefined)
  const opened = once(socket, 'open').then(() => 101)
  const refused = once(socket, 'unexpected-response').then(([, response]) => Number(response.statusCode))
  return Promise.race([opened, refused])
}

test('sessions, sockets and streams of all tokens of one person count together', async () => {
  await using open = await openForPeople(openProbe().service, { linksPerCaller: 3 })
  await openSession(open.mcp, '2025-11-25', {}, 'ada-1')
  expect(await upgrade(open.ws, 'ada-2')).toBe(101)
  await openSession(open.mcp, '2025-11-25', {}, 'ada-3')
  expect((await initialize(open.mcp, 'ada-4')).status).toBe(429)
  expect(await upgrade(open.ws, 'ada-5')).toBe(429)
  const listen = modern(1, 'subscriptions/listen', { notifications: {} })
  expect((await post(open.mcp, listen.body, { ...listen.headers, authorization: 'Bearer ada-6' })).status).toBe(429)
  expect((await initialize(open.mcp, 'bob-1')).status).toBe(200)
})

test('however many people fill the server, room is left for those that it is kept for', async () => {
  await using open = await openForPeople(openProbe().service, { linksPerCaller: 2, links: 5, linksKept: 2 })
  for (const token of ['ada-1', 'ada-2', 'bob-1']) expect((await initialize(open.mcp, token)).status).toBe(200)
  expect((await initialize(open.mcp, 'bob-2')).status).toBe(429)
  expect(await upgrade(open.ws, 'eve-1')).toBe(429)
  expect((await initialize(open.mcp, 'admin-1')).status).toBe(200)
  expect(await upgrade(open.ws, 'admin-2')).toBe(101)
})

test('calls under way of all tokens of one person count together, whatever carries them', async () => {
  const probe = openProbe()
  await using open = await openForPeople(probe.service, { callsPerCaller: 2 })
  const session = await openSession(open.mcp, '2025-11-25', {}, 'ada-1')
  const held = post(open.mcp, rpc(1, 'tools/call', { name: 'hold' }), session.headers)
  const stateless = modern(2, 'tools/call', { name: 'hold' })
  const heldToo = post(open.mcp, stateless.body, { ...stateless.headers, authorization: 'Bearer ada-2' })
  await until(() => probe.holding() === 2)
  const overloaded = [{ error: { code: -32970 } }]
  expect((await post(open.mcp, rpc(3, 'tools/list'), session.headers)).messages).toMatchObject(overloaded)
  const more = modern(4, 'tools/list')
  expect((await post(open.mcp, more.body, { ...more.headers, authorization: 'Bearer ada-3' })).messages).toMatchObject(overloaded)
  expect((await post(open.mcp, more.body, { ...more.headers, authorization: 'Bearer bob-1' })).status).toBe(200)
  probe.release()
  probe.release()
  await Promise.all([held, heldToo])
  expect((await post(open.mcp, more.body, { ...more.headers, authorization: 'Bearer ada-3' })).status).toBe(200)
})

test('what one person watches counts together', async () => {
  await using open = await openForPeople(openProbe().service, { subscriptionsPerCaller: 2 })
  const subscribe = async (token: string, uri: string) => {
    const { headers } = await openSession(open.mcp, '2025-11-25', {}, token)
    return { headers, reply: await post(open.mcp, rpc(1, 'resources/subscribe', { uri }), headers) }
  }
  const first = await subscribe('ada-1', 'test://a')
  expect(first.reply.messages).toMatchObject([{ result: {} }])
  expect((await subscribe('ada-2', 'test://b')).reply.messages).toMatchObject([{ result: {} }])
  expect((await subscribe('ada-3', 'test://c')).reply.messages).toMatchObject([{ error: { code: -32970 } }])
  expect((await subscribe('bob-1', 'test://c')).reply.messages).toMatchObject([{ result: {} }])
  await post(open.mcp, rpc(2, 'resources/unsubscribe', { uri: 'test://a' }), first.headers)
  expect((await subscribe('ada-4', 'test://c')).reply.messages).toMatchObject([{ result: {} }])
})

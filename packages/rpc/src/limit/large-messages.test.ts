import { randomBytes } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { openHttpServer } from '../http/server.ts'
import type { Caller, Service } from '../service.ts'
import { initializeParams, modern, openSession, post, postModern, rpc } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { Turns } from './turns.ts'

const MIB = 1024 * 1024

afterEach(() => void vi.restoreAllMocks())

/** How often a long text was read as JSON in this process, where the server is, too. */
function countParses(): () => number {
  const parse = vi.spyOn(JSON, 'parse')
  return () => parse.mock.calls.filter(([text]) => text.length > MIB / 2).length
}

const call = (junk: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":${junk}}}}`

test.each([
  ['arrays', `[${'[],'.repeat(MIB)}[]]`],
  ['numbers', `[${'1,'.repeat(MIB)}1]`],
  ['members', `{${Array.from({ length: 200_000 }, (_, at) => `"${at}":0`).join(',')}}`],
  ['what has no end', `[${'[],'.repeat(MIB)}`],
])('a message of more %s than anybody needs is refused before it is parsed', async (_kind, junk) => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp)
  const parses = countParses()
  const reply = await post(open.mcp, call(junk), headers)
  expect(parses()).toBe(0)
  expect(reply).toMatchObject({ status: 413, messages: [{ id: null, error: { code: -32600 } }] })
  expect(reply.text).toContain('more than 100000 values')
})

test('the same on a socket, which goes on', async () => {
  await using open = await openTestServer(openProbe().service)
  const socket = new WebSocket(open.ws, { headers: { authorization: 'Bearer me' } })
  const told: string[] = []
  socket.on('message', (data: Buffer) => void told.push(data.toString()))
  await new Promise((resolve) => socket.once('open', resolve))
  const parses = countParses()
  socket.send(call(`[${'[],'.repeat(MIB)}[]]`))
  socket.send(JSON.stringify(rpc(2, 'ping')))
  await until(() => told.length === 2)
  expect(parses()).toBe(0)
  expect(told[0]).toContain('"code":-32600,"message":"Invalid message: it holds more than 100000 values')
  expect(told[1]).toContain('"id":2,"result"')
  socket.terminate()
})

test('a large message of one text is served as ever', async () => {
  await using open = await openTestServer(openProbe().service)
  const text = ',[{"'.repeat(MIB)
  const reply = await postModern(open.mcp, 1, 'tools/call', { name: 'echo', arguments: { text } })
  expect(reply.messages).toMatchObject([{ result: { structuredContent: { text } } }])
})

/** A server whose one caller has so much to pay with, and what was taken of it. */
async function openPaid(service: Service, budget: number) {
  let left = budget
  const prices: number[] = []
  const meter = {
    get open() {
      return left > 0
    },
    take: (price = 1): boolean => {
      if (left <= 0) return false
      left -= price
      prices.push(price)
      return true
    },
  }
  const caller: Caller = { key: 'me', meter }
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: { authenticate: () => caller, serviceFor: () => service },
    stateKey: randomBytes(32),
  })
  return { prices, mcp: `${server.url}/mcp`, [Symbol.asyncDispose]: () => server.close(0) }
}

test('a message costs its sender by its size, and who has nothing left is refused before it is parsed', async () => {
  await using open = await openPaid(openProbe().service, 40)
  const parses = countParses()
  const ask = (chars: number) => postModern(open.mcp, 1, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(chars) } })
  await ask(1_000)
  expect(open.prices).toEqual([])
  expect((await ask(MIB)).status).toBe(200)
  expect(open.prices).toEqual([32])
  const before = parses()
  expect((await ask(MIB)).status).toBe(200)
  expect(parses()).toBeGreaterThan(before)
  const last = parses()
  const refused = await ask(MIB)
  expect(refused).toMatchObject({ status: 429, messages: [{ error: { code: -32970 } }] })
  expect(parses()).toBe(last)
})

test('a request is held to what its method needs, in both eras and in a batch', async () => {
  const probe = openProbe()
  const asked: string[] = []
  const service: Service = {
    ...probe.service,
    requestBytes: (method, params) => {
      asked.push(method)
      return params['name'] === 'echo' ? 2 * MIB : 0
    },
  }
  await using open = await openTestServer(service)
  const { headers } = await openSession(open.mcp, '2025-03-26')
  const junk = { text: 'x'.repeat(100_000) }
  const error = { code: -32602, message: 'a request for flood has at most 65536 bytes', data: { limit_bytes: 65_536 } }
  const small = rpc(1, 'tools/call', { name: 'flood', arguments: {} })
  expect((await post(open.mcp, small, headers)).messages).toMatchObject([{ id: 1, result: {} }])
  expect(asked).toEqual([])
  const large = rpc(2, 'tools/call', { name: 'flood', arguments: junk })
  expect((await post(open.mcp, large, headers)).messages).toMatchObject([{ id: 2, error }])
  expect((await postModern(open.mcp, 3, 'tools/call', { name: 'flood', arguments: junk })).messages).toMatchObject([{ error }])
  expect((await postModern(open.mcp, 4, 'tools/call', { name: 'echo', arguments: junk })).messages).toMatchObject([
    { result: {} },
  ])
  const batch = await post(open.mcp, [small, large, rpc(5, 'tools/call', { name: 'echo', arguments: junk })], headers)
  expect(batch.messages).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error },
    { id: 5, result: {} },
  ])
  const { body, headers: named } = modern(6, 'tools/call', { name: 'flood' })
  const params = body['params'] as { _meta: object }
  const inMeta = { ...body, params: { ...params, _meta: { ...params._meta, junk } } }
  expect((await post(open.mcp, inMeta, named)).messages).toMatchObject([{ id: 6, error }])
})

test('an initialize that is large opens nothing', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const params = initializeParams('2025-11-25', { experimental: { a: 'x'.repeat(100_000) } })
  const reply = await post(open.mcp, rpc(1, 'initialize', params))
  expect(reply.messages).toMatchObject([{ error: { code: -32602, message: 'a request for initialize has at most 65536 bytes' } }])
  expect(probe.links.size).toBe(0)
})

test('of large messages a person has a turn for each; the others have theirs in between', async () => {
  const turns = new Turns({ turnMessages: 4, turnBytes: 400 })
  const served: string[] = []
  const over = Promise.withResolvers<void>()
  for (const at of [1, 2, 3]) turns.run('ada', 500, () => served.push(`ada ${at}`))
  const other = (at: number): void => {
    turns.run('bob', 10, () => served.push(`bob ${at}`))
    if (at < 3) setImmediate(other, at + 1)
    else setImmediate(over.resolve)
  }
  other(1)
  await over.promise
  expect(served).toEqual(['ada 1', 'bob 1', 'ada 2', 'bob 2', 'ada 3', 'bob 3'])
})

test('small and middling messages share a turn', () => {
  const turns = new Turns({ turnMessages: 4, turnBytes: 400 })
  expect([10, 10, 250].map((bytes) => turns.take('ada', bytes))).toEqual([true, true, true])
  expect(turns.take('ada', 10)).toBe(false)
  expect(turns.take('bob', 1_000)).toBe(true)
  expect(turns.take('bob', 10)).toBe(false)
})

import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { readEvents } from '../fixture/event-reader.ts'
import { initializeParams, modern, openSession, post, postModern, rpc } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'

test('a message that is too large is 413, announced or not, and the server goes on', async () => {
  await using open = await openTestServer(openProbe().service, { limits: { messageBytes: 1000 } })
  const { headers } = await openSession(open.mcp)
  const large = rpc(1, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(2000) } })
  expect((await post(open.mcp, large, headers)).status).toBe(413)
  const chunked = await rawChunked(open.server.port, headers, Buffer.alloc(5000, 0x20))
  expect(chunked).toMatch(/^HTTP\/1.1 413/)
  expect((await post(open.mcp, rpc(2, 'ping'), headers)).status).toBe(200)
})

test('nesting that is too deep is refused with the id', async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp)
  const deep = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`
  expect(await post(open.mcp, deep, headers)).toMatchObject({ status: 400, messages: [{ id: 4, error: { code: -32600 } }] })
})

test('one token opens so many sessions and no more; another is not affected', async () => {
  await using open = await openTestServer(openProbe().service, { limits: { linksPerCaller: 2 } })
  await openSession(open.mcp)
  await openSession(open.mcp)
  const third = await post(open.mcp, rpc(1, 'initialize', initializeParams()))
  expect(third).toMatchObject({ status: 429, headers: { 'retry-after': '10' }, messages: [{ error: { code: -32970 } }] })
  expect((await openSession(open.mcp, '2025-11-25', {}, 'other')).reply.status).toBe(200)
})

test('one session has so many requests under way and no more', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service, { limits: { inFlightRequests: 2 } })
  const { headers } = await openSession(open.mcp)
  const held = [1, 2].map((id) => post(open.mcp, rpc(id, 'tools/call', { name: 'hold' }), headers))
  await until(() => probe.holding() === 2)
  expect((await post(open.mcp, rpc(3, 'ping'), headers)).messages).toMatchObject([{ id: 3, error: { code: -32970 } }])
  expect((await post(open.mcp, rpc(1, 'ping'), headers)).messages).toMatchObject([{ id: 1, error: { code: -32600 } }])
  probe.release()
  probe.release()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200])
})

test('one token has so many modern requests under way and no more; another is not affected', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service, { limits: { callsPerCaller: 2 } })
  const held = [1, 2].map((id) => postModern(open.mcp, id, 'tools/call', { name: 'hold' }))
  await until(() => probe.holding() === 2)
  expect(await postModern(open.mcp, 3, 'tools/list')).toMatchObject({
    status: 429,
    messages: [{ id: 3, error: { code: -32970 } }],
  })
  const { body, headers } = modern(4, 'tools/list')
  expect((await post(open.mcp, body, { ...headers, authorization: 'Bearer other' })).status).toBe(200)
  probe.release()
  probe.release()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200])
  expect((await postModern(open.mcp, 5, 'tools/list')).status).toBe(200)
})

test('a session that nobody uses ends by itself; one with a reader stays', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service, { limits: { sessionIdleMs: 3_000, keepAliveMs: 20 } })
  const idle = await openSession(open.mcp)
  const watched = await openSession(open.mcp)
  const stream = await readEvents(open.mcp, watched.headers)
  await until(() => probe.links.size === 1)
  expect((await post(open.mcp, rpc(1, 'ping'), idle.headers)).status).toBe(404)
  expect((await post(open.mcp, rpc(1, 'ping'), watched.headers)).status).toBe(200)
  stream.stop()
})

test.each([
  ['one person', { linksPerCaller: 3 }],
  ['all', { links: 3, linksKept: 0 }],
])('sessions that clients left behind make room within the bound of %s, those in use do not', async (_whose, bounds) => {
  const probe = openProbe()
  let now = 1_000_000
  const limits = { ...bounds, sessionUnattendedMs: 60_000 }
  await using open = await openTestServer(probe.service, { limits, now: () => now })
  const ping = async ({ headers }: Awaited<ReturnType<typeof openSession>>) =>
    (await post(open.mcp, rpc(1, 'ping'), headers)).status
  const [watched, left, quiet] = [await openSession(open.mcp), await openSession(open.mcp), await openSession(open.mcp)]
  const stream = await readEvents(open.mcp, watched.headers)
  now += 59_999
  expect((await openSession(open.mcp)).reply.status).toBe(429)
  expect(await ping(quiet)).toBe(200)
  now += 1
  expect((await openSession(open.mcp)).reply.status).toBe(200)
  expect([await ping(watched), await ping(left), await ping(quiet)]).toEqual([200, 404, 200])
  expect((await openSession(open.mcp)).reply.status).toBe(429)
  stream.stop()
})

test('a call that takes long becomes a stream that is kept alive', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service, { limits: { streamAfterMs: 20, keepAliveMs: 20 } })
  const { headers } = await openSession(open.mcp)
  const stream = await readEvents(open.mcp, headers, rpc(1, 'tools/call', { name: 'hold' }))
  expect(stream.status).toBe(200)
  probe.release()
  await until(() => stream.ended())
  expect(stream.events.at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: 'released' }] } })
})

test('a reader that takes nothing holds up nobody, and what waits for it is bounded', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service, { limits: { streamBufferBytes: 64 * 1024 } })
  const stuck = await openSession(open.mcp)
  const lively = await openSession(open.mcp)
  const socket = await stalledReader(open.server.port, stuck.headers)
  for (let at = 0; at < 50; at += 1) {
    await post(open.mcp, rpc(at, 'resources/subscribe', { uri: `test://${'x'.repeat(2000)}/${at}` }), stuck.headers)
  }
  await post(open.mcp, rpc(1, 'resources/subscribe', { uri: 'test://lively' }), lively.headers)
  const stream = await readEvents(open.mcp, lively.headers)
  const before = process.memoryUsage().heapUsed
  for (let round = 0; round < 2000; round += 1) {
    for (let at = 0; at < 50; at += 1) probe.change(`test://${'x'.repeat(2000)}/${at}`)
  }
  probe.change('test://lively')
  await until(() => stream.events.some(({ message }) => JSON.stringify(message ?? '').includes('lively')))
  // 100,000 updates of 2 kB each would be 200 MB; what may wait is 64 KiB and one mark per resource.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * 1024 * 1024)
  socket.destroy()
  stream.stop()
})

/** Opens the GET stream and never reads from it. */
function stalledReader(port: number, headers: Record<string, string>) {
  const socket = connect(port, '127.0.0.1')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n${lines.join('')}\r\n`)
  return new Promise<typeof socket>((resolve) => {
    socket.once('data', () => {
      socket.pause()
      resolve(socket)
    })
  })
}

/** Sends a body without announcing its length. */
function rawChunked(port: number, headers: Record<string, string>, body: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const accept = 'accept: application/json, text/event-stream\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n'
  socket.write(`POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n${accept}${lines.join('')}\r\n${body.length.toString(16)}\r\n`)
  socket.write(body)
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}

test('at shutdown a call under way is finished, a listener is sent away, and nobody new is let in', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  const stream = await readEvents(open.mcp, headers)
  const held = post(open.mcp, rpc(1, 'tools/call', { name: 'hold' }), headers)
  await until(() => probe.holding() === 1)
  const closing = open.server.close(2000)
  await until(() => stream.ended())
  probe.release()
  expect((await held).messages).toMatchObject([{ id: 1, result: { content: [{ text: 'released' }] } }])
  await closing
  await expect(post(open.mcp, rpc(2, 'ping'), headers)).rejects.toThrow('ECONNREFUSED')
})

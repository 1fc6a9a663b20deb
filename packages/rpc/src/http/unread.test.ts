import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { JsonText } from '../message/text.ts'
import type { Service } from '../service.ts'
import { modern, openSession, post, postModern, rpc, send } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { type RawPeer, rawPost, sendRaw } from '../fixture/raw-request.ts'
import { watchWaitingBytes } from '../fixture/waiting-bytes.ts'

const MIB = 1024 * 1024
/** More than the system takes for a reader that does not read. */
const LARGE = 8 * MIB

/** `large` answers a large text; `told` speaks until it is not heard any more and counts the characters that were taken. */
function openTalker() {
  const served = { large: 0, told: 0, refused: 0 }
  const large = new JsonText(JSON.stringify({ content: [], text: 'x'.repeat(LARGE) }))
  const line = { level: 'info', data: 'x'.repeat(256 * 1024) }
  const service: Service = {
    ...openProbe().service,
    call: async (_method, params, call) => {
      if (params['name'] === 'told') {
        while (call.notify('notifications/message', line)) served.told += 1
        served.refused += 1
        return new Promise((resolve) => call.signal.addEventListener('abort', () => resolve({ content: [] })))
      }
      if (params['name'] !== 'large') return { content: [] }
      served.large += 1
      return Promise.resolve(large)
    },
  }
  return { service, served }
}

function asks(name: string, times: number, token = 'me'): string {
  const { body, headers } = modern(1, 'tools/call', { name })
  return rawPost(body, { ...headers, authorization: `Bearer ${token}` }).repeat(times)
}

function unreading(port: number, bytes: string): RawPeer {
  const peer = sendRaw(port, bytes)
  peer.socket.pause()
  return peer
}

test('answers that nobody reads have a bound for each person, however many connections and requests there are', async () => {
  const { service, served } = openTalker()
  await using open = await openTestServer(service, { limits: { unreadBytesPerCaller: 3 * LARGE } })
  using waiting = watchWaitingBytes()
  const peers = Array.from({ length: 4 }, () => unreading(open.server.port, asks('large', 8)))
  await until(() => served.large === 32, 'all requests')
  await expect.poll(() => open.server.holds().unreadBytes).toBeGreaterThan(2 * LARGE)
  expect(open.server.holds().unreadBytes).toBeLessThanOrEqual(3 * LARGE)
  // 32 answers would be 256 MiB.
  expect(waiting.now()).toBeLessThan(3.1 * LARGE)
  const refused = await postModern(open.mcp, 2, 'tools/call', { name: 'large' })
  expect(refused).toMatchObject({
    status: 429,
    messages: [{ error: { code: -32970, message: expect.stringContaining('have not been read') } }],
  })
  // Whoever else asks, and whoever asks for little, is answered.
  expect((await postModern(open.mcp, 3, 'tools/call', { name: 'small' })).status).toBe(200)
  const { body, headers } = modern(4, 'tools/call', { name: 'large' })
  expect((await post(open.mcp, body, { ...headers, authorization: 'Bearer other' })).text.length).toBeGreaterThan(LARGE)
  for (const { socket } of peers) socket.destroy()
  await expect.poll(() => open.server.holds().unreadBytes).toBe(0)
  expect((await postModern(open.mcp, 5, 'tools/call', { name: 'large' })).status).toBe(200)
})

test('small answers count, too, where they stand behind one that is not read', async () => {
  const { service, served } = openTalker()
  await using open = await openTestServer(service, { limits: { unreadBytesPerCaller: 2 * LARGE } })
  const peer = unreading(open.server.port, asks('large', 1) + asks('small', 50))
  await until(() => served.large === 1)
  await expect.poll(() => open.server.holds().unreadBytes).toBeGreaterThan(LARGE + 50 * 100)
  peer.socket.resume()
  await expect.poll(() => open.server.holds().unreadBytes).toBe(0)
  peer.socket.destroy()
})

test('answers that nobody reads have a bound in all, with room kept for some', async () => {
  const { service, served } = openTalker()
  const limits = { unreadBytes: 4 * LARGE, unreadBytesKept: LARGE }
  await using open = await openTestServer(service, { limits })
  using waiting = watchWaitingBytes()
  const peers = ['ada', 'bob', 'eve', 'joe'].map((name) => unreading(open.server.port, asks('large', 4, name)))
  await until(() => served.large === 16, 'all requests')
  await expect.poll(() => open.server.holds().unreadBytes).toBeGreaterThan(2 * LARGE)
  expect(open.server.holds().unreadBytes).toBeLessThanOrEqual(3 * LARGE)
  expect(waiting.now()).toBeLessThan(3.1 * LARGE)
  expect((await postModern(open.mcp, 1, 'tools/call', { name: 'large' })).status).toBe(503)
  for (const { socket } of peers) socket.destroy()
  await expect.poll(() => open.server.holds().unreadBytes).toBe(0)
})

test('what streams of one person have told and nobody has read has a bound for all of them together', async () => {
  const { service, served } = openTalker()
  const limits = { unreadBytesPerCaller: 2 * MIB, streamBufferBytes: 4 * MIB }
  await using open = await openTestServer(service, { limits })
  using waiting = watchWaitingBytes()
  const peers = Array.from({ length: 10 }, () => unreading(open.server.port, asks('told', 1)))
  await until(() => served.refused === 10, 'ten streams that are not heard')
  // One message of each may be on its way beside what there is room for: ten streams alone could have 40 MiB.
  expect(waiting.now()).toBeLessThan(2 * MIB + 10 * 300 * 1024)
  for (const { socket } of peers) socket.destroy()
  await expect.poll(() => open.server.holds().unreadBytes).toBe(0)
})

test('a session whose large result came as a stream keeps none of it, and what is kept ends with the session', async () => {
  const { service } = openTalker()
  const slow: Service = {
    ...service,
    call: (method, params, call) => {
      call.progress(1)
      return service.call(method, params, call)
    },
  }
  await using open = await openTestServer(slow)
  const call = (name: string) => rpc(1, 'tools/call', { name, _meta: { progressToken: 1 } })
  const sessions = await Promise.all([1, 2, 3].map(() => openSession(open.mcp)))
  for (const { headers } of sessions) {
    await post(open.mcp, call('small'), headers)
    const { messages } = await post(open.mcp, call('large'), headers)
    expect(messages).toMatchObject([{ method: 'notifications/progress' }, { id: 1, result: {} }])
  }
  expect(open.server.holds().replayBytes).toBeGreaterThan(0)
  expect(open.server.holds().replayBytes).toBeLessThan(3_000)
  for (const { headers } of sessions) await send(open.mcp, 'DELETE', null, headers)
  expect(open.server.holds().replayBytes).toBe(0)
})

/** A socket that has asked and does not read. */
async function unreadingSocket(url: string, times: number): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers: { authorization: 'Bearer me' } })
  await new Promise((resolve) => socket.once('open', resolve))
  socket.pause()
  for (let id = 1; id <= times; id += 1) socket.send(JSON.stringify(rpc(id, 'tools/call', { name: 'large' })))
  return socket
}

test('a socket that does not read is cut with what waits for it, and not asked to say that it is closed', async () => {
  await using open = await openTestServer(openTalker().service, { limits: { streamBufferBytes: 64 * 1024 } })
  const socket = await unreadingSocket(open.ws, 3)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await expect.poll(() => open.server.links()).toBe(0)
  socket.resume()
  // A word why would have stood behind all that it did not read.
  expect(await closed).toBe(1006)
  await expect.poll(() => open.server.holds().unreadBytes).toBe(0)
})

test('what waits for sockets counts for their person, who then gets no large answer on another', async () => {
  const { service, served } = openTalker()
  await using open = await openTestServer(service, { limits: { unreadBytesPerCaller: 1.5 * LARGE, streamBufferBytes: LARGE } })
  const first = await unreadingSocket(open.ws, 1)
  await until(() => served.large === 1)
  await expect.poll(() => open.server.holds().unreadBytes).toBeGreaterThan(0)
  const second = await unreadingSocket(open.ws, 1)
  const closed = new Promise((resolve) => second.once('close', (code, reason) => resolve(`${code} ${String(reason)}`)))
  await until(() => served.large === 2)
  second.resume()
  expect(await closed).toBe('1008 the client does not read')
  expect(open.server.links()).toBe(1)
  first.terminate()
  await expect.poll(() => open.server.holds().unreadBytes).toBe(0)
})

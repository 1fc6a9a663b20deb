import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, test } from 'vitest'
import type { Limits } from '../limits.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { type RawPeer, rawHead, sendRaw } from '../fixture/raw-request.ts'
import type { Route } from './route.ts'
import { openHttpServer } from './server.ts'
import type { ListenAt } from './server-options.ts'

const HOST = { host: 'localhost' }
const ASK = rawHead('GET /now', HOST)
const beginBody = (bytes: number, first: string): string =>
  rawHead('POST /body', { ...HOST, 'content-length': String(bytes) }) + first

/** `/now` answers, `/body` says how long its body was, `/later` answers when it is told to. */
async function openRoutes(limits: Partial<Limits>, listen: ListenAt = { host: '127.0.0.1', port: 0 }) {
  const gate = Promise.withResolvers<void>()
  const begun: AbortSignal[] = []
  const route: Route = async (request) => {
    if (request.path === '/now') return { status: 200, body: 'now' }
    if (request.path === '/body') return { status: 200, body: `body ${(await request.body(1_000_000, { key: 'me' })).length}` }
    begun.push(request.signal)
    await gate.promise
    return { status: 200, body: 'later' }
  }
  const server = await openHttpServer({
    listen,
    door: { authenticate: () => ({ key: 'me' }), serviceFor: () => openProbe().service },
    stateKey: randomBytes(32),
    routes: [route],
    limits,
  })
  return { server, port: server.port, open: gate.resolve, begun, [Symbol.asyncDispose]: () => server.close(0) }
}

/** Sends one more request on the same connection and waits for its answer. */
async function ask(peer: RawPeer, request = ASK, status = 200): Promise<void> {
  const answers = peer.text().split('HTTP/1.1').length
  peer.socket.write(request)
  await until(() => peer.text().split('HTTP/1.1').length > answers, 'an answer')
  expect(peer.text()).toMatch(new RegExp(`HTTP/1.1 ${status} [^]*$`))
}

const isClosed = ({ socket }: RawPeer): boolean => socket.readableEnded || socket.destroyed

test('however many say nothing, who had an answer before goes on, and who comes later gets in', async () => {
  await using open = await openRoutes({ connections: 8 })
  const older = sendRaw(open.port, ASK)
  await until(() => older.text() !== '')
  const silent: RawPeer[] = []
  // Nothing at all, half of a head, a body that does not begin, and one that does not end.
  const words = ['', 'POST /body HT', beginBody(1_000, ''), beginBody(1_000, 'x')]
  for (let at = 0; at < 60; at += 1) {
    const peer = sendRaw(open.port, words[at % words.length] ?? '')
    await once(peer.socket, 'connect')
    silent.push(peer)
    expect(open.server.holds().connections).toBeLessThanOrEqual(8)
  }
  await expect.poll(() => silent.filter((peer) => !isClosed(peer)).length).toBe(7)
  await ask(older)
  const newer = sendRaw(open.port, ASK)
  await until(() => newer.text() !== '')
  await ask(newer)
  await ask(older)
  expect(open.server.holds()).toMatchObject({ connections: 8, unreadBytes: 0 })
  for (const { socket } of [older, newer, ...silent]) socket.destroy()
  await expect.poll(() => open.server.holds()).toEqual({ connections: 0, bodyBytes: 0, replayBytes: 0, unreadBytes: 0 })
})

test('where every connection waits for its answer, one more is closed at once', async () => {
  await using open = await openRoutes({ connections: 3 })
  const peers = [1, 2, 3].map(() => sendRaw(open.port, rawHead('GET /later', HOST)))
  await until(() => open.begun.length === 3)
  const fourth = sendRaw(open.port, ASK)
  await until(() => isClosed(fourth))
  expect(fourth.text()).toBe('')
  open.open()
  for (const peer of peers) await until(() => peer.text().includes('later'))
  for (const { socket } of [...peers, fourth]) socket.destroy()
})

test('a connection on which too many are sent one behind the other is closed, and all that were begun are over', async () => {
  await using open = await openRoutes({ inFlightRequests: 4 })
  const peer = sendRaw(open.port, rawHead('GET /later', HOST).repeat(4))
  await until(() => open.begun.length === 4)
  peer.socket.write(rawHead('GET /later', HOST).repeat(1_000))
  await until(() => isClosed(peer))
  await until(() => open.begun.every(({ aborted }) => aborted))
  expect(open.begun).toHaveLength(4)
  peer.socket.destroy()
  await expect.poll(() => open.server.holds().connections).toBe(0)
})

test('in the room of one sender an older connection goes first, and a younger one is told', async () => {
  await using open = await openRoutes({ bodyBytesPerCaller: 40_000 })
  const older = sendRaw(open.port, ASK)
  await until(() => older.text() !== '')
  const younger = sendRaw(open.port, beginBody(500_000, 'x'.repeat(30_000)))
  await until(() => open.server.holds().bodyBytes >= 30_000)
  await ask(older, beginBody(20_000, 'y'.repeat(20_000)))
  expect(older.text()).toContain('body 20000')
  await until(() => younger.text() !== '')
  expect(younger.text()).toMatch(/^HTTP\/1.1 429 [^]*connection: close[^]*too many bytes of yours/i)
  older.socket.write(beginBody(500_000, 'x'.repeat(30_000)))
  await until(() => open.server.holds().bodyBytes >= 30_000)
  const last = sendRaw(open.port, beginBody(20_000, 'y'.repeat(20_000)))
  await until(() => last.text() !== '')
  expect(last.text()).toMatch(/^HTTP\/1.1 429/)
  for (const { socket } of [older, younger, last]) socket.destroy()
})

test('over TLS it is the same: what waits is closed, what had an answer goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'connections-'))
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost']
  execFileSync('openssl', [...request, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  await using open = await openRoutes({ connections: 3 }, { host: '127.0.0.1', port: 0, tls })
  const socket = connectTls({ port: open.port, host: '127.0.0.1', ca: tls.cert, servername: 'localhost' })
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const older: RawPeer = { socket, text: () => text }
  await ask(older)
  const silent: RawPeer[] = []
  for (let at = 0; at < 10; at += 1) {
    const peer = sendRaw(open.port, '')
    await once(peer.socket, 'connect')
    silent.push(peer)
  }
  await expect.poll(() => silent.filter((peer) => !isClosed(peer)).length).toBe(2)
  await ask(older)
  expect(open.server.holds().connections).toBe(3)
  for (const peer of [older, ...silent]) peer.socket.destroy()
  rmSync(folder, { recursive: true })
})

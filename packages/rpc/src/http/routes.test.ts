import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import type { Limits } from '../limits.ts'
import type { Observer } from '../observer.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { rawHead, sendRaw } from '../fixture/raw-request.ts'
import type { HttpReply, HttpRequest, Route } from './route.ts'
import { openHttpServer } from './server.ts'

interface Served extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly failures: readonly unknown[]
}

async function serve(route: Route, limits: Partial<Limits> = {}): Promise<Served> {
  const failures: unknown[] = []
  const observer: Observer = { failed: ({ error }) => void failures.push(error) }
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: { authenticate: () => ({ key: 'me' }), serviceFor: () => openProbe().service },
    stateKey: randomBytes(32),
    routes: [route],
    limits,
    observer,
  })
  return { url: server.url, port: server.port, failures, [Symbol.asyncDispose]: () => server.close(0) }
}

/** Pieces that say when they were ended, and how many were taken. */
class Pieces implements AsyncIterableIterator<Uint8Array> {
  taken = 0
  isEnded = false
  readonly #next: (index: number) => Promise<Uint8Array | undefined>
  constructor(next: (index: number) => Promise<Uint8Array | undefined>) {
    this.#next = next
  }
  [Symbol.asyncIterator](): this {
    return this
  }
  async next(): Promise<IteratorResult<Uint8Array>> {
    const value = await this.#next(this.taken)
    this.taken += 1
    return value === undefined ? { done: true, value } : { done: false, value }
  }
  return(): Promise<IteratorResult<Uint8Array>> {
    this.isEnded = true
    return Promise.resolve({ done: true, value: undefined })
  }
}

const get = (port: number, method = 'GET') => sendRaw(port, rawHead(`${method} /x`, { host: 'localhost' }))
const text = (words: string): Uint8Array => Buffer.from(words)

test('pieces go out as they come, and the connection is used again after the last', async () => {
  const gate = Promise.withResolvers<void>()
  await using open = await serve(() => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: new Pieces(async (index) => {
      if (index === 0) return text('first;')
      await gate.promise
      return index === 1 ? text('second;') : undefined
    }),
  }))
  const peer = get(open.port)
  await until(() => peer.text().includes('first;'))
  expect(peer.text()).not.toContain('second;')
  gate.resolve()
  await until(() => peer.text().endsWith('0\r\n\r\n'))
  expect(peer.text()).toContain('second;')
  peer.socket.write(rawHead('GET /x', { host: 'localhost' }))
  await until(() => peer.text().split('HTTP/1.1 200').length === 3)
  peer.socket.destroy()
})

test('a head goes out before the first piece', async () => {
  const gate = Promise.withResolvers<void>()
  const body = new Pieces(async () => await gate.promise.then(() => undefined))
  await using open = await serve(() => ({ status: 200, body }))
  const peer = get(open.port)
  await until(() => peer.text().includes('HTTP/1.1 200'))
  gate.resolve()
  await until(() => peer.text().endsWith('0\r\n\r\n'))
  peer.socket.destroy()
})

test('a client that does not read stops the pieces; when it reads on, they come', async () => {
  const piece = Buffer.alloc(64 * 1024, 'x')
  const pieces = new Pieces((index) => Promise.resolve(index < 1_000 ? piece : undefined))
  await using open = await serve(() => ({ status: 200, body: pieces }))
  const peer = get(open.port)
  peer.socket.pause()
  // It stands still when the buffers on the way are full: the same number twice, far from the end.
  let before = -1
  await until(() => {
    const isStill = pieces.taken > 0 && pieces.taken === before
    before = pieces.taken
    return isStill
  })
  expect(pieces.taken).toBeLessThan(500)
  peer.socket.resume()
  await until(() => pieces.taken === 1_001)
  peer.socket.destroy()
})

test('a client that takes nothing of its pieces is cut in time, and they are ended', async () => {
  const pieces = new Pieces(() => Promise.resolve(Buffer.alloc(64 * 1024, 'x')))
  await using open = await serve(() => ({ status: 200, body: pieces }), { stalledReaderMs: 100 })
  const peer = get(open.port)
  peer.socket.pause()
  await until(() => pieces.isEnded)
  expect(pieces.taken).toBeLessThan(500)
  expect(open.failures).toEqual([])
  peer.socket.destroy()
})

test('a client that leaves aborts the signal and ends the pieces', async () => {
  let request: HttpRequest | undefined
  const stuck = Promise.withResolvers<Uint8Array | undefined>()
  const pieces = new Pieces((index) => (index === 0 ? Promise.resolve(text('first;')) : stuck.promise))
  await using open = await serve((asked) => {
    request = asked
    asked.signal.addEventListener('abort', () => stuck.resolve(text('late')))
    return { status: 200, body: pieces }
  })
  const peer = get(open.port)
  await until(() => peer.text().includes('first;'))
  expect(request?.signal.aborted).toBe(false)
  peer.socket.destroy()
  await until(() => pieces.isEnded)
  expect(request?.signal.aborted).toBe(true)
  expect(open.failures).toEqual([])
})

test('a client that leaves ends pieces that wait for something else, which does not hear the signal', async () => {
  const pieces = new Pieces((index) => (index === 0 ? Promise.resolve(text('first;')) : new Promise(() => undefined)))
  await using open = await serve(() => ({ status: 200, body: pieces }))
  const peer = get(open.port)
  await until(() => peer.text().includes('first;'))
  peer.socket.destroy()
  await until(() => pieces.isEnded)
})

test('a client that left before there was an answer ends the pieces unread', async () => {
  const gate = Promise.withResolvers<void>()
  const pieces = new Pieces(() => Promise.resolve(text('x')))
  let request: HttpRequest | undefined
  await using open = await serve(async (asked): Promise<HttpReply> => {
    request = asked
    await gate.promise
    return { status: 200, body: pieces }
  })
  const peer = get(open.port)
  await until(() => request !== undefined)
  peer.socket.destroy()
  await until(() => request?.signal.aborted === true)
  gate.resolve()
  await until(() => pieces.isEnded)
  expect(pieces.taken).toBe(0)
})

test('pieces that throw cut the connection, so that a part is not taken for the whole', async () => {
  const gate = Promise.withResolvers<undefined>()
  const pieces = new Pieces((index) => (index === 0 ? Promise.resolve(text('first;')) : gate.promise))
  await using open = await serve(() => ({ status: 200, body: pieces }))
  const peer = get(open.port)
  await until(() => peer.text().includes('first;'))
  gate.reject(new Error('broken'))
  await once(peer.socket, 'end')
  expect(peer.text()).toContain('first;')
  expect(peer.text().endsWith('0\r\n\r\n')).toBe(false)
  expect(open.failures).toMatchObject([{ message: 'broken' }])
})

test('the signal for cutting cuts at once, also while nothing comes, and also when it fired before', async () => {
  const early = new AbortController()
  early.abort()
  for (const cut of [new AbortController(), early]) {
    const pieces = new Pieces((index) => (index === 0 ? Promise.resolve(text('first;')) : new Promise(() => undefined)))
    const isLate = cut.signal.aborted
    await using open = await serve(() => ({ status: 200, body: pieces, cut: cut.signal }))
    const peer = get(open.port)
    if (!isLate) await until(() => peer.text().includes('first;'))
    const ended = once(peer.socket, 'end')
    cut.abort()
    await ended
    await until(() => pieces.isEnded)
    expect(peer.text().endsWith('0\r\n\r\n')).toBe(false)
    expect(open.failures).toEqual([])
  }
})

test('HEAD has the head alone, and the pieces are ended unread', async () => {
  const pieces = new Pieces(() => Promise.resolve(text('x')))
  await using open = await serve(() => ({ status: 200, headers: { 'x-a': 'b' }, body: pieces }))
  const peer = get(open.port, 'HEAD')
  await until(() => peer.text().includes('\r\n\r\n'))
  expect(peer.text()).toMatch(/^HTTP\/1.1 200/)
  await until(() => pieces.isEnded)
  expect(pieces.taken).toBe(0)
  expect(peer.text().endsWith('\r\n\r\n')).toBe(true)
  peer.socket.destroy()
})

test('shutting down ends a stream under way', async () => {
  const pieces = new Pieces((index) => (index === 0 ? Promise.resolve(text('first;')) : new Promise(() => undefined)))
  let request: HttpRequest | undefined
  const open = await serve((asked) => {
    request = asked
    return { status: 200, body: pieces }
  })
  const peer = get(open.port)
  await until(() => peer.text().includes('first;'))
  await open[Symbol.asyncDispose]()
  await until(() => pieces.isEnded && request?.signal.aborted === true)
})

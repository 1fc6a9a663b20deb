import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { type HttpCall, type HttpFetcher, openHttpFetcher, readEventBatches, readText } from './http-fetcher.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => void
interface Setting extends AsyncDisposable {
  readonly caller: HttpFetcher
  readonly url: string
  readonly connections: () => number
  readonly closed: () => Promise<void>
  readonly call: (more?: Partial<HttpCall>) => ReturnType<HttpFetcher['call']>
}

/** A real server that answers as told, and a caller. */
async function open(serve: Serve, connections = 10): Promise<Setting> {
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer(serve)
  server.on('connection', (socket) => {
    count += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  const caller = openHttpFetcher({ connectMs: 5_000, connections })
  return {
    caller,
    url,
    connections: () => count,
    closed: async () => void (await Promise.all([...sockets].map((socket) => once(socket, 'close')))),
    call: (more = {}) => caller.call({ method: 'POST', url, headers: {}, headersMs: 60_000, idleMs: 60_000, ...more }),
    async [Symbol.asyncDispose]() {
      await caller.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  )
}

test('a request carries method, headers and body; the answer has status, headers and body, also when refused', async () => {
  await using setting = await open((request, response) => {
    void (async () => {
      const body = await readText(request, 1_000)
      response.writeHead(418, { 'x-a': 'b' }).end(`${request.method ?? ''} ${String(request.headers['x-c'])} ${body}`)
    })()
  })
  const answer = await setting.call({ headers: { 'x-c': 'd' }, body: 'grüße' })
  expect([answer.status, answer.headers['x-a'], await readText(answer.body, 100)]).toEqual([418, 'b', 'POST d grüße'])
})

test('connections are used again, one after the other', async () => {
  await using setting = await open((_request, response) => response.end('ok'), 1)
  for (let round = 0; round < 5; round++) await readText((await setting.call()).body, 10)
  expect(setting.connections()).toBe(1)
})

test('redirects are not followed: what the request carries stays with whom it was meant for', async () => {
  let asked = 0
  await using setting = await open((_request, response) => {
    asked += 1
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  const answer = await setting.call({ headers: { authorization: 'Bearer secret' } })
  expect([answer.status, await readText(answer.body, 10), asked]).toEqual([307, '', 1])
})

test('unreachable: nobody listens, or nobody has that name', async () => {
  const setting = await open(() => undefined)
  await setting[Symbol.asyncDispose]()
  const caller = openHttpFetcher({ connectMs: 5_000, connections: 1 })
  const call = { method: 'GET', headers: {}, headersMs: 1_000, idleMs: 1_000 } as const
  expect(await failureOf(caller.call({ ...call, url: setting.url }))).toBe('unreachable')
  expect(await failureOf(caller.call({ ...call, url: 'http://nobody.invalid/' }))).toBe('unreachable')
  await caller.close()
})

test('silent: no head in time, or no more of the body', async () => {
  await using setting = await open((request, response) => {
    if (request.url === '/head') return
    response.writeHead(200)
    response.write('half')
  })
  expect(await failureOf(setting.call({ url: `${setting.url}head`, headersMs: 50 }))).toBe('silent')
  const { body } = await setting.call({ idleMs: 50 })
  expect(await failureOf(readText(body, 100))).toBe('silent')
  await setting.closed()
})

test('cut: before the head, in the middle of a body, and short of what was announced', async () => {
  await using setting = await open((request, response) => {
    if (request.url === '/head') return void response.destroy()
    if (request.url === '/short') response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  expect(await failureOf(setting.call({ url: `${setting.url}head` }))).toBe('cut')
  for (const path of ['', 'short']) {
    const { body } = await setting.call({ url: `${setting.url}${path}` })
    expect(await failureOf(readText(body, 100))).toBe('cut')
  }
})

test('aborted: before, while nobody answers, in the middle of a body, and while waiting for a connection', async () => {
  const arrived = Promise.withResolvers<void>()
  await using setting = await open((request, response) => {
    if (request.url === '/silent') return arrived.resolve()
    response.writeHead(200)
    response.write('half')
  }, 1)
  expect(await failureOf(setting.call({ signal: AbortSignal.abort() }))).toBe('aborted')

  const [silent, waiting, reading] = [new AbortController(), new AbortController(), new AbortController()]
  const unanswered = failureOf(setting.call({ url: `${setting.url}silent`, signal: silent.signal }))
  await arrived.promise
  const queued = failureOf(setting.call({ signal: waiting.signal }))
  waiting.abort()
  expect(await queued).toBe('aborted')
  silent.abort()
  expect(await unanswered).toBe('aborted')

  const { body } = await setting.call({ signal: reading.signal })
  const read = failureOf(readText(body, 100))
  reading.abort()
  expect(await read).toBe('aborted')
  await setting.closed()
})

test('a body that is not read to its end is given up with its connection, and the next request has another', async () => {
  await using setting = await open((_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(1_000)), 1)
    response.on('close', () => clearInterval(timer))
  }, 1)
  for (let round = 0; round < 3; round++) {
    const { body } = await setting.call()
    for await (const piece of body) if (piece.length > 0) break
  }
  expect(setting.connections()).toBe(3)
  const { body } = await setting.call()
  expect(await failureOf(readText(body, 2_000))).toBe('too_large')
})

test('closing ends what is under way', async () => {
  const arrived = Promise.withResolvers<void>()
  await using setting = await open((request, response) => {
    if (request.url === '/silent') return arrived.resolve()
    response.writeHead(200)
    response.write('half')
  })
  const { body } = await setting.call()
  const read = failureOf(readText(body, 100))
  const unanswered = failureOf(setting.call({ url: `${setting.url}silent` }))
  await arrived.promise
  await setting.caller.close()
  expect([await read, await unanswered]).toEqual(['cut', 'cut'])
})

async function* bodyOf(...pieces: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(Buffer.from(piece))
}

test('events of a body come as they came together, the last one also without its empty line', async () => {
  const events: string[][] = []
  for await (const batch of readEventBatches(bodyOf('data: a\n\nda', 'ta: b\n\ndata: c'), 100))
    events.push(batch.map(({ data }) => data))
  expect(events).toEqual([['a'], ['b'], ['c']])
  expect(await failureOf(readEventBatches(bodyOf(`data: ${'x'.repeat(200)}\n\n`), 100).next())).toBe('too_large')
})

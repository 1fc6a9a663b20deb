import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { on, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { type Socket, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { openHttpFetcher } from '@parley/fetch'
import { type HttpRequest, type Limits, type Route, openHttpServer } from '@parley/rpc'
import { expect, test } from 'vitest'
import { openModelDoor } from './model-door.ts'

const MIB = 1024 * 1024
const BODIES_BYTES = 64 * MIB
const DOOR_MAIN = fileURLToPath(new URL('./fixture/model-door-main.ts', import.meta.url))

/** What stands for the gateway: it says how long a body was, and whose key came with it. */
const echo: Route = async (asked) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ bytes: (await asked.body(32 * MIB, { key: 'door' })).length, key: asked.headers.authorization }),
})

async function openGateway(route: Route) {
  const refuse = (): never => {
    throw new Error('no MCP here')
  }
  return await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: { authenticate: refuse, serviceFor: refuse },
    routes: [route],
    stateKey: randomBytes(32),
    limits: { bodyBytesPerCaller: 256 * MIB },
  })
}

async function openDoor(route: Route, limits: Partial<Limits> = {}) {
  await using made = new AsyncDisposableStack()
  const gateway = await openGateway(route)
  made.defer(() => gateway.close(0))
  const folder = mkdtempSync(join(tmpdir(), 'door-'))
  made.defer(() => rmSync(folder, { recursive: true }))
  const http = openHttpFetcher({ connectMs: 5_000, connections: 8 })
  made.defer(() => http.close())
  const socketPath = join(folder, 's')
  const target = () => ({ baseUrl: `${gateway.url}/v1`, apiKey: 'key' })
  const door = await openModelDoor({ socketPath, target, http, limits })
  made.defer(() => door.close())
  const opened = made.move()
  return { door, socketPath, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** An engine as they are: it keeps its connections and uses them again. */
class Engine implements Disposable {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #socketPath: string
  readonly sockets = new Set<Socket>()

  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  async send(bytes: number): Promise<IncomingMessage> {
    const headers = { 'content-type': 'application/json', 'content-length': bytes }
    const place = { socketPath: this.#socketPath, path: '/v1/responses' }
    const sent = request({ ...place, method: 'POST', headers, agent: this.#agent })
    sent.on('socket', (socket) => this.sockets.add(socket))
    // Who was answered before the whole body went out may find the rest refused.
    sent.on('error', () => undefined)
    sent.end(Buffer.alloc(bytes, 'x'))
    const [answer] = await once(sent, 'response')
    return answer
  }

  async post(bytes: number): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: unknown }> {
    const answer = await this.send(bytes)
    return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(await text(answer)) }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}

const head = (line: string, more = ''): string => `${line} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`
const BEGUN_BODY = head('POST /v1/responses', `content-type: application/json\r\ncontent-length: ${32 * MIB}\r\n`)

/** A program in the box that opens connections and leaves each of them unfinished in its own way; closed ones are opened again. */
class Flood implements Disposable {
  readonly #socketPath: string
  readonly #open = new Set<Socket>()
  #opened = 0
  #isOver = false

  constructor(socketPath: string, count: number) {
    this.#socketPath = socketPath
    for (let at = 0; at < count; at += 1) this.#begin()
  }

  /** How many were opened, again and again. */
  get opened(): number {
    return this.#opened
  }

  #begin(): void {
    if (this.#isOver) return
    const socket = connect(this.#socketPath)
    this.#open.add(socket)
    this.#opened += 1
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#open.delete(socket)
      setImmediate(() => this.#begin())
    })
    socket.resume()
    const kind = this.#opened % 4
    if (kind === 1) socket.write('POST /v1/resp')
    if (kind === 2) socket.write(BEGUN_BODY)
    if (kind === 3) socket.write(Buffer.concat([Buffer.from(BEGUN_BODY), Buffer.alloc(3 * MIB, 'x')]))
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    for (const socket of this.#open) socket.destroy()
  }
}

test('a body as large as the gateway takes it passes, with the key that is not in the box', async () => {
  await using open = await openDoor(echo)
  using engine = new Engine(open.socketPath)
  expect((await engine.post(32 * MIB)).body).toEqual({ bytes: 32 * MIB, key: 'Bearer key' })
  await expect
    .poll(() => open.door.holds())
    .toEqual({ connections: 1, bodyBytes: 0, replayBytes: 0, unreadBytes: 0, requests: 0 })
})

test('beside a flood of unfinished connections an engine that was there before goes on, on the same connection', async () => {
  await using open = await openDoor(echo)
  using engine = new Engine(open.socketPath)
  expect((await engine.post(1_000)).status).toBe(200)
  using flood = new Flood(open.socketPath, 200)
  for (let at = 0; at < 4; at += 1) {
    const before = flood.opened
    await expect.poll(() => flood.opened).toBeGreaterThan(before)
    expect(await engine.post(4 * MIB)).toMatchObject({ status: 200, body: { bytes: 4 * MIB } })
    const { connections, bodyBytes } = open.door.holds()
    expect(connections).toBeLessThanOrEqual(64)
    expect(bodyBytes).toBeLessThanOrEqual(BODIES_BYTES)
  }
  expect(engine.sockets.size).toBe(1)
})

test('who comes while a flood goes on gets in, at the latest when what was there before has had its time', async () => {
  await using open = await openDoor(echo, { requestTimeoutMs: 1_000 })
  using flood = new Flood(open.socketPath, 200)
  await expect.poll(() => flood.opened).toBeGreaterThan(400)
  using engine = new Engine(open.socketPath)
  const seen: (number | undefined)[] = []
  // As engines do, it asks again when it is told that too much is under way.
  const ask = async (): Promise<number | undefined> => {
    const status = await engine.post(4 * MIB).then(
      (answer) => answer.status,
      () => undefined,
    )
    seen.push(status)
    return status
  }
  await expect.poll(ask, { timeout: 60_000 }).toBe(200)
  expect(new Set(seen).difference(new Set([200, 503, undefined])).size).toBe(0)
})

test('four requests are passed on at once; a fifth is told in the shape of OpenAI, and its connection stays', async () => {
  const gate = Promise.withResolvers<void>()
  const asked: HttpRequest[] = []
  await using open = await openDoor(async (one) => {
    asked.push(one)
    await gate.promise
    return { status: 200, body: '{}' }
  })
  using engine = new Engine(open.socketPath)
  const first = [1, 2, 3, 4].map(() => engine.post(1_000))
  await expect.poll(() => asked.length).toBe(4)
  using other = new Engine(open.socketPath)
  const { status, headers, body } = await other.post(1_000)
  expect([status, headers['retry-after']]).toEqual([503, '2'])
  const message = 'more than 4 requests are under way; try again shortly'
  expect(body).toEqual({ error: { message, type: 'server_error', code: 'overloaded', param: null } })
  expect(open.door.holds()).toMatchObject({ connections: 5, requests: 4 })
  gate.resolve()
  expect((await Promise.all(first)).map((answer) => answer.status)).toEqual([200, 200, 200, 200])
  await expect.poll(() => open.door.holds().requests).toBe(0)
  expect((await other.post(1_000)).status).toBe(200)
  expect(other.sockets.size).toBe(1)
})

test('an answer comes as fast as it is read; a reader that takes nothing is cut, and the gateway with it', async () => {
  let sent = 0
  const ended = Promise.withResolvers<void>()
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        sent += MIB
        yield Buffer.alloc(MIB, 'x')
      }
    } finally {
      ended.resolve()
    }
  }
  await using open = await openDoor(() => ({ status: 200, body: endless() }), { stalledReaderMs: 500 })
  using engine = new Engine(open.socketPath)
  const answer = await engine.send(10)
  answer.on('error', () => undefined)
  await ended.promise
  // All that fits into the buffers on the way, of this process, the other one and the system.
  expect(sent).toBeLessThan(32 * MIB)
  await expect.poll(() => open.door.holds()).toMatchObject({ connections: 0, requests: 0 })
})

test('whatever a box sends, the process that serves its door stays small', { timeout: 240_000 }, async () => {
  const gateway = await openGateway(() => new Promise<never>(() => undefined))
  const folder = mkdtempSync(join(tmpdir(), 'door-'))
  const socketPath = join(folder, 's')
  const child = spawn(process.execPath, [DOOR_MAIN, socketPath, `${gateway.url}/v1`], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const lines = on(createInterface({ input: child.stdout }), 'line')
  const told = async () => JSON.parse(String((await lines.next()).value?.[0]))
  const small = await told()
  const looked = async () => {
    child.stdin.write('\n')
    return await told()
  }
  {
    using flood = new Flood(socketPath, 400)
    const peers: Socket[] = []
    for (let round = 0; round < 20; round += 1) {
      const peer = connect(socketPath)
      peer.on('error', () => undefined)
      peer.write(head('GET /v1/models').repeat(20_000))
      peers.push(peer)
      const before = flood.opened
      await expect.poll(() => flood.opened).toBeGreaterThan(before)
    }
    await expect.poll(() => peers.filter((peer) => !peer.destroyed).length).toBe(0)
    const { connections, bodyBytes, requests, rssBytes } = await looked()
    console.info(`a flood of ${flood.opened} connections: ${small.rssBytes >> 20} MiB before, ${rssBytes >> 20} MiB beside it`)
    expect(connections).toBeLessThanOrEqual(64)
    expect(bodyBytes).toBeLessThanOrEqual(BODIES_BYTES)
    expect(requests).toBeLessThanOrEqual(4)
    // What it may hold, and several times as much for copies and garbage that is not collected yet.
    expect(rssBytes - small.rssBytes).toBeLessThan(6 * BODIES_BYTES)
  }
  await expect.poll(looked).toMatchObject({ connections: 0, bodyBytes: 0, requests: 0 })
  child.stdin.end()
  await exited
  await gateway.close(0)
  rmSync(folder, { recursive: true })
})

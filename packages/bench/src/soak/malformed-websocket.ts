import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { OwnGateway } from '../own/open-gateway.ts'
import { HANG_MS } from './http-post.ts'
import type { MalformedRun } from './malformed-http.ts'
import type { Malformed } from './malformed-message.ts'
import { malformedMessage, randomOf } from './malformed-message.ts'
import { LEGACY } from './modern-call.ts'

const CONNECTIONS = 16
const HALF_EVERY = 100
const BINARY_SHARE = 0.01
/** Probes have ids that no malformed message uses. */
const PROBE = 'probe-'

/** Malformed messages on WebSockets. After each a good request must be answered, on the same socket or, if that was closed, on a new one. */
export async function malformedWebsocket(gateway: OwnGateway, run: MalformedRun): Promise<void> {
  let sent = 0
  const worker = async (): Promise<void> => {
    let client = await Client.open(gateway)
    while (sent < run.messages) {
      sent += 1
      const number = sent
      run.tally.count('websocket sent')
      if (number % HALF_EVERY === 0) await halfFrame(gateway, number, run)
      else await one(client, malformedMessage(run.seed, number), run)
      if (client.closedWith !== undefined) client = await Client.open(gateway)
    }
    client.end()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
}

async function one(client: Client, malformed: Malformed, { tally, seed }: MalformedRun): Promise<void> {
  const asBinary = randomOf(seed, -malformed.id).next() < BINARY_SHARE
  const answers = await client.exchange(
    malformed.bytes,
    `${PROBE}${malformed.id}`,
    asBinary,
    malformed.fate === 'served' ? malformed.id : undefined,
  )
  const what = `websocket, ${malformed.kind}: ${malformed.bytes.subarray(0, 120).toString('latin1')} -> `
  if (answers === undefined) return tally.problem(`${what}no answer to the probe`)
  if (client.closedWith !== undefined) {
    tally.count(`websocket closed ${client.closedWith}`)
    // 1002, 1003, 1007 and 1009 are what RFC 6455 has for broken, binary, non-UTF-8 and too large.
    return tally.expect([1002, 1003, 1007, 1009].includes(client.closedWith), `${what}closed with ${client.closedWith}`)
  }
  const errors = answers.filter((text) => text.includes('"error"') || text.includes('"isError":true'))
  if (errors.length > 0) tally.count('websocket answered with an error')
  const needsError = malformed.fate === 'unparsable' || malformed.fate === 'refused' || malformed.fate === 'served'
  return tally.expect(!needsError || errors.length > 0, `${what}${answers.join(' ').slice(0, 200)}`)
}

class Client {
  readonly #socket: WebSocket
  #received: string[] = []
  #wake: () => void = () => undefined
  closedWith: number | undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => {
      this.#received.push(data.toString('utf8'))
      this.#wake()
    })
    socket.on('close', (code) => {
      this.closedWith = code
      this.#wake()
    })
    socket.on('error', () => undefined)
  }

  static async open(gateway: OwnGateway): Promise<Client> {
    const socket = new WebSocket(gateway.ws, { headers: { Authorization: `Bearer ${gateway.token}` } })
    await once(socket, 'open')
    const client = new Client(socket)
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'soak', version: '1' } }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'open', method: 'initialize', params }))
    if (!(await client.#until((text) => text.includes('"open"')))) throw new Error('initialize was not answered')
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    return client
  }

  /** Everything that came up to the answer of the probe (and of `id`), or undefined when that never came. */
  async exchange(bytes: Buffer, probe: string, binary: boolean, id: number | undefined): Promise<readonly string[] | undefined> {
    this.#received = []
    this.#socket.send(bytes, { binary })
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: probe, method: 'ping' }))
    const answered = await this.#until((text) => text.includes(`"${probe}"`))
    const own =
      !answered ||
      id === undefined ||
      binary ||
      (await this.#until((text) => text.includes(`"id":${id}`) || text.includes('"id":null') || !text.includes('"id"')))
    return answered && own ? this.#received.filter((text) => !text.includes(`"${probe}"`)) : undefined
  }

  end(): void {
    this.#socket.terminate()
  }

  async #until(found: (text: string) => boolean): Promise<boolean> {
    const late = AbortSignal.timeout(HANG_MS)
    while (!this.#received.some(found)) {
      if (this.closedWith !== undefined) return true
      if (late.aborted) return false
      await new Promise<void>((done) => {
        this.#wake = done
        late.addEventListener('abort', () => done(), { once: true })
      })
    }
    return true
  }
}

const FRAMES: readonly (readonly number[])[] = [
  // A text frame that promises 100 bytes and brings 2; the first of several frames that never end; without a mask; with reserved
  // bits; an opcode that does not exist; two to the power of 40 bytes; a ping that is too long; a close with a broken code.
  [0x81, 0xe4, 1, 2, 3, 4, 5, 6],
  [0x01, 0x82, 0, 0, 0, 0, 0x7b, 0x7d],
  [0x81, 0x02, 0x7b, 0x7d],
  [0xf1, 0x82, 0, 0, 0, 0, 0x7b, 0x7d],
  [0x8f, 0x80, 0, 0, 0, 0],
  [0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [0x89, 0xfe, 0, 200, 0, 0, 0, 0],
  [0x88, 0x82, 0, 0, 0, 0, 0, 1],
]

async function halfFrame(gateway: OwnGateway, number: number, { seed, tally }: MalformedRun): Promise<void> {
  const random = randomOf(seed, number)
  tally.count('websocket half frames')
  const url = new URL(gateway.ws)
  const socket = connect({ host: url.hostname, port: Number(url.port) })
  const over = new Promise<void>((done) => {
    socket.on('close', () => done())
    socket.on('error', () => undefined)
  })
  const upgraded = new Promise<void>((done) => void socket.once('data', () => done()))
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nAuthorization: Bearer ${gateway.token}\r\n\r\n`,
  )
  await Promise.race([upgraded, over])
  socket.write(Buffer.from(random.pick(FRAMES)))
  await Promise.race([over, wait(random.between(0, 10), undefined, { ref: false })])
  socket.destroy()
  const closed = await Promise.race([over.then(() => true), wait(HANG_MS, false, { ref: false })])
  tally.expect(closed, 'websocket: a socket did not close')
}

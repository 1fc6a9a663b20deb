import { type RawData, WebSocket } from 'ws'
import type { ClientLimits } from '../client-limits.ts'
import type { ClientTransport, Sink, ClientLink } from './client-link.ts'
import { gatherWrites } from './gathered-writes.ts'
import { openedSocket } from './opened-socket.ts'

export interface WebSocketTransportOptions {
  readonly url: string | URL
  readonly token?: string
  /** How the token is shown: in `Authorization`, or as a subprotocol like browsers do. Default `header`. */
  readonly tokenIn?: 'header' | 'subprotocol'
  readonly headers?: Readonly<Record<string, string>>
  /** Dials this socket file instead of the URL's host. */
  readonly socketPath?: string
}

/** One JSON-RPC message per text frame. */
export function webSocketTransport(options: WebSocketTransportOptions): ClientTransport {
  return { kind: 'websocket', open: (sink, limits) => dial(options, sink, limits) }
}

function dial(
  { url, token, tokenIn = 'header', headers, socketPath }: WebSocketTransportOptions,
  sink: Sink,
  limits: ClientLimits,
): Promise<ClientLink> {
  const asProtocol = token !== undefined && tokenIn === 'subprotocol'
  const authorization = token === undefined || asProtocol ? {} : { authorization: `Bearer ${token}` }
  const socket = new WebSocket(
    socketPath === undefined ? url : socketUrl(socketPath, url),
    asProtocol ? ['mcp', `bearer.${token}`] : ['mcp'],
    {
      headers: { ...headers, ...authorization },
      maxPayload: limits.messageBytes,
      perMessageDeflate: false,
      handshakeTimeout: limits.requestTimeoutMs,
    },
  )
  const at = { name: 'the server', url: socketPath === undefined ? new URL(url) : undefined }
  return openedSocket(socket, at, () => new WebSocketLink(socket, sink, limits))
}

/** How the library names a path behind a socket file. */
function socketUrl(socketPath: string, url: string | URL): string {
  const { pathname, search } = new URL(url)
  return `ws+unix:${socketPath}:${pathname}${search}`
}

class WebSocketLink implements ClientLink {
  readonly kind = 'websocket'
  readonly #socket: WebSocket
  readonly #closeMs: number
  readonly #keepAlive: NodeJS.Timeout
  #error: Error | undefined
  #heard = true

  constructor(socket: WebSocket, sink: Sink, limits: ClientLimits) {
    this.#socket = socket
    this.#closeMs = limits.closeMs
    this.#keepAlive = setInterval(() => this.#checkAlive(), limits.keepAliveMs)
    this.#keepAlive.unref()
    socket.on('pong', () => {
      this.#heard = true
    })
    socket.on('message', (data: RawData, isBinary: boolean) => {
      this.#heard = true
      if (isBinary) socket.close(1003, 'text frames only')
      else sink.receive(frameText(data))
    })
    socket.on('error', (error) => {
      this.#error = error
    })
    socket.on('close', (code, reason) => {
      clearInterval(this.#keepAlive)
      const said = reason.toString('utf8')
      sink.ended({ code, reason: said === '' ? (this.#error?.message ?? `closed with code ${code}`) : said })
    })
  }

  send(text: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    gatherWrites(this.#socket)
    this.#socket.send(text)
  }
  bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  /** A machine that went away does not close its socket. That it answers no ping is the only sign of it. */
  #checkAlive(): void {
    if (!this.#heard) {
      this.#error ??= new Error('the server does not answer pings')
      return this.#socket.terminate()
    }
    this.#heard = false
    this.#socket.ping()
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.readyState === WebSocket.CLOSED) return resolve()
      const timer = setTimeout(() => this.#socket.terminate(), this.#closeMs)
      this.#socket.once('close', () => {
        clearTimeout(timer)
        resolve()
      })
      this.#socket.close(1000, 'done')
    })
  }
}

/** What a frame says, in whichever form it came. */
export const frameText = (data: RawData): string => bytesOf(data).toString('utf8')

export function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}

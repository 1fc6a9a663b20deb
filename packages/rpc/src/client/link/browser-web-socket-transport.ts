import { WireError } from '@parley/fetch/browser'
import type { ClientTransport, Sink, ClientLink } from './client-link.ts'

export interface BrowserWebSocketOptions {
  readonly url: string | URL
  /** Offered as the subprotocol `bearer.TOKEN`: a browser cannot set headers on a WebSocket. */
  readonly token?: string
}

/** The browser's own WebSocket, one JSON-RPC message per text frame. */
export function browserWebSocketTransport({ url, token }: BrowserWebSocketOptions): ClientTransport {
  return {
    kind: 'websocket',
    open: (sink) => {
      const socket = new WebSocket(url, token === undefined ? ['mcp'] : ['mcp', `bearer.${token}`])
      return new Promise((resolve, reject) => {
        socket.addEventListener('open', () => resolve(new BrowserLink(socket, sink)), { once: true })
        socket.addEventListener(
          'close',
          (event) => reject(new WireError('unreachable', `the WebSocket did not open (${event.code} ${event.reason})`)),
          { once: true },
        )
      })
    },
  }
}

class BrowserLink implements ClientLink {
  readonly kind = 'websocket'
  readonly #socket: WebSocket

  constructor(socket: WebSocket, sink: Sink) {
    this.#socket = socket
    socket.addEventListener('message', (event: MessageEvent<unknown>) => {
      if (typeof event.data === 'string') sink.receive(event.data)
      else socket.close(4003, 'text frames only')
    })
    socket.addEventListener('close', ({ code, reason }) =>
      sink.ended({ code, reason: reason === '' ? `closed with code ${code}` : reason }),
    )
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text)
  }
  bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  close(): Promise<void> {
    this.#socket.close(1000, 'done')
    return Promise.resolve()
  }
}

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import type { BodyShare } from '../limit/body-room.ts'
import { type LinkOutlet, LinkServer } from '../core/link-server.ts'
import type { ServedWire } from '../core/served-wire.ts'
import { gatherWrites } from '../client/link/gathered-writes.ts'
import { frameText } from '../client/link/web-socket-transport.ts'
import { SHUTDOWN_REASON } from '../door.ts'
import { SMALL_ANSWER_CHARS } from '../limit/unread-room.ts'
import type { Caller } from '../service.ts'
import { closeReason } from './close-reason.ts'
import { ControlFrames } from './control-frames.ts'
import { Inbox } from './inbox.ts'

/** Close codes of RFC 6455 and its registry that we use. */
const CLOSE = { normal: 1000, unsupportedData: 1003, policy: 1008, restart: 1012 } as const
const SUBPROTOCOL = 'mcp'

/** MCP over WebSocket: one JSON-RPC message per text frame, rules of stdio. */
export class WebSocketEndpoint<C extends Caller> {
  readonly #served: ServedWire<C>
  readonly #server: WebSocketServer
  readonly #sockets = new Map<WebSocket, SocketState<C>>()

  constructor(served: ServedWire<C>) {
    this.#served = served
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      // Done by hand below: by itself `ws` would queue a pong for every ping of a peer that never reads.
      autoPong: false,
      maxPayload: served.limits.messageBytes,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    })
  }

  get size(): number {
    return this.#sockets.size
  }

  /** Takes an authenticated upgrade request over. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, admitted: Admitted<C>): void {
    this.#server.handleUpgrade(request, socket, head, (accepted) => {
      const inbox = this.#opened(accepted, admitted)
      // Ahead of `ws`: what has come counts before it is known what it is, for a message may never end.
      socket.prependListener('data', (chunk: Buffer) => inbox.arrived(chunk.length))
    })
  }

  sweep(): void {
    const { stalledReaderMs, requestTimeoutMs } = this.#served.limits
    for (const [socket, state] of this.#sockets) {
      const stalled = state.outlet.fullSince !== undefined && performance.now() - state.outlet.fullSince > stalledReaderMs
      if (stalled || state.inbox.isLate(requestTimeoutMs) || state.unansweredPings >= MAX_UNANSWERED_PINGS) socket.terminate()
      else {
        state.unansweredPings += 1
        socket.ping()
      }
    }
  }

  endAll(reason: string): void {
    for (const state of this.#sockets.values()) state.server.end(reason)
  }

  /** What a close handshake did not end in time. */
  terminateAll(): void {
    for (const socket of this.#sockets.keys()) socket.terminate()
  }

  #opened(socket: WebSocket, { caller, again }: Admitted<C>): Inbox<C> {
    const outlet = new SocketOutlet(socket, this.#served.limits.streamBufferBytes, this.#served.unread.ofCaller(caller))
    const server = new LinkServer<C>({ served: this.#served, caller, outlet })
    const inbox = new Inbox<C>({
      served: this.#served,
      caller,
      again,
      mayGoOn: (known) => server.serves(known),
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      end: (reason) => server.end(reason),
    })
    const state: SocketState<C> = { outlet, server, inbox, unansweredPings: 0 }
    this.#sockets.set(socket, state)
    socket.on('message', (data, isBinary) => {
      state.unansweredPings = 0
      inbox.wasMessage()
      if (!isBinary) {
        const text = frameText(data)
        return inbox.receive({ bytes: text.length, asksDoor: true, serve: () => server.receive(text) })
      }
      socket.close(CLOSE.unsupportedData, 'messages are text frames')
      return server.closed('a binary frame came')
    })
    const control = new ControlFrames(caller, inbox, (data) => pong(socket, outlet, data))
    socket.on('ping', (data) => control.ping(data))
    socket.on('pong', (data) => {
      state.unansweredPings = 0
      control.pong(data)
    })
    // `ws` answers a broken frame with the right close code by itself; without a listener the error would end the process.
    socket.on('error', () => undefined)
    socket.on('close', (code) => {
      this.#sockets.delete(socket)
      outlet.gone()
      inbox.close()
      server.closed(`the socket was closed (${code})`)
    })
    return inbox
  }
}
const MAX_UNANSWERED_PINGS = 2

/** Somebody whom the door let in, and how to ask it again. */
interface Admitted<C extends Caller> {
  readonly caller: C
  readonly again: () => C | Promise<C>
}

/** A peer that pings and never reads is cut: its pongs may not pile up. */
function pong(socket: WebSocket, outlet: SocketOutlet, data: Buffer): void {
  if (outlet.full) socket.terminate()
  else if (socket.readyState === WebSocket.OPEN) socket.pong(data)
}

interface SocketState<C extends Caller> {
  readonly outlet: SocketOutlet
  readonly server: LinkServer<C>
  readonly inbox: Inbox<C>
  unansweredPings: number
}

class SocketOutlet implements LinkOutlet {
  readonly #socket: WebSocket
  readonly #bufferBytes: number
  readonly #unread: BodyShare
  readonly #waiters: (() => void)[] = []
  #isOutOfRoom = false
  #isUnheard = false
  fullSince: number | undefined

  constructor(socket: WebSocket, bufferBytes: number, unread: BodyShare) {
    this.#socket = socket
    this.#bufferBytes = bufferBytes
    this.#unread = unread
  }

  /** Of one whose person has no room left, only while something waits: then it is known when that has gone out. */
  get full(): boolean {
    const { bufferedAmount } = this.#socket
    return bufferedAmount > this.#bufferBytes || (this.#isOutOfRoom && bufferedAmount > 0)
  }

  /** It may be large, and nobody asked the reader whether it keeps up: without room for it the socket is closed. */
  answer(text: string): boolean {
    const isLarge = text.length > SMALL_ANSWER_CHARS
    const isTaken = !(isLarge && this.#unread.hold(this.#socket.bufferedAmount + text.length) !== undefined) && this.send(text)
    this.#isUnheard = !isTaken && this.#socket.bufferedAmount > 0
    return isTaken
  }

  send(text: string): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return false
    if (this.full) {
      this.fullSince ??= performance.now()
      return false
    }
    gatherWrites(this.#socket)
    this.#socket.send(text, this.#sent)
    this.#count()
    return true
  }

  drained(): Promise<void> {
    const { readyState } = this.#socket
    // While it is closing nothing can be sent, and `release` comes with its end.
    if (readyState === WebSocket.CLOSED || (readyState === WebSocket.OPEN && !this.full)) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  close(reason: string): void {
    // Behind what it does not read it would not find the words, and what waits would stay until it answers them.
    if (this.full || this.#isUnheard) return this.#socket.terminate()
    const code = reason === SHUTDOWN_REASON ? CLOSE.restart : CLOSE.policy
    this.#socket.close(reason === '' ? CLOSE.normal : code, closeReason(reason))
  }

  release(): void {
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  gone(): void {
    this.#unread.release()
    this.release()
  }

  #count(): void {
    this.#isOutOfRoom = this.#unread.hold(this.#socket.bufferedAmount) !== undefined
  }

  readonly #sent = (): void => {
    this.fullSince = undefined
    if (this.#socket.readyState !== WebSocket.CLOSED) this.#count()
    if (this.#waiters.length > 0 && !this.full) this.release()
  }
}

import { WebSocket } from 'ws'
import { gatherWrites } from '../client/link/gathered-writes.ts'
import { bytesOf } from '../client/link/web-socket-transport.ts'
import { closeReason } from '../websocket/close-reason.ts'
import type { FrameLimits, FrameLink, FrameSink } from './frame-link.ts'
import { PieceJoiner, piecesOf, piecesOfBytes, wholePiece } from './pieces.ts'

/** Close codes of RFC 6455 that we use. */
const CLOSE = { normal: 1000, policy: 1008 } as const
const BINARY = { binary: true } as const
/** How long the other side may take to close after we did. */
const CLOSE_MS = 2_000

/** An open WebSocket as a link: one text a frame. Whoever made it left pings to us (`autoPong: false`). */
export function webSocketFrames(socket: WebSocket, limits: FrameLimits): FrameLink {
  // What comes before somebody listens stays in the kernel.
  socket.pause()
  return new WebSocketFrames(socket, limits)
}

class WebSocketFrames implements FrameLink {
  readonly #socket: WebSocket
  readonly #limits: FrameLimits
  readonly #pinging: NodeJS.Timeout
  #waiters: { readonly belowBytes: number; readonly resolve: () => void }[] = []
  #sink: FrameSink | undefined
  #reason: string | undefined
  #isOver = false
  #isHeard = true

  constructor(socket: WebSocket, limits: FrameLimits) {
    this.#socket = socket
    this.#limits = limits
    this.#pinging = setInterval(() => this.#ping(), limits.pingMs)
    this.#pinging.unref()
    // A message of bytes that came in parts is not copied together.
    socket.binaryType = 'fragments'
    socket.on('pong', () => {
      this.#isHeard = true
    })
    socket.on('ping', (data) => {
      if (this.#canSend()) socket.pong(data)
    })
    socket.on('error', (error) => {
      this.#reason ??= error.message
    })
    socket.on('close', (code, said) => {
      const words = said.toString('utf8')
      this.#end(this.#reason ?? (words === '' ? `the socket was closed (${code})` : words))
    })
  }

  open(sink: FrameSink): void {
    this.#sink = sink
    if (this.#isOver) return sink.ended(this.#reason ?? 'the socket was closed')
    const { pieceBytes, frameBytes } = this.#limits
    const joiner = pieceBytes === undefined ? undefined : new PieceJoiner(frameBytes, sink)
    this.#socket.on('message', (data, isBinary) => {
      this.#isHeard = true
      if (this.#isOver) return
      if (joiner !== undefined && isBinary) joiner.push(bytesOf(data))
      else if (joiner !== undefined) sink.fault('a frame is no piece of a text')
      else if (!isBinary) sink.text(bytesOf(data).toString('utf8'))
      else if (sink.bytes === undefined) sink.fault('a frame is not text')
      else sink.bytes(Array.isArray(data) ? data : [bytesOf(data)])
    })
    this.#socket.resume()
  }

  send(text: string): void {
    const { pieceBytes } = this.#limits
    if (!this.#canSend()) return
    gatherWrites(this.#socket)
    const whole = pieceBytes === undefined ? undefined : wholePiece(text, pieceBytes)
    if (whole !== undefined) this.#socket.send(whole, BINARY, this.#sent)
    else if (pieceBytes === undefined) this.#socket.send(text, this.#sent)
    else for (const piece of piecesOf(text, pieceBytes)) this.#socket.send(piece, this.#sent)
  }

  sendBytes(parts: readonly Buffer[]): void {
    const { pieceBytes } = this.#limits
    if (!this.#canSend()) return
    if (pieceBytes === undefined)
      parts.forEach((part, at) => this.#socket.send(part, { binary: true, fin: at === parts.length - 1 }, this.#sent))
    else for (const piece of piecesOfBytes(parts, pieceBytes)) this.#socket.send(piece, this.#sent)
  }

  bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  drained(belowBytes = 0): Promise<void> {
    if (this.#isOver || this.#socket.bufferedAmount <= belowBytes) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push({ belowBytes, resolve }))
  }

  close(reason = ''): void {
    this.#socket.close(reason === '' ? CLOSE.normal : CLOSE.policy, closeReason(reason))
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref()
    this.#end(reason === '' ? 'closed by us' : reason)
  }

  readonly #sent = (): void => {
    if (this.#waiters.length > 0) this.#release(this.#socket.bufferedAmount)
  }

  #canSend(): boolean {
    if (this.#isOver || this.#socket.readyState !== WebSocket.OPEN) return false
    if (this.#socket.bufferedAmount > this.#limits.unsentBytes) this.#cut('the other side does not read')
    return !this.#isOver
  }

  /** A machine that went away does not close its socket. That it answers no ping is the only sign of it. */
  #ping(): void {
    if (!this.#isHeard) return this.#cut('the other side does not answer pings')
    this.#isHeard = false
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping()
  }

  #cut(reason: string): void {
    this.#reason ??= reason
    this.#socket.terminate()
    this.#end(reason)
  }

  #end(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#reason ??= reason
    clearInterval(this.#pinging)
    this.#release(0)
    this.#sink?.ended(reason)
  }

  #release(bufferedBytes: number): void {
    const waiters = this.#waiters
    this.#waiters = waiters.filter(({ belowBytes }) => belowBytes < bufferedBytes)
    for (const { belowBytes, resolve } of waiters) if (belowBytes >= bufferedBytes) resolve()
  }
}

import { WebSocket } from 'ws'
import { bytesOf } from '../client/link/web-socket-transport.ts'
import { closeReason } from '../websocket/close-reason.ts'

/** The largest message of a tunnel: whoever says more says it in pieces. */
export const TUNNEL_PIECE_BYTES = 64 * 1024
/** What may wait for an end that is slow before the other one is not read any more. */
const AHEAD_BYTES = 1024 * 1024
/** What a message costs beside its bytes while it waits: without it a flood of tiny ones would count as nothing. */
const MESSAGE_BYTES = 512
/** How long an end may take to answer a close. */
const CLOSE_MS = 500
const CLOSE = { goingAway: 1001, policy: 1008 } as const

/** One end of a tunnel, at the server between the two. Nothing is read from it before it is joined with the other. */
export class TunnelEnd {
  readonly #socket: WebSocket
  readonly #over = Promise.withResolvers<string>()
  #isOver = false
  /** What waits to go out, each message with what it costs. */
  #unsent = 0
  #isHeard = true
  #isWaiting = false

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.pause()
    socket.on('error', () => undefined)
    for (const sign of ['pong', 'message']) socket.on(sign, () => (this.#isHeard = true))
    socket.on('ping', (data) => {
      if (socket.bufferedAmount <= AHEAD_BYTES && socket.readyState === WebSocket.OPEN) socket.pong(data)
    })
    socket.on('close', (code, said) => this.#end(said.length > 0 ? said.toString('utf8') : `the socket was closed (${code})`))
  }

  /** Settles with why it ended: it was closed, or we told it to close. Nothing is taken from it any more. */
  get closed(): Promise<string> {
    return this.#over.promise
  }

  /** Gives the socket to whoever reads it here, instead of joining it with another end. It is still closed and asked for a sign by this. */
  take(): WebSocket {
    return this.#socket
  }

  /** Hands on each message to the other end, as it came, and waits where that one is slow. `passed` hears of every message. */
  flowTo(other: TunnelEnd, passed: (bytes: number) => void): void {
    this.#socket.on('message', (data, isBinary) => {
      this.#isHeard = true
      const bytes = bytesOf(data)
      if (this.#isOver || other.#isOver) return
      // No end of ours sends one.
      if (bytes.length === 0) return this.close('a message is empty', true)
      passed(bytes.length)
      other.#send(bytes, isBinary, () => this.#go())
      if (other.#unsent <= AHEAD_BYTES) return
      this.#isWaiting = true
      this.#socket.pause()
    })
    this.#go()
  }

  /**
   * Asks whether it is there, and ends it if it did not answer since the last time. What it says is not read while the other end
   * is slow: then its silence means nothing.
   */
  ping(): void {
    if (this.#isWaiting) return
    if (!this.#isHeard) return this.#socket.terminate()
    this.#isHeard = false
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping()
  }

  /** Whoever is told to go may not say another word, whether or not they go. */
  close(reason: string, isOurFault = false): void {
    this.#end(reason)
    this.#socket.close(isOurFault ? CLOSE.policy : CLOSE.goingAway, closeReason(reason))
    // It may be in the middle of something that nobody takes any more, and the answer to the close is behind that.
    this.#socket.resume()
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref()
  }

  #send(bytes: Buffer, isBinary: boolean, sent: () => void): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    const cost = bytes.length + MESSAGE_BYTES
    this.#unsent += cost
    this.#socket.send(bytes, { binary: isBinary }, () => {
      this.#unsent -= cost
      if (this.#unsent <= AHEAD_BYTES / 2) sent()
    })
  }

  #end(reason: string): void {
    this.#isOver = true
    this.#over.resolve(reason)
  }

  #go(): void {
    this.#isWaiting = false
    this.#isHeard = true
    this.#socket.resume()
  }
}

/** Joins two ends until one of them closes. Settles with the bytes that passed in each direction and why it ended. */
export async function joinEnds(one: TunnelEnd, other: TunnelEnd): Promise<{ readonly bytes: number; readonly reason: string }> {
  let bytes = 0
  const passed = (size: number): void => {
    bytes += size
  }
  one.flowTo(other, passed)
  other.flowTo(one, passed)
  const reason = await Promise.race([one.closed, other.closed])
  one.close(reason)
  other.close(reason)
  return { bytes, reason }
}

import { type RawData, WebSocket } from 'ws'
import { bytesOf } from '../client/link/web-socket-transport.ts'

/** The largest message of a tunnel: whoever says more says it in pieces. */
export const TUNNEL_PIECE_BYTES = 64 * 1024
/** What may wait for an end that is slow before the other one is not read any more. */
const AHEAD_BYTES = 1024 * 1024
/** A close frame carries at most so many bytes. */
const REASON_BYTES = 123
/** How long an end may take to answer a close. */
const CLOSE_MS = 2_000
const CLOSE = { goingAway: 1001, policy: 1008 } as const

/** One end of a tunnel, at the server between the two. Nothing is read from it before it is joined with the other. */
export class TunnelEnd {
  readonly #socket: WebSocket
  /** Settles with why it was closed. */
  readonly closed: Promise<string>
  #isHeard = true
  #isWaiting = false

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.pause()
    socket.on('error', () => undefined)
    socket.on('pong', () => {
      this.#isHeard = true
    })
    socket.on('ping', (data) => {
      if (socket.bufferedAmount <= AHEAD_BYTES && socket.readyState === WebSocket.OPEN) socket.pong(data)
    })
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, said) => resolve(said.length > 0 ? said.toString('utf8') : `the socket was closed (${code})`))
    })
  }

  /** Hands on each message to the other end, as it came, and waits where that one is slow. `passed` hears of every message. */
  flowTo(other: TunnelEnd, passed: (bytes: number) => void): void {
    this.#socket.on('message', (data, isBinary) => {
      this.#isHeard = true
      passed(bytesOf(data).length)
      other.#send(data, isBinary, () => this.#go())
      if (other.#socket.bufferedAmount > AHEAD_BYTES) this.#wait()
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

  close(reason: string, isOurFault = false): void {
    const text = Buffer.from(reason)
      .subarray(0, REASON_BYTES)
      .toString('utf8')
      .replace(/\uFFFD$/, '')
    this.#socket.close(isOurFault ? CLOSE.policy : CLOSE.goingAway, text)
    // It may be in the middle of something that nobody takes any more, and the answer to the close is behind that.
    this.#socket.resume()
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref()
  }

  #send(data: RawData, isBinary: boolean, sent: () => void): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    this.#socket.send(bytesOf(data), { binary: isBinary }, () => {
      if (this.#socket.bufferedAmount <= AHEAD_BYTES / 2) sent()
    })
  }

  #wait(): void {
    this.#isWaiting = true
    this.#socket.pause()
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

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Limits } from '../limits.ts'
import type { ResponseOver } from './response-over.ts'

type ConnectionLimits = Pick<Limits, 'connections' | 'inFlightRequests' | 'stalledReaderMs'>

/** To find those that can be closed all are looked at, so that as many as this part of the limit are closed at once. */
const CLOSED_PART = 64

/** By the socket that carries its requests. */
const BY_SOCKET = new WeakMap<Duplex, Connection>()

/** The connection on which a request came. */
export const connectionOf = (socket: Duplex): Connection | undefined => BY_SOCKET.get(socket)

/**
 * The connections of a server, so many and no more. For one more, those are closed whose clients have kept us waiting the
 * longest, with nothing asked or with a body that does not end: first such as never had an answer, then the others. So
 * whoever opens many and says nothing locks nobody out. Where all of them wait for us, the new one is closed.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #all = new Set<Connection>()
  /** What is encrypted comes as another socket, which has the same address at its other end. */
  readonly #byAddress = new Map<string, Connection>()
  readonly #clock: Clock = { changes: 0 }

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#all.size
  }

  take(socket: Socket): void {
    if (this.#all.size >= this.#limits.connections && !this.#makeRoom()) return void socket.destroy()
    const connection = new Connection(socket, this.#clock)
    const address = addressOf(socket)
    this.#all.add(connection)
    this.#byAddress.set(address, connection)
    socket.on('close', () => {
      if (this.#byAddress.get(address) === connection) this.#byAddress.delete(address)
      this.#all.delete(connection)
    })
  }

  /** The handshake is done: requests come on this socket from now on. */
  secured(socket: Socket): void {
    this.#byAddress.get(addressOf(socket))?.carriedBy(socket)
  }

  /** Takes note of a request. False: too many of its connection wait for their answers, sent one behind the other. */
  asked(socket: Duplex, over: ResponseOver): boolean {
    const connection = connectionOf(socket)
    if (connection === undefined) return true
    if (connection.requests >= this.#limits.inFlightRequests) return false
    connection.asked(over)
    return true
  }

  /** Sees to it that readers are cut that take nothing of what we have for them. */
  sweep(): void {
    for (const connection of this.#all) connection.watchReader(this.#limits.stalledReaderMs)
  }

  destroyAll(): void {
    for (const connection of this.#all) connection.destroy()
  }

  #makeRoom(): boolean {
    const waiting = [...this.#all].filter(({ waitsForClient }) => waitsForClient).toSorted(byWait)
    const closed = waiting.slice(0, Math.ceil(this.#limits.connections / CLOSED_PART))
    for (const connection of closed) {
      // Its own word that it is closed comes later: until then it must not count.
      this.#all.delete(connection)
      connection.destroy()
    }
    return closed.length > 0
  }
}

const byWait = (one: Connection, other: Connection): number =>
  Number(one.hasAnswered) - Number(other.hasAnswered) || one.changedAt - other.changedAt

const addressOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`

/** Counts what happened on all connections, so that it is known what happened first. */
interface Clock {
  changes: number
}

/**
 * One connection. It waits for its client while nothing was asked and while a body is on its way; for us while an answer is.
 *
 *   idle ──asked──► ours ──answered──► idle
 *                   ours ──bodyAwaited──► body on its way ──bodyOver──► ours
 */
export class Connection {
  /** Smaller is older. */
  readonly order: number
  readonly #clock: Clock
  readonly #socket: Socket
  #carrier: Socket
  /** That came on it and are not answered. */
  requests = 0
  #bodiesAwaited = 0
  #isUpgraded = false
  #isWatched = false
  hasAnswered = false
  changedAt: number

  constructor(socket: Socket, clock: Clock) {
    this.#clock = clock
    this.order = clock.changes += 1
    this.changedAt = this.order
    this.#socket = socket
    this.#carrier = socket
    BY_SOCKET.set(socket, this)
  }

  get waitsForClient(): boolean {
    return !this.#isUpgraded && this.requests === this.#bodiesAwaited
  }

  carriedBy(socket: Socket): void {
    this.#carrier = socket
    BY_SOCKET.set(socket, this)
  }

  asked(over: ResponseOver): void {
    this.requests += 1
    this.#changed()
    over.add(() => {
      this.hasAnswered = true
      this.requests -= 1
      // Node gives a connection that is idle another time.
      if (this.requests === 0) this.#isWatched = false
      this.#changed()
    })
  }

  upgraded(): void {
    this.#isUpgraded = true
  }

  bodyAwaited(): void {
    this.#bodiesAwaited += 1
  }
  bodyOver(): void {
    this.#bodiesAwaited -= 1
    this.#changed()
  }

  /** The socket itself knows whether anything of what waits in it was taken. */
  watchReader(stalledMs: number): void {
    if (this.#isUpgraded || this.requests === 0) return
    const isBehind = this.#carrier.writableLength > 0
    if (isBehind === this.#isWatched) return
    this.#isWatched = isBehind
    // Node's HTTP server destroys a socket whose time is up.
    this.#carrier.setTimeout(isBehind ? stalledMs : 0)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #changed(): void {
    this.#clock.changes += 1
    this.changedAt = this.#clock.changes
  }
}

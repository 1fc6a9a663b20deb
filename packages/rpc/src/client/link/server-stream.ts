import { Backoff } from '@parley/protocol/wire'
import type { ClientLimits } from '../client-limits.ts'
import type { HttpRound, HttpRoundEvents } from './http-round.ts'

export interface ServerStreamParts {
  readonly limits: ClientLimits
  readonly newRound: (events: HttpRoundEvents) => HttpRound
  readonly warn: (message: string) => void
  readonly open: (round: HttpRound, lastEventId: string | undefined) => void
  readonly receive: (text: string) => void
  readonly sessionLost: () => void
  readonly hasSession: () => boolean
}

/**
 * The GET stream of a legacy session, for what the server says on its own. A server without one (405) is fine; one that
 * drops is opened again from the last event, for as long as the session lasts, ever more slowly while nothing comes on it. A
 * server may ask for longer waits than these, never for shorter ones: one that ends each stream at once would have us spin.
 */
export class ServerStream {
  readonly #parts: ServerStreamParts
  readonly #backoff: Backoff
  #round: HttpRound | undefined
  #timer: NodeJS.Timeout | undefined
  #lastEventId: string | undefined
  #retryMs: number | undefined
  #openedAt = 0
  #closed = false

  constructor(parts: ServerStreamParts) {
    this.#parts = parts
    this.#backoff = new Backoff(parts.limits.reconnectMs, parts.limits.reconnectMaxMs)
  }

  open(): void {
    const round: HttpRound = this.#parts.newRound({
      stream: () => (this.#openedAt = performance.now()),
      event: ({ data, id }) => {
        this.#lastEventId = id
        if (data === '') return
        this.#backoff.reset()
        this.#parts.receive(data)
      },
      body: (status) => this.#refused(status),
      end: () => {
        this.#lastEventId = round.lastEventId ?? this.#lastEventId
        this.#retryMs = round.retryMs ?? this.#retryMs
        this.#again()
      },
      unreachable: () => this.#again(),
    })
    this.#round = round
    this.#parts.open(round, this.#lastEventId)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#round?.cancel()
  }

  #refused(status: number): void {
    if (this.#closed || status === 405) return
    if (status === 404 && this.#parts.hasSession()) return this.#parts.sessionLost()
    if (status >= 500 || status === 429) return this.#again()
    this.#parts.warn(`the server refused the stream for its own messages with ${status}`)
  }

  #again(): void {
    if (this.#closed) return
    const { reconnectMaxMs, retryMaxMs } = this.#parts.limits
    const hasLasted = this.#openedAt !== 0 && performance.now() - this.#openedAt > reconnectMaxMs
    this.#openedAt = 0
    if (hasLasted) this.#backoff.reset()
    const waitMs = Math.max(this.#backoff.next(), Math.min(this.#retryMs ?? 0, retryMaxMs))
    this.#timer = setTimeout(() => this.open(), waitMs)
    // Waiting for news must not keep a program alive that has nothing else to do.
    this.#timer.unref()
  }
}

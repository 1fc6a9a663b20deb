import { type Signals, onceAtATime } from '@parley/database'
import type { Lease } from './lease.ts'

/** The longest wait that a timer can hold. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** An item that is due but was not to be had is in another transaction's hands for this long at most, usually. */
const BUSY_RETRY_MS = 20
/**
 * Whoever leaves lanes out looks again after this. What is due may be there and not for them, so the next item that is due says
 * nothing; this finds what ran out or was hidden, which nobody signals.
 */
const OTHERS_RETRY_MS = 1_000
/** After a failed claim, so that a database that is down is not hammered. */
const FAILED_RETRY_MS = 500

/** Who takes an item, and of which lanes it takes none. */
export interface Taker {
  readonly holder: string
  readonly ttlMs: number
  readonly without: readonly string[]
}
export interface Waiter extends Taker {
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  readonly standsBack: boolean
}
/** What a line needs to know about its queue. */
export interface LineQueue {
  take(taker: Taker): Promise<Lease | undefined>
  /** In how many milliseconds the next item is due; `undefined` when there is none. */
  nextDueMs(): Promise<number | undefined>
  giveBack(lease: Lease): Promise<void>
}
interface Place extends Waiter {
  readonly leave: (lease: Lease | undefined) => void
  readonly isGone: () => boolean
}

/**
 * Those of this process who wait for one queue, first come first served; those who stand back after the others. One claim at a
 * time runs: when something was offered or given back, and when the next lease runs out. Nobody polls, but for those who leave
 * lanes out, and slowly.
 */
export class WaitingLine {
  readonly #counter: LineQueue
  readonly #signals: Signals
  readonly #off: () => void
  readonly #emptied: () => void
  readonly #places = new Set<Place>()
  #timer: NodeJS.Timeout | undefined

  constructor(counter: LineQueue, signals: Signals, signal: string, emptied: () => void) {
    this.#counter = counter
    this.#signals = signals
    this.#emptied = emptied
    this.#off = signals.on(signal, () => this.#kick())
  }

  wait(waiter: Waiter): Promise<Lease | undefined> {
    const { promise, resolve } = Promise.withResolvers<Lease | undefined>()
    let gone = false
    const leave = (lease: Lease | undefined) => {
      if (gone) return
      gone = true
      clearTimeout(timer)
      waiter.signal?.removeEventListener('abort', abandon)
      this.#places.delete(place)
      if (this.#places.size === 0) this.#end()
      resolve(lease)
    }
    const abandon = () => leave(undefined)
    const place: Place = { ...waiter, leave, isGone: () => gone }
    const timer = setTimeout(abandon, waiter.waitMs)
    waiter.signal?.addEventListener('abort', abandon, { once: true })
    this.#places.add(place)
    // Something may have been offered between the caller's own try and now.
    this.#kick()
    return promise
  }

  #kick(): void {
    if (this.#signals.ended) for (const place of this.#places) place.leave(undefined)
    else this.#serve()
  }

  readonly #serve = onceAtATime(
    async () => {
      clearTimeout(this.#timer)
      this.#kickIn(await this.#serveAll())
    },
    () => this.#kickIn(FAILED_RETRY_MS),
  )

  #kickIn(waitMs: number | undefined): void {
    if (waitMs !== undefined && this.#places.size > 0)
      this.#timer = setTimeout(() => this.#kick(), Math.min(waitMs, MAX_TIMER_MS))
  }

  /** Serves until nothing is left to take; answers how long it is until something will be. */
  async #serveAll(): Promise<number | undefined> {
    let waitMs: number | undefined
    for (const place of [...this.#inTurn(false), ...this.#inTurn(true)]) {
      if (place.isGone()) continue
      const lease = await this.#counter.take(place)
      if (lease === undefined) {
        // Who takes anything got nothing: there is nothing for those behind it either.
        if (place.without.length === 0) return this.#untilDue()
        waitMs = OTHERS_RETRY_MS
      } else if (place.isGone()) await this.#counter.giveBack(lease)
      else place.leave(lease)
    }
    return waitMs
  }

  async #untilDue(): Promise<number | undefined> {
    const dueMs = await this.#counter.nextDueMs()
    return dueMs === undefined ? undefined : Math.max(dueMs, BUSY_RETRY_MS)
  }

  #inTurn(standsBack: boolean): readonly Place[] {
    return [...this.#places].filter((place) => place.standsBack === standsBack)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#off()
    this.#emptied()
  }
}

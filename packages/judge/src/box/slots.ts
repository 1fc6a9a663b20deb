import type { Sandbox } from '@parley/sandbox'
import { once } from './once.ts'
import { Shares } from './shares.ts'
import { Slot } from './slot.ts'
import type { WorkClock } from './work-clock.ts'

/** The right to use one core, or all of them, until it is given back. */
export interface Lease {
  readonly slot: Slot
  release(): void
}

/** Who asks for cores. */
export interface Asker {
  /** Whose work it is: the cores are shared out among owners. `null` is the judge itself, and jobs of nobody. */
  readonly owner: string | null
  /** Stands while all of this work waits for cores that others have. */
  readonly clock?: WorkClock
}

interface Waiter {
  readonly owner: string | null
  readonly cores: number
  grant(slot: Slot): void
  refuse(cause: NoSlot): void
}

/** More than this many waiting is a bug: each job keeps a few cases waiting, and a judge has few jobs. */
const WAITERS_MAX = 10_000

/** The tester was closed, or whoever asked has gone. */
export class NoSlot extends Error {
  readonly code = 'no_slot'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NoSlot'
  }
}

/**
 * The cores of this judge, shared by all that it tests. Next is the owner who has had the least of them, and of an owner's the first that
 * came. Who wants all of them and is next waits until the ones at work have ended, and nobody else begins meanwhile: a run alone is never
 * starved and never disturbed, and what it keeps from others counts as had.
 */
export class Slots {
  readonly count: number
  readonly #free: Slot[]
  readonly #slots: readonly Slot[]
  readonly #waiting: Waiter[] = []
  readonly #shares: Shares
  /** The one that wants more cores than are idle, and how many of these are kept for it. */
  #next: { readonly waiter: Waiter; readonly kept: number } | undefined
  #idle = 0
  #closed = false

  constructor(sandbox: Sandbox, count: number, now: () => number = () => performance.now()) {
    this.count = count
    this.#shares = new Shares(now)
    this.#slots = Array.from({ length: count }, () => new Slot(sandbox))
    this.#free = [...this.#slots]
    this.#idle = count
  }

  one(asker: Asker, signal: AbortSignal): Promise<Lease> {
    return this.#lease(asker, 1, signal)
  }

  all(asker: Asker, signal: AbortSignal): Promise<Lease> {
    return this.#lease(asker, this.count, signal)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const waiter of [...this.#waiting]) waiter.refuse(new NoSlot('the tester is closed'))
    await Promise.all(this.#slots.map((slot) => slot.close()))
  }

  #lease({ owner, clock }: Asker, cores: number, signal: AbortSignal): Promise<Lease> {
    if (this.#closed) return Promise.reject(new NoSlot('the tester is closed'))
    if (signal.aborted) return Promise.reject(new NoSlot('cancelled', { cause: signal.reason }))
    if (this.#waiting.length >= WAITERS_MAX) return Promise.reject(new NoSlot('too many are waiting'))
    return new Promise((resolve, reject) => {
      const waited = clock?.waits()
      const leave = (): void => {
        signal.removeEventListener('abort', forget)
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        if (this.#next?.waiter === waiter) this.#keep(undefined)
        this.#shares.waited(owner)
        waited?.()
      }
      const forget = (): void => {
        waiter.refuse(new NoSlot('cancelled', { cause: signal.reason }))
        this.#serve()
      }
      const waiter: Waiter = {
        owner,
        cores,
        grant: (slot) => {
          const letGo = clock?.holds()
          leave()
          const release = once(() => {
            letGo?.()
            this.#takeBack(slot, waiter)
          })
          resolve({ slot, release })
        },
        refuse: (cause) => {
          leave()
          reject(cause)
        },
      }
      signal.addEventListener('abort', forget, { once: true })
      this.#waiting.push(waiter)
      this.#shares.waits(owner)
      this.#serve()
    })
  }

  #serve(): void {
    // Who is next is decided when there is something to have: until then somebody may come who has had less.
    while (this.#idle > 0) {
      const first = this.#next?.waiter ?? this.#leastServed()
      if (first === undefined) return
      if (this.#idle < first.cores) return this.#keep(first)
      const slot = this.#free.pop()
      if (slot === undefined) return
      const { owner, cores } = first
      this.#idle -= cores
      this.#shares.holds(owner, cores)
      first.grant(slot)
    }
  }

  #leastServed(): Waiter | undefined {
    let least: { readonly waiter: Waiter; readonly usedMs: number } | undefined
    for (const waiter of this.#waiting) {
      const usedMs = this.#shares.usedMs(waiter.owner)
      if (least === undefined || usedMs < least.usedMs) least = { waiter, usedMs }
    }
    return least?.waiter
  }

  /** Keeps the idle cores for the one that is next and needs more; `undefined` lets them go. */
  #keep(waiter: Waiter | undefined): void {
    if (this.#next !== undefined) this.#shares.holds(this.#next.waiter.owner, -this.#next.kept)
    this.#next = waiter === undefined ? undefined : { waiter, kept: this.#idle }
    if (waiter !== undefined) this.#shares.holds(waiter.owner, this.#idle)
  }

  #takeBack(slot: Slot, { owner, cores }: Waiter): void {
    this.#free.push(slot)
    this.#idle += cores
    this.#shares.holds(owner, -cores)
    this.#serve()
  }
}

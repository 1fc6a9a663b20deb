import type { Sandbox } from '@parley/sandbox'
import { Slot } from './slot.ts'

/** The right to use one core, or all of them, until it is given back. */
export interface Lease {
  readonly slot: Slot
  release(): void
}

type Wanted = 'one' | 'all'
interface Waiter {
  readonly wanted: Wanted
  grant(lease: Lease): void
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
 * The cores of this judge, shared by all that it tests. First come, first served; who wants all of them waits until the
 * ones at work have ended, and those who came later wait for it: a run alone is never starved and never disturbed.
 */
export class Slots {
  readonly count: number
  readonly #free: Slot[]
  readonly #slots: readonly Slot[]
  readonly #waiting: Waiter[] = []
  #idle = 0
  #closed = false

  constructor(sandbox: Sandbox, count: number) {
    this.count = count
    this.#slots = Array.from({ length: count }, () => new Slot(sandbox))
    this.#free = [...this.#slots]
    this.#idle = count
  }

  one(signal: AbortSignal): Promise<Lease> {
    return this.#lease('one', signal)
  }

  all(signal: AbortSignal): Promise<Lease> {
    return this.#lease('all', signal)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(new NoSlot('the tester is closed'))
    await Promise.all(this.#slots.map((slot) => slot.close()))
  }

  #lease(wanted: Wanted, signal: AbortSignal): Promise<Lease> {
    if (this.#closed) return Promise.reject(new NoSlot('the tester is closed'))
    if (signal.aborted) return Promise.reject(new NoSlot('cancelled', { cause: signal.reason }))
    if (this.#waiting.length >= WAITERS_MAX) return Promise.reject(new NoSlot('too many are waiting'))
    return new Promise((resolve, reject) => {
      const forget = (): void => {
        const index = this.#waiting.indexOf(waiter)
        if (index >= 0) this.#waiting.splice(index, 1)
        reject(new NoSlot('cancelled', { cause: signal.reason }))
        this.#serve()
      }
      const waiter: Waiter = {
        wanted,
        grant: (lease) => {
          signal.removeEventListener('abort', forget)
          resolve(lease)
        },
        refuse: (cause) => {
          signal.removeEventListener('abort', forget)
          reject(cause)
        },
      }
      signal.addEventListener('abort', forget, { once: true })
      this.#waiting.push(waiter)
      this.#serve()
    })
  }

  #serve(): void {
    for (;;) {
      const [first] = this.#waiting
      if (first === undefined) return
      const needed = first.wanted === 'one' ? 1 : this.count
      if (this.#idle < needed) return
      const slot = this.#free.pop()
      if (slot === undefined) return
      this.#waiting.shift()
      this.#idle -= needed
      first.grant({ slot, release: once(() => this.#takeBack(slot, needed)) })
    }
  }

  #takeBack(slot: Slot, needed: number): void {
    this.#free.push(slot)
    this.#idle += needed
    this.#serve()
  }
}

function once(act: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    act()
  }
}

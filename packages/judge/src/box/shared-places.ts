import { once } from './once.ts'
import { CoreShares } from './shares.ts'
import type { WorkClock } from './work-clock.ts'

/** The right to use one place, or all of them, until it is given back. */
export interface HeldPlace<Place> {
  readonly place: Place
  /** What has this place and waits for others meanwhile: the clock of the work does not run for it. */
  readonly whileWaiting: <Result>(wait: () => Promise<Result>) => Promise<Result>
  release(): void
}

/** Who asks for places. */
export interface PlaceSeeker {
  /** Whose work it is: the places are shared out among owners. `null` is the judge itself, and jobs of nobody. */
  readonly owner: string | null
  /** Stands while all of this work waits for places that others have. */
  readonly clock?: WorkClock
}

interface Waiter<Place> {
  readonly owner: string | null
  readonly wanted: number
  grant(place: Place): void
  refuse(cause: NoPlace): void
}

/** More than this many waiting is a bug: each job keeps a few cases waiting, and a judge has few jobs. */
const WAITERS_MAX = 10_000

/** The tester was closed, or whoever asked has gone. */
export class NoPlace extends Error {
  readonly code = 'no_place'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NoPlace'
  }
}

/**
 * A few places, shared by all that a judge tests. Next is the owner who has had the least of them, and of an owner's the first that
 * came. Who wants all of them and is next waits until the ones at work have ended, and nobody else begins meanwhile: it is never
 * starved and never disturbed, and what it keeps from others counts as had.
 */
export class SharedPlaces<Place extends object> {
  readonly count: number
  readonly #free: Place[]
  readonly #waiting: Waiter<Place>[] = []
  readonly #shares: CoreShares
  /** The one that wants more places than are idle, and how many of these are kept for it. */
  #next: { readonly waiter: Waiter<Place>; readonly kept: number } | undefined
  #idle = 0
  #closed = false

  constructor(places: readonly Place[], now: () => number = () => performance.now()) {
    this.count = places.length
    this.#shares = new CoreShares(now)
    this.#free = [...places]
    this.#idle = places.length
  }

  one(asker: PlaceSeeker, signal: AbortSignal): Promise<HeldPlace<Place>> {
    return this.#held(asker, 1, signal)
  }

  all(asker: PlaceSeeker, signal: AbortSignal): Promise<HeldPlace<Place>> {
    return this.#held(asker, this.count, signal)
  }

  /** Whoever waits is refused, and whoever comes. */
  refuseAll(): void {
    this.#closed = true
    for (const waiter of [...this.#waiting]) waiter.refuse(new NoPlace('the tester is closed'))
  }

  #held({ owner, clock }: PlaceSeeker, wanted: number, signal: AbortSignal): Promise<HeldPlace<Place>> {
    if (this.#closed) return Promise.reject(new NoPlace('the tester is closed'))
    if (signal.aborted) return Promise.reject(new NoPlace('cancelled', { cause: signal.reason }))
    if (this.#waiting.length >= WAITERS_MAX) return Promise.reject(new NoPlace('too many are waiting'))
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
        waiter.refuse(new NoPlace('cancelled', { cause: signal.reason }))
        this.#serve()
      }
      const waiter: Waiter<Place> = {
        owner,
        wanted,
        grant: (place) => {
          const held = heldBy(clock)
          leave()
          const release = once(() => {
            held.letGo()
            this.#takeBack(place, waiter)
          })
          resolve({ place, whileWaiting: held.whileWaiting, release })
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
      if (this.#idle < first.wanted) return this.#keep(first)
      const place = this.#free.pop()
      if (place === undefined) return
      const { owner, wanted } = first
      this.#idle -= wanted
      this.#shares.holds(owner, wanted)
      first.grant(place)
    }
  }

  #leastServed(): Waiter<Place> | undefined {
    let least: { readonly waiter: Waiter<Place>; readonly usedMs: number } | undefined
    for (const waiter of this.#waiting) {
      const usedMs = this.#shares.usedMs(waiter.owner)
      if (least === undefined || usedMs < least.usedMs) least = { waiter, usedMs }
    }
    return least?.waiter
  }

  /** Keeps the idle places for the one that is next and needs more; `undefined` lets them go. */
  #keep(waiter: Waiter<Place> | undefined): void {
    if (this.#next !== undefined) this.#shares.holds(this.#next.waiter.owner, -this.#next.kept)
    this.#next = waiter === undefined ? undefined : { waiter, kept: this.#idle }
    if (waiter !== undefined) this.#shares.holds(waiter.owner, this.#idle)
  }

  #takeBack(place: Place, { owner, wanted }: Waiter<Place>): void {
    this.#free.push(place)
    this.#idle += wanted
    this.#shares.holds(owner, -wanted)
    this.#serve()
  }
}

/** The clock runs for work that has its place, and not while that waits for others all the same. */
function heldBy(clock: WorkClock | undefined): Pick<HeldPlace<unknown>, 'whileWaiting'> & { letGo(): void } {
  if (clock === undefined) return { whileWaiting: (wait) => wait(), letGo: () => undefined }
  let letGo = clock.holds()
  return {
    whileWaiting: async (wait) => {
      const waited = clock.waits()
      letGo()
      try {
        return await wait()
      } finally {
        letGo = clock.holds()
        waited()
      }
    },
    letGo: () => letGo(),
  }
}

/** How fast something may go on: `burst` at once, then `perSecond`. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** A token bucket that fills by itself as time passes. */
export class Meter {
  readonly #rate: Rate
  readonly #now: () => number
  #left: number
  #at: number

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate
    this.#now = now
    this.#left = rate.burst
    this.#at = now()
  }

  /** Takes one, or several at once, if there is one: whoever takes more than there are waits the longer for the next. */
  take(price = 1): boolean {
    this.#fill()
    if (this.#left < 1) return false
    this.#left -= price
    return true
  }

  /** Whether `take` would succeed. */
  get open(): boolean {
    this.#fill()
    return this.#left >= 1
  }

  /** How many could be taken now, and parts of one. */
  get left(): number {
    this.#fill()
    return this.#left
  }

  /** Gives one back: what was taken for it turned out to be welcome. */
  refund(): void {
    this.#left = Math.min(this.#rate.burst, this.#left + 1)
  }

  /** Seconds until the next one, at least 1. */
  get waitSeconds(): number {
    this.#fill()
    return Math.max(1, Math.ceil((1 - this.#left) / this.#rate.perSecond))
  }

  #fill(): void {
    const now = this.#now()
    if (now === this.#at) return
    // A clock that was set back gives nothing and takes nothing.
    const gained = (Math.max(0, now - this.#at) / 1000) * this.#rate.perSecond
    this.#left = Math.min(this.#rate.burst, this.#left + gained)
    this.#at = now
  }
}

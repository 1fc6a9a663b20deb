/** Something that must be over by a moment. */
export interface Due {
  deadline: number
}

/**
 * One timer for any number of deadlines, so that a call costs none. It sleeps until the earliest it knows of; what was
 * settled in between is simply not there any more when it wakes.
 */
export class Deadlines<Item extends Due> {
  readonly #items: () => Iterable<Item>
  readonly #expired: (item: Item) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #wakesAt = Infinity

  constructor(items: () => Iterable<Item>, expired: (item: Item) => void) {
    this.#items = items
    this.#expired = expired
  }

  /** Call it for each new deadline. */
  watch(deadline: number): void {
    if (deadline < this.#wakesAt) this.#arm(deadline)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#wakesAt = Infinity
  }

  #arm(deadline: number): void {
    clearTimeout(this.#timer)
    this.#wakesAt = deadline
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, deadline - performance.now()))
    // In a browser a timer is a number and holds nothing open.
    if (typeof this.#timer === 'object' && 'unref' in this.#timer) this.#timer.unref()
  }

  #wake(): void {
    this.#timer = undefined
    this.#wakesAt = Infinity
    const now = performance.now()
    let next = Infinity
    for (const item of this.#items()) {
      if (item.deadline <= now) this.#expired(item)
      else if (item.deadline < next) next = item.deadline
    }
    if (next < Infinity) this.watch(next)
  }
}

import { once } from './once.ts'

/**
 * How long something has been worked on. It stands while all that could go on with it waits for others: who has to wait must not be
 * called slow for it.
 */
export class WorkClock {
  readonly #ends: () => void
  #leftMs: number
  #waiting = 0
  #held = 0
  #running: { readonly since: number; readonly timer: NodeJS.Timeout } | undefined
  #isOver = false

  /** Begins to run; `ends` is called when it has run for `ms`, unless it is stopped before. */
  constructor(ms: number, ends: () => void) {
    this.#leftMs = ms
    this.#ends = ends
    this.#settle()
  }

  /** A part of the work waits, until what is answered is called. */
  waits(): () => void {
    this.#waiting += 1
    this.#settle()
    return once(() => {
      this.#waiting -= 1
      this.#settle()
    })
  }

  /** This part of the work has a bound of its own, and is waited for. */
  async waitsFor<Result>(work: Promise<Result>): Promise<Result> {
    const waited = this.waits()
    try {
      return await work
    } finally {
      waited()
    }
  }

  /** A part of the work goes on, until what is answered is called: however many others wait, the clock runs. */
  holds(): () => void {
    this.#held += 1
    this.#settle()
    return once(() => {
      this.#held -= 1
      this.#settle()
    })
  }

  get runs(): boolean {
    return this.#running !== undefined
  }

  stop(): void {
    this.#isOver = true
    this.#settle()
  }

  #settle(): void {
    const runs = !this.#isOver && (this.#held > 0 || this.#waiting === 0)
    if (runs && this.#running === undefined) {
      const timer = setTimeout(() => this.#end(), Math.max(0, this.#leftMs))
      this.#running = { since: performance.now(), timer }
    } else if (!runs && this.#running !== undefined) {
      clearTimeout(this.#running.timer)
      this.#leftMs -= performance.now() - this.#running.since
      this.#running = undefined
    }
  }

  #end(): void {
    this.stop()
    this.#ends()
  }
}

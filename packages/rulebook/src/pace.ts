import { setImmediate as turn } from 'node:timers/promises'

/** How long a review may take; of more calls than fit into it, those that were looked at are counted. */
export const REVIEW_MS = 5_000
/** After so long others have their turn. */
const SLICE_MS = 4

/** Others wait no longer than for one decision or condition more, whatever somebody wrote into a policy. */
export class Pace {
  readonly #now: () => number
  readonly #startedAt: number
  #sliceAt: number

  constructor(now = () => performance.now()) {
    this.#now = now
    this.#startedAt = this.#sliceAt = now()
  }

  /** Whether a review has gone on for too long. */
  async isOver(): Promise<boolean> {
    await this.rest()
    return this.#now() - this.#startedAt > REVIEW_MS
  }

  /** Lets others have their turn, where it is time for that. */
  async rest(): Promise<void> {
    if (this.#now() - this.#sliceAt <= SLICE_MS) return
    await turn()
    this.#sliceAt = this.#now()
  }
}

/** Takes all steps, however long it takes: they are bounded, and their end is needed. */
export async function paced(steps: Iterable<unknown>, pace: Pace): Promise<void> {
  for (const _ of steps) await pace.rest()
}

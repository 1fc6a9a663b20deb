import type { Limits } from '../limits.ts'

/**
 * A fair share of the event loop: within one turn each person is served a few messages, or a few bytes of large ones, whatever
 * they have sent, and the rest of theirs waits for the next turn. So nobody waits for more than one share of each of the others.
 */
export class Turns {
  readonly #share: number
  readonly #bytesOfPlace: number
  readonly #taken = new Map<string, number>()
  #waiting: (() => void)[] = []
  #isScheduled = false

  constructor({ turnMessages, turnBytes }: Pick<Limits, 'turnMessages' | 'turnBytes'>) {
    this.#share = turnMessages
    this.#bytesOfPlace = turnBytes / turnMessages
  }

  /** Takes a place in this turn, or as many as a message of that size needs, if the person has them left. */
  take(person: string, bytes: number): boolean {
    const taken = this.#taken.get(person) ?? 0
    const places = Math.max(1, Math.floor(bytes / this.#bytesOfPlace))
    // What is larger than a share is served first or not at all.
    if (taken > 0 && taken + places > this.#share) return false
    this.#taken.set(person, taken + places)
    this.#schedule()
    return true
  }

  /** Takes places in this turn for work that has begun already, however many are left. */
  spend(person: string, places: number): void {
    this.#taken.set(person, (this.#taken.get(person) ?? 0) + places)
    this.#schedule()
  }

  /** Calls back in the next turn. */
  next(work: () => void): void {
    this.#waiting.push(work)
    this.#schedule()
  }

  /** Does it now or, when the person's share is used up, in a later turn. */
  run(person: string, bytes: number, work: () => void): void {
    if (this.take(person, bytes)) work()
    else this.next(() => this.run(person, bytes, work))
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#taken.clear()
      const waiting = this.#waiting
      this.#waiting = []
      for (const work of waiting) work()
    })
  }
}

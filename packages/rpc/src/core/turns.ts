/**
 * A fair share of the event loop: within one turn each person is served a few messages, whatever they have sent, and the
 * rest of theirs waits for the next turn. So nobody waits for more than one share of each of the others.
 */
export class Turns {
  readonly #share: number
  readonly #taken = new Map<string, number>()
  #waiting: (() => void)[] = []
  #isScheduled = false

  constructor(share: number) {
    this.#share = share
  }

  /** Takes a place in this turn, if the person has one left. */
  take(person: string): boolean {
    const taken = this.#taken.get(person) ?? 0
    if (taken >= this.#share) return false
    this.#taken.set(person, taken + 1)
    this.#schedule()
    return true
  }

  /** Calls back in the next turn. */
  next(work: () => void): void {
    this.#waiting.push(work)
    this.#schedule()
  }

  /** Does it now or, when the person's share is used up, in a later turn. */
  run(person: string, work: () => void): void {
    if (this.take(person)) work()
    else this.next(() => this.run(person, work))
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

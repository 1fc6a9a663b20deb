import type { ApprovalId } from '@parley/protocol'

/**
 * Calls that are asked about in the same words. One thing is done after the other: who asks must know for which approvals others wait, and those
 * whose callers are gone must be written down as such before, or there would be two where the first could be taken up; nor may that be written
 * down, again and late, of one that somebody has taken up since.
 */
export class Alike {
  /** Those that somebody waits for, each with the signal of whoever does: one that was left may have been taken up by the next. */
  readonly attended = new Map<ApprovalId, AbortSignal>()
  callers = 0
  #before: Promise<unknown> = Promise.resolve()

  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#before
    const turn = Promise.withResolvers<void>()
    this.#before = Promise.all([before, turn.promise])
    try {
      await before
      return await work()
    } finally {
      turn.resolve()
    }
  }
}

/** Those that are under way, by what is asked. */
export class AlikeCalls {
  readonly #alike = new Map<string, Alike>()

  async among<T>(question: string, work: (alike: Alike) => Promise<T>): Promise<T> {
    const alike = this.#alike.get(question) ?? new Alike()
    this.#alike.set(question, alike)
    alike.callers += 1
    try {
      return await work(alike)
    } finally {
      alike.callers -= 1
      if (alike.callers === 0) this.#alike.delete(question)
    }
  }
}

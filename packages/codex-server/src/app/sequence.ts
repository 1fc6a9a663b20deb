/**
 * Requests one after the other, as Codex handles them: a client that sends two at once may count on the first having
 * been done. A place that is given up early lets the next one go.
 */
export class Sequence {
  #last: Promise<void> = Promise.resolve()

  /** Settles when it is one's turn; call the result when the next one may go. */
  async enter(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}

import type { FramePeer } from '@parley/rpc/frame'
import { refusal } from '../api/error-code.ts'

/** Makes an answer when those before it have left. */
export type InTurn = <Value>(make: () => Promise<Value>) => Promise<Value>

/**
 * The large answers of one connection. A request for one is short and hundreds may be under way: each is made when there is room for
 * it, or they would all be in memory at once.
 */
export class AnswerLine {
  readonly #peer: Pick<FramePeer, 'drained' | 'isGone'>
  readonly #aheadBytes: number
  #last: Promise<unknown> = Promise.resolve()

  constructor(peer: Pick<FramePeer, 'drained' | 'isGone'>, aheadBytes: number) {
    this.#peer = peer
    this.#aheadBytes = aheadBytes
  }

  inTurn<Value>(make: () => Promise<Value>): Promise<Value> {
    const made = this.#after(this.#last, make)
    // An answer is handed to the connection a moment after it was made, and is not seen there before.
    const left = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    this.#last = made.then(left, left)
    return made
  }

  async #after<Value>(before: Promise<unknown>, make: () => Promise<Value>): Promise<Value> {
    await before
    await this.#peer.drained(this.#aheadBytes)
    if (this.#peer.isGone) throw refusal('invalidRequest', 'the connection has ended')
    return make()
  }
}

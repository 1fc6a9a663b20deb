/** A server that asks for no wait at all would have us spin. */
const SHORTEST_MS = 10

/** Waits that double from `firstMs` to `longestMs`; what the server asks for comes first, within a floor. */
export class Backoff {
  readonly #firstMs: number
  readonly #longestMs: number
  #failures = 0

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs
    this.#longestMs = longestMs
  }

  get failures(): number {
    return this.#failures
  }

  next(askedMs?: number, floorMs = SHORTEST_MS): number {
    const grown = Math.min(this.#firstMs * 2 ** this.#failures, this.#longestMs)
    this.#failures++
    return askedMs === undefined ? grown : Math.max(askedMs, floorMs)
  }

  reset(): void {
    this.#failures = 0
  }
}

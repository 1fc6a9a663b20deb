interface HeldCall {
  stillHeld(): void
}

/** The calls that wait for somebody, each of which is kept alive: a client that hears nothing for long gives up. */
export class HeldCalls<Held extends HeldCall = HeldCall> {
  readonly #everyMs: number
  readonly #calls = new Set<Held>()
  #timer: NodeJS.Timeout | undefined

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  [Symbol.iterator](): Iterator<Held> {
    return this.#calls.values()
  }

  add(call: Held): void {
    this.#calls.add(call)
    this.#timer ??= setInterval(() => {
      for (const each of this.#calls) each.stillHeld()
    }, this.#everyMs).unref()
  }

  delete(call: Held): void {
    if (!this.#calls.delete(call) || this.#calls.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

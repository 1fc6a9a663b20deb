/** Counts the calls that are being waited for, so that a shutdown can let them end. */
export class InFlight {
  #count = 0
  #idle: (() => void)[] = []

  get count(): number {
    return this.#count
  }

  enter(): void {
    this.#count += 1
  }

  leave(): void {
    this.#count -= 1
    if (this.#count > 0) return
    const waiting = this.#idle
    this.#idle = []
    // The answer is handed to the wire in the ticks after the call ends; only then is it really over.
    setImmediate(() => {
      for (const resolve of waiting) resolve()
    })
  }

  /** Answers when nothing is under way, or after so long. */
  async idle(maxMs: number): Promise<void> {
    if (this.#count === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve)
      timer = setTimeout(resolve, maxMs)
    })
    clearTimeout(timer)
  }
}

/** Lets so many in at a time; others wait in line. */
export class SearchPlaces {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async within<Result>(signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
    await this.#enter(signal)
    try {
      return await act()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1)
      reject(new Error('nobody waits for it any more', { cause: signal.reason }))
    }
    const enter = (): void => {
      signal.removeEventListener('abort', leave)
      resolve()
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.push(enter)
    return promise
  }
}

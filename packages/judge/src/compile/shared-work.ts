import { unlessAborted } from '@parley/protocol'
/** One piece of work that several wait for. It goes on as long as one of them does. */
interface Work<Result> {
  readonly promise: Promise<Result>
  readonly controller: AbortController
  waiters: number
}

/** Whoever asked has gone; the work may go on for others. */
export class Cancelled extends Error {
  readonly code = 'cancelled'
  constructor(options?: ErrorOptions) {
    super('cancelled', options)
    this.name = 'Cancelled'
  }
}

/** Does work once for all who ask for the same key at the same time. */
export class SharedWork<Result> {
  readonly #works = new Map<string, Work<Result>>()

  async do(key: string, start: (signal: AbortSignal) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    if (signal.aborted) throw new Cancelled({ cause: signal.reason })
    const work = this.#works.get(key) ?? this.#begin(key, start)
    work.waiters += 1
    try {
      return await unlessAborted(work.promise, signal, () => new Cancelled({ cause: signal.reason }))
    } finally {
      work.waiters -= 1
      if (work.waiters === 0) {
        work.controller.abort()
        if (this.#works.get(key) === work) this.#works.delete(key)
      }
    }
  }

  #begin(key: string, start: (signal: AbortSignal) => Promise<Result>): Work<Result> {
    const controller = new AbortController()
    const promise = start(controller.signal)
    // Nobody may be left to hear of it.
    promise.catch(() => undefined)
    const work: Work<Result> = { promise, controller, waiters: 0 }
    this.#works.set(key, work)
    return work
  }
}

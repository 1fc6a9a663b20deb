import { setTimeout as sleep } from 'node:timers/promises'
import { ExecutorLost } from './executor-lost.ts'
import type { Executor } from './open-executor.ts'

/** Between two tries to open a session: doubled each time from the first to the last. */
const REOPEN_MS = 100
const REOPEN_MAX_MS = 5_000
/** A session that held for so long was a good one: the next loss begins with a short wait again. */
const HELD_MS = 30_000

/**
 * One session with an executor after the other. A session that is lost for good never comes back, and whoever kept it would fail for
 * ever; so who needs the executor next gets a new session. What ran in the old one is not started again: that is for who asked for it.
 */
export class LastingExecutor implements AsyncDisposable {
  readonly #open: () => Promise<Executor>
  readonly #closing = new AbortController()
  #current: Promise<Executor> | undefined
  #tries = 0
  #triedAt = 0

  /** `open` is called for each session, one at a time. */
  constructor(open: () => Promise<Executor>) {
    this.#open = open
  }

  /** The executor in a session that is not lost. Throws what kept a new one from being opened; the next who asks tries again. */
  async current(): Promise<Executor> {
    const known = this.#current
    const executor = await (known ?? this.#next())
    if (!executor.isLost) return executor
    // Somebody who came before us may have seen it first.
    if (this.#current === known) this.#current = undefined
    return this.#current ?? this.#next()
  }

  /** Ends the session there is, and opens no other. */
  async close(): Promise<void> {
    this.#closing.abort()
    const last = await this.#current?.catch(() => undefined)
    await last?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #next(): Promise<Executor> {
    const opening = this.#reopen()
    this.#current = opening
    opening.catch(() => {
      if (this.#current === opening) this.#current = undefined
    })
    return opening
  }

  async #reopen(): Promise<Executor> {
    const { signal } = this.#closing
    const sinceMs = performance.now() - this.#triedAt
    if (sinceMs > HELD_MS) this.#tries = 0
    const waitMs = this.#tries === 0 ? 0 : Math.min(REOPEN_MAX_MS, REOPEN_MS * 2 ** (this.#tries - 1)) - sinceMs
    if (waitMs > 0) await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    if (signal.aborted) throw new ExecutorLost('it was closed')
    this.#tries += 1
    try {
      const executor = await this.#open()
      if (!signal.aborted) return executor
      await executor.close()
      throw new ExecutorLost('it was closed')
    } finally {
      this.#triedAt = performance.now()
    }
  }
}

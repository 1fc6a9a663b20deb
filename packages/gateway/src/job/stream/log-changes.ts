import { setTimeout as sleep } from 'node:timers/promises'
import type { Logs } from '@parley/store'
import type { Logger } from 'pino'

/** A log that grows all the time is told about this often: whoever is told reads all of it again. */
const QUIET_MS = 100
const RETRY_MS = 1_000
/** What changed is all that matters, so that hardly anything is kept for us. */
const FOLLOW_BUFFER_BYTES = 64 * 1024

/** Tells that a log has changed: at once, then once per moment while it goes on, and always after the last change. */
export class LogChanges {
  readonly #logs: Logs
  readonly #log: Logger
  readonly #watched = new Map<string, WatchedLog>()

  constructor(logs: Logs, log: Logger) {
    this.#logs = logs
    this.#log = log
  }

  /** Hears of every append after the answer; the answer ends it. */
  async watch(name: string, changed: () => void): Promise<() => void> {
    const watched = this.#watched.get(name) ?? new WatchedLog(this.#logs, name, this.#log)
    this.#watched.set(name, watched)
    // By itself: the same function may watch twice.
    const listener = () => changed()
    watched.listeners.add(listener)
    const end = () => {
      watched.listeners.delete(listener)
      if (watched.listeners.size > 0) return
      watched.stop()
      if (this.#watched.get(name) === watched) this.#watched.delete(name)
    }
    try {
      await watched.ready
    } catch (error) {
      end()
      throw error
    }
    return end
  }
}

class WatchedLog {
  readonly listeners = new Set<() => void>()
  /** Settles when nothing can be missed any more. */
  readonly ready: Promise<void>
  readonly #logs: Logs
  readonly #name: string
  readonly #log: Logger
  readonly #controller = new AbortController()
  #dirty = false
  #quiet: NodeJS.Timeout | undefined

  constructor(logs: Logs, name: string, log: Logger) {
    this.#logs = logs
    this.#name = name
    this.#log = log
    this.ready = this.#begin()
  }

  stop(): void {
    this.#controller.abort()
    clearTimeout(this.#quiet)
  }

  async #begin(): Promise<void> {
    const { seq } = await this.#logs.end(this.#name)
    void this.#run(seq)
  }

  async #run(from: number): Promise<void> {
    const { signal } = this.#controller
    let seq = from
    while (!signal.aborted) {
      try {
        for await (const entry of this.#logs.follow(this.#name, { seq }, { bufferBytes: FOLLOW_BUFFER_BYTES, signal })) {
          seq = entry.seq + 1
          this.#changed()
        }
        // Closed or deleted: the last change there is.
        return this.#changed()
      } catch (error) {
        this.#log.warn({ err: error, log: this.#name }, 'a log cannot be watched now; trying again')
        await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
  }

  #changed(): void {
    if (this.#controller.signal.aborted) return
    if (this.#quiet !== undefined) {
      this.#dirty = true
      return
    }
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined
      if (!this.#dirty) return
      this.#dirty = false
      this.#changed()
    }, QUIET_MS).unref()
    for (const listener of this.listeners) listener()
  }
}

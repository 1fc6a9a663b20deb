import type { EngineEvent } from '@parley/agent'

export interface SilenceOptions {
  /** After how long somebody who watches is told, and how long after that again. */
  readonly firstMs: number
  readonly everyMs: number
  /** Called with how long nothing was heard. */
  readonly say: (waitedMs: number) => void
}

/**
 * Notices that an engine waits for its model: a turn is under way, nothing runs, and nothing is heard. What the engine runs
 * itself, and a wait that it announced, is no silence of the model.
 */
export class Silence {
  readonly #options: SilenceOptions
  readonly #running = new Set<string>()
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: SilenceOptions) {
    this.#options = options
  }

  /** A turn begins. */
  begin(): void {
    this.#running.clear()
    this.#since = performance.now()
    this.#after(this.#options.firstMs)
  }

  heard(event: EngineEvent): void {
    if (this.#timer === undefined) return
    if ('call' in event && event.type.endsWith('_begin')) this.#running.add(event.call)
    if ('call' in event && event.type.endsWith('_end')) this.#running.delete(event.call)
    this.#since = performance.now() + (event.type === 'retry' ? event.waitMs : 0)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #after(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#due(), ms)
  }

  /** Pieces of an answer come by the thousand, so they do not set the timer anew: it looks how long ago the last one was. */
  #due(): void {
    const { firstMs, everyMs, say } = this.#options
    const waitedMs = performance.now() - this.#since
    if (this.#running.size > 0) return this.#after(firstMs)
    if (waitedMs < firstMs) return this.#after(firstMs - waitedMs)
    say(waitedMs)
    this.#after(everyMs)
  }
}

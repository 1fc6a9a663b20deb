/** Wakes whoever waits in this process. Carries names only; whoever is woken reads again. */
export class Signals {
  readonly #listeners = new Map<string, Set<(name: string) => void>>()
  readonly #anything = new Set<(name: string | undefined) => void>()
  #ended = false

  /** The store is closing: waits end, nothing will be signalled any more. */
  get ended(): boolean {
    return this.#ended
  }

  emit(name: string): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(name)
    for (const listener of this.#anything) listener(name)
  }

  /** Anything may have changed while nobody was listening: everybody is woken. */
  emitAll(): void {
    for (const [name, listeners] of this.#listeners) for (const listener of listeners) listener(name)
    for (const listener of this.#anything) listener(undefined)
  }

  on(name: string, listener: (name: string) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name)
    }
  }

  /** Hears every name, and `undefined` when anything may have changed. */
  onAny(listener: (name: string | undefined) => void): () => void {
    this.#anything.add(listener)
    return () => this.#anything.delete(listener)
  }

  watch(name: string): Watch {
    return new Watch(this, name)
  }

  /** How many names somebody waits for: what is left after everybody went is a leak. */
  get size(): number {
    return this.#listeners.size + this.#anything.size
  }

  end(): void {
    this.#ended = true
    this.emitAll()
  }
}

/** Remembers a signal from the moment it is made, so that nothing is lost between a read and the wait after it. */
export class Watch {
  readonly #signals: Signals
  readonly #off: () => void
  #changed = false
  #wake: (() => void) | undefined

  constructor(signals: Signals, name: string) {
    this.#signals = signals
    this.#off = signals.on(name, () => {
      this.#changed = true
      this.#wake?.()
    })
  }

  /** True as soon as something was signalled since the last call; false after `ms`, on abort, or when the store closes. */
  async changed(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.#changed && ms > 0 && !this.#signals.ended && signal?.aborted !== true) await this.#sleep(ms, signal)
    const changed = this.#changed && !this.#signals.ended && signal?.aborted !== true
    this.#changed = false
    return changed
  }

  end(): void {
    this.#off()
  }

  #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    const abort = () => resolve()
    signal?.addEventListener('abort', abort, { once: true })
    this.#wake = resolve
    return promise.finally(() => {
      this.#wake = undefined
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    })
  }
}

import { type GatewayCaller } from '@parley/access'
import type { Link } from '@parley/rpc'

/**
 * Where the streams of one link wait while its reader lags. Whoever is stopped leaves at once, so that a client that
 * subscribes again and again without reading holds no more than one that does it once.
 */
export class StreamGate {
  readonly #link: Link<GatewayCaller>
  readonly #waiting = new Set<() => void>()
  #draining = false

  constructor(link: Link<GatewayCaller>) {
    this.#link = link
  }

  /** Whether somebody waits for the reader now: until then there is no use in fetching more for it. */
  get closed(): boolean {
    return this.#waiting.size > 0
  }

  /** Answers when the reader takes more, or the signal fires. */
  async opened(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    this.#drain()
    const { promise, resolve } = Promise.withResolvers<void>()
    const leave = () => resolve()
    this.#waiting.add(leave)
    signal.addEventListener('abort', leave, { once: true })
    await promise
    this.#waiting.delete(leave)
    signal.removeEventListener('abort', leave)
  }

  /** One question to the link at a time, however many wait for its answer, and also when all of them have left. */
  #drain(): void {
    if (this.#draining) return
    this.#draining = true
    void this.#link.drained().then(() => {
      this.#draining = false
      for (const leave of this.#waiting) leave()
    })
  }
}

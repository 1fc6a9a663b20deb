import { RemoteFailure } from '@parley/rpc/line-peer'
import { SEARCHES_MAX } from './bounds.ts'

/** Searches under way. A new one with the token of an old one takes its place. */
export class Searches {
  readonly #running = new Set<AbortController>()
  readonly #byToken = new Map<string, AbortController>()

  /** Undefined: it was replaced by another. */
  async run<T>(token: string | undefined, search: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (token !== undefined) this.#byToken.get(token)?.abort()
    if (this.#running.size >= SEARCHES_MAX) throw new RemoteFailure('invalid_request', `${SEARCHES_MAX} searches are under way`)
    const controller = new AbortController()
    this.#running.add(controller)
    if (token !== undefined) this.#byToken.set(token, controller)
    try {
      const found = await search(controller.signal)
      return controller.signal.aborted ? undefined : found
    } catch (error) {
      if (controller.signal.aborted) return undefined
      throw error
    } finally {
      this.#running.delete(controller)
      if (token !== undefined && this.#byToken.get(token) === controller) this.#byToken.delete(token)
    }
  }

  stop(): void {
    for (const controller of this.#running) controller.abort()
  }
}

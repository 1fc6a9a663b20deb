import { WireError } from '@parley/fetch/browser'
import { type JsonObject, messageOf } from '@parley/protocol/wire'
import type { ListKind } from '../../service.ts'
import { type ClientSubscriptions, type Unsubscribe, Watchers } from './subscriptions.ts'

export interface LegacySubscriptionsParts {
  readonly limit: number
  readonly request: (method: string, params: JsonObject) => Promise<unknown>
  readonly warn: (message: string) => void
}

/** `resources/subscribe` is sent once per resource, however many watch it; list changes come unasked. */
export class LegacySubscriptions implements ClientSubscriptions {
  readonly #parts: LegacySubscriptionsParts
  readonly #watchers = new Watchers()
  readonly #pending = new Map<string, Promise<unknown>>()

  constructor(parts: LegacySubscriptionsParts) {
    this.#parts = parts
  }

  async subscribe(uri: string, changed: () => void): Promise<Unsubscribe> {
    if (this.#watchers.uris.length >= this.#parts.limit)
      throw new WireError('overloaded', `at most ${this.#parts.limit} subscriptions`)
    // Each subscriber gets a function of its own, so that the same callback can watch twice.
    const watcher = (): void => changed()
    if (this.#watchers.add(uri, watcher)) this.#pending.set(uri, this.#parts.request('resources/subscribe', { uri }))
    try {
      await this.#pending.get(uri)
    } catch (error) {
      if (this.#watchers.remove(uri, watcher)) this.#pending.delete(uri)
      throw error
    }
    return () => this.#unsubscribe(uri, watcher)
  }

  watchLists(changed: (kind: ListKind) => void): () => void {
    const watcher = (kind: ListKind): void => changed(kind)
    this.#watchers.addLists(watcher)
    return () => this.#watchers.removeLists(watcher)
  }

  notified(method: string, params: JsonObject): boolean {
    return this.#watchers.notified(method, params)
  }

  async renew(): Promise<void> {
    for (const uri of this.#watchers.uris) {
      try {
        await this.#parts.request('resources/subscribe', { uri })
      } catch (error) {
        this.#parts.warn(`the new session refused to watch ${uri}: ${messageOf(error)}`)
      }
    }
    this.#watchers.tellAll()
  }

  close(): void {}

  async #unsubscribe(uri: string, watcher: () => void): Promise<void> {
    if (!this.#watchers.remove(uri, watcher)) return
    this.#pending.delete(uri)
    await this.#parts.request('resources/unsubscribe', { uri }).catch((error: unknown) => {
      // With the connection the subscription is gone anyway.
      if (error instanceof WireError && error.code === 'closed') return
      this.#parts.warn(`resources/unsubscribe ${uri} failed: ${messageOf(error)}`)
    })
  }
}

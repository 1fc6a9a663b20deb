import { type JsonObject, messageOf, ToolError } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { MountTable } from './mount-table.ts'
import type { SubscriptionShelf } from './ports.ts'
import { VERSION_META, type WatchTable } from './watch-table.ts'

export interface OwnSubscriptionsParts<C extends Caller> {
  readonly table: MountTable<C>
  readonly watches: WatchTable<C>
  readonly shelf: SubscriptionShelf | undefined
  readonly limit: number
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** The index is another one. */
  readonly changed: () => void
}

/** What the agent itself watches, whoever of its clients said so: kept until it is ended, also while its mount is not there. */
export class OwnSubscriptions<C extends Caller> {
  readonly #parts: OwnSubscriptionsParts<C>
  readonly #stops = new Map<string, () => void>()

  constructor(parts: OwnSubscriptionsParts<C>) {
    this.#parts = parts
  }

  /** Takes up what was kept. */
  async restore(): Promise<void> {
    for (const uri of (await this.#parts.shelf?.list()) ?? []) {
      try {
        this.#hold(uri, this.#parts.watches.resume(uri, this.#news(uri)))
      } catch (error) {
        this.#parts.log('warn', `the subscription to ${uri} was not taken up: ${messageOf(error)}`)
      }
    }
  }

  async add(uri: string): Promise<void> {
    if (this.#stops.has(uri)) return
    const { limit, shelf } = this.#parts
    if (this.#stops.size >= limit)
      throw new ToolError('quota_exceeded', `the agent has ${limit} subscriptions, the most that ownSubscriptions allows`, {
        hint: 'end one with resources_unsubscribe',
      })
    const kept = this.#parts.watches.keep(uri, this.#news(uri))
    this.#hold(uri, kept)
    await shelf?.add(uri)
    await kept.tried
    this.#parts.changed()
  }

  /** False when there was none. */
  async remove(uri: string): Promise<boolean> {
    const stop = this.#stops.get(uri)
    if (stop === undefined) return false
    this.#stops.delete(uri)
    stop()
    await this.#parts.shelf?.remove(uri)
    this.#parts.changed()
    return true
  }

  entry(uri: string): JsonObject {
    const { table, watches } = this.#parts
    const { state, lastError } = watches.standing(uri)
    const mount = table.findResource(uri)?.mount.name ?? null
    return { mount, uri, state, last_error: lastError ?? null, version: watches.version(uri) ?? null }
  }

  index(): JsonObject {
    return { subscriptions: [...this.#stops.keys()].map((uri) => this.entry(uri)) }
  }

  close(): void {
    for (const stop of this.#stops.values()) stop()
    this.#stops.clear()
  }

  #hold(uri: string, { stop }: { readonly stop: () => void }): void {
    this.#stops.set(uri, stop)
  }

  #news(uri: string): (meta?: JsonObject) => void {
    return (meta) => {
      const version = meta?.[VERSION_META]
      if (typeof version === 'number') this.#parts.shelf?.updated?.(uri, version)
    }
  }
}

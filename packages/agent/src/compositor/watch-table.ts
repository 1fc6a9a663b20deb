import { isJsonObject, type JsonObject, messageOf, RecentMap, RpcError } from '@parley/protocol'
import type { Caller, Client } from '@parley/rpc'
import type { CompositorLimits } from './compositor-limits.ts'
import type { MountTable } from './mount-table.ts'
import type { MountedServer } from './mounted-server.ts'

export const VERSION_META = 'parley/version'

/** `isCertain`: its server says so; otherwise it may have changed while nobody watched. */
type Changed = (meta?: JsonObject, isCertain?: boolean) => void

/** One resource that somebody watches, by the URI that clients see. */
interface Watched {
  readonly uri: string
  readonly watchers: Set<Changed>
  /** The connection that its server was asked on to tell of changes. */
  client: Client | undefined
  starting: Promise<void> | undefined
  stop: (() => Promise<void>) | undefined
  lastError: string | undefined
  /** Somebody was told of it before, or would have been: a new connection is news to them. */
  wasWatched: boolean
}

/** How a watched resource stands: told of, not told of because its mount is not there, or refused. */
export interface WatchStanding {
  readonly state: 'active' | 'inactive' | 'failed'
  readonly lastError: string | undefined
}

export interface WatchTableParts<C extends Caller> {
  readonly table: MountTable<C>
  readonly limits: CompositorLimits
  readonly now: () => number
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** How some watched resource stands is different now, or one changed. */
  readonly changed: () => void
}

/**
 * All that is watched at the mounts: each resource once at its server, however many watch it here. A watch outlives connections and
 * even the mount: when there is a new one it is asked again, and whoever watches is told to look.
 */
export class WatchTable<C extends Caller> {
  readonly #parts: WatchTableParts<C>
  readonly #watched = new Map<string, Watched>()
  /** Kept for a while after nobody watches, so that a number never comes twice. */
  readonly #versions: RecentMap<string, number>

  constructor(parts: WatchTableParts<C>) {
    this.#parts = parts
    this.#versions = new RecentMap(parts.limits.subscriptions * 2)
  }

  /** Throws when its server does not let it be watched. */
  async add(uri: string, changed: Changed): Promise<() => void> {
    // Each gets a function of its own, so that the same one can watch twice.
    const watcher: Changed = (meta, isCertain) => changed(meta, isCertain)
    const watched = this.#enter(uri, watcher)
    try {
      const { mount } = this.#parts.table.resource(uri)
      await this.#begin(watched, mount, await mount.ready())
    } catch (error) {
      this.#leave(watched, watcher)
      throw error
    }
    return () => this.#leave(watched, watcher)
  }

  /** The same for somebody who goes on waiting: it is tried now, and again whenever the mount is there anew. */
  keep(uri: string, changed: Changed): { readonly tried: Promise<unknown>; readonly stop: () => void } {
    const watcher: Changed = (meta, isCertain) => changed(meta, isCertain)
    const watched = this.#enter(uri, watcher)
    const mount = this.#parts.table.findResource(uri)?.mount
    const tried = mount === undefined ? Promise.resolve(false) : this.#try(watched, mount)
    return { tried, stop: () => this.#leave(watched, watcher) }
  }

  /** The same for what was watched before, and not meanwhile. */
  resume(uri: string, changed: Changed): { readonly tried: Promise<unknown>; readonly stop: () => void } {
    const isConnected = this.#parts.table.findResource(uri)?.mount.upstream.client !== undefined
    const kept = this.keep(uri, changed)
    const watched = this.#watched.get(uri)
    if (watched === undefined) return kept
    watched.wasWatched = true
    // A new connection is news by itself; on one that is there nothing else says that it may have changed.
    if (isConnected) void kept.tried.then((isWatched) => (isWatched === true ? this.#tell(watched) : undefined))
    return kept
  }

  standing(uri: string): WatchStanding {
    const watched = this.#watched.get(uri)
    const lastError = watched?.lastError
    if (lastError !== undefined) return { state: 'failed', lastError }
    return { state: watched?.client === undefined ? 'inactive' : 'active', lastError }
  }

  /** A number that grew with each change that was told; `undefined`: none was. */
  version(uri: string): number | undefined {
    return this.#versions.peek(uri)
  }

  /** A mount has a new connection: it is asked for all that is watched of it, and anything may have changed meanwhile. */
  connected(mount: MountedServer<C>): void {
    for (const watched of this.#ofMount(mount)) {
      const { wasWatched } = watched
      watched.client = undefined
      watched.stop = undefined
      void this.#try(watched, mount).then((isWatched) => {
        if (isWatched && wasWatched) this.#tell(watched)
      })
    }
  }

  /** Whether somebody waits for something of this mount. */
  wants(mount: MountedServer<C>): boolean {
    for (const _watched of this.#ofMount(mount)) return true
    return false
  }

  /** The connection of some mount is gone. */
  lost(): void {
    for (const watched of this.#watched.values()) {
      if (watched.client?.isClosed !== true) continue
      watched.client = undefined
      watched.stop = undefined
    }
    this.#parts.changed()
  }

  /** A server has other resources than before: what it refused may be there now. */
  listChanged(mount: MountedServer<C>): void {
    for (const watched of this.#ofMount(mount)) if (watched.lastError !== undefined) void this.#try(watched, mount)
  }

  *#ofMount(mount: MountedServer<C>): Iterable<Watched> {
    for (const watched of this.#watched.values()) if (this.#parts.table.findResource(watched.uri)?.mount === mount) yield watched
  }

  #enter(uri: string, watcher: Changed): Watched {
    const known = this.#watched.get(uri)
    if (known !== undefined) {
      known.watchers.add(watcher)
      return known
    }
    const { subscriptions } = this.#parts.limits
    if (this.#watched.size >= subscriptions)
      throw new RpcError('overloaded', `${subscriptions} resources are watched, the most that subscriptions allows`)
    const watched: Watched = {
      uri,
      watchers: new Set([watcher]),
      client: undefined,
      starting: undefined,
      stop: undefined,
      lastError: undefined,
      wasWatched: false,
    }
    this.#watched.set(uri, watched)
    return watched
  }

  #leave(watched: Watched, watcher: Changed): void {
    if (!watched.watchers.delete(watcher) || watched.watchers.size > 0) return
    this.#watched.delete(watched.uri)
    this.#stop(watched)
  }

  #stop({ uri, stop }: Watched): void {
    stop?.().catch((error: unknown) => this.#parts.log('warn', `ending the watch of ${uri} failed: ${messageOf(error)}`))
  }

  /** Whether it is watched now. */
  async #try(watched: Watched, mount: MountedServer<C>): Promise<boolean> {
    try {
      await this.#begin(watched, mount, await mount.ready())
      return true
    } catch {
      return false
    } finally {
      this.#parts.changed()
    }
  }

  /** One at a time: one that is under way may be about a connection that is gone. */
  async #begin(watched: Watched, mount: MountedServer<C>, client: Client): Promise<void> {
    while (watched.client !== client) {
      if (watched.starting === undefined) {
        watched.starting = this.#subscribe(watched, mount, client).finally(() => {
          watched.starting = undefined
        })
        return watched.starting
      }
      await watched.starting.catch(() => {})
    }
  }

  async #subscribe(watched: Watched, mount: MountedServer<C>, client: Client): Promise<void> {
    const { name } = this.#parts.table.resource(watched.uri)
    try {
      const { resources } = client.server.capabilities
      if (!isJsonObject(resources) || resources.subscribe !== true)
        throw new RpcError('subscribe_unsupported', `mount ${mount.name} has no subscriptions`)
      const stop = await client.subscribe(name, () => this.#tell(watched, true))
      watched.client = client
      watched.stop = stop
      watched.lastError = undefined
      watched.wasWatched = true
      // Whoever wanted it has gone meanwhile.
      if (this.#watched.get(watched.uri) !== watched) this.#stop(watched)
    } catch (error) {
      // A connection that was lost says nothing about the resource: the next one is asked again.
      if (!client.isClosed) watched.lastError = messageOf(error)
      throw error
    }
  }

  #tell(watched: Watched, isCertain = false): void {
    const version = Math.max(this.#parts.now(), (this.#versions.peek(watched.uri) ?? 0) + 1)
    this.#versions.set(watched.uri, version)
    for (const changed of watched.watchers) changed({ [VERSION_META]: version }, isCertain)
    this.#parts.changed()
  }
}

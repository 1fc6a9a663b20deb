import { AGENT_LIMITS, type JsonObject, messageOf, RpcError, ToolError } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import { type GatedCalls, NOBODY_WAITS } from './gated-calls.ts'
import type { MountTable } from './mount-table.ts'
import type { MountedServer } from './mounted-server.ts'
import type { MountCall, SubscriptionShelf } from './ports.ts'
import { readContent } from './shown/resource-content.ts'
import { VERSION_META, type WatchTable } from './watch-table.ts'

export interface OwnSubscriptionsParts<C extends Caller> {
  readonly table: MountTable<C>
  readonly watches: WatchTable<C>
  readonly gated: GatedCalls<C>
  readonly shelf: SubscriptionShelf<C> | undefined
  readonly limit: number
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** The index is another one. */
  readonly changed: () => void
}

/** One subscription of the agent's. It is watched from when the gate lets it be until that is decided otherwise. */
interface Own<C extends Caller> {
  /** For whom it is watched. */
  readonly caller: C
  /** Ends watching; `undefined` while it is not watched. */
  stop: (() => void) | undefined
  /** Why the gate does not let it be watched. */
  refusal: string | undefined
  /** It was kept from before: somebody let it through then. */
  wasKept: boolean
  /** Grows whenever it is decided about: an earlier decision that is still under way then counts no more. */
  round: number
}

/**
 * What the agent itself watches, whoever of its clients said so: kept until it is ended, also while its mount is not there. What was kept, and
 * what outlived its mount, passes the gate anew when the mount comes. Nobody waits for that, so nobody is asked: what was kept from before
 * stays as somebody decided it then; of a mount that was attached anew, what is not allowed outright is kept and not watched.
 */
export class OwnSubscriptions<C extends Caller> {
  readonly #parts: OwnSubscriptionsParts<C>
  readonly #own = new Map<string, Own<C>>()

  constructor(parts: OwnSubscriptionsParts<C>) {
    this.#parts = parts
  }

  /** Remembers what was kept. Each is taken up when its mount is there: before that nobody knows whose resource it is. */
  async restore(): Promise<void> {
    const { shelf } = this.#parts
    if (shelf === undefined) return
    for (const uri of await shelf.list()) this.#own.set(uri, { ...startOf(shelf.caller), wasKept: true })
  }

  async add(uri: string, caller: C): Promise<void> {
    const known = this.#own.get(uri)
    if (known?.stop !== undefined) return
    const { limit, shelf, watches, changed } = this.#parts
    if (known === undefined && this.#own.size >= limit)
      throw new ToolError('quota_exceeded', `the agent has ${limit} subscriptions, the most that ownSubscriptions allows`, {
        hint: 'end one with resources_unsubscribe',
      })
    const { tried, stop } = watches.keep(uri, this.#news(uri))
    const own = { ...startOf(caller), stop }
    this.#own.set(uri, own)
    try {
      // Kept before it is read: what changes from now on is told.
      await shelf?.add(uri)
    } catch (error) {
      this.#undo(uri, own, known)
      throw error
    }
    await tried
    if (shelf?.known !== undefined) await shelf.known(uri, await this.#digest(uri))
    changed()
  }

  /** It cannot be kept, so it is as it was before. */
  #undo(uri: string, own: Own<C>, before: Own<C> | undefined): void {
    own.stop?.()
    if (this.#own.get(uri) !== own) return
    if (before === undefined) this.#own.delete(uri)
    else this.#own.set(uri, before)
    this.#parts.changed()
  }

  /** False when there was none. */
  async remove(uri: string): Promise<boolean> {
    const own = this.#own.get(uri)
    if (own === undefined) return false
    this.#own.delete(uri)
    own.stop?.()
    await this.#parts.shelf?.remove(uri)
    this.#parts.changed()
    return true
  }

  /** A mount came. Settles when all that is kept of it is taken up, or is not. */
  async arrived(mount: MountedServer<C>): Promise<void> {
    const its = [...this.#own].filter(([uri]) => this.#parts.table.findResource(uri)?.mount === mount)
    await Promise.all(its.map(([uri, own]) => this.#takeUp(uri, own)))
  }

  /** Policies are others now. What they deny is watched no more; what they would ask about stays as somebody has decided it. */
  async reconsider(): Promise<void> {
    await Promise.all([...this.#own].map(([uri, own]) => this.#reconsider(uri, own)))
  }

  entry(uri: string): JsonObject {
    const { table, watches } = this.#parts
    const refusal = this.#own.get(uri)?.refusal
    const { state, lastError } = refusal === undefined ? watches.standing(uri) : { state: 'failed', lastError: refusal }
    const mount = table.findResource(uri)?.mount.name ?? null
    return { mount, uri, state, last_error: lastError ?? null, version: watches.version(uri) ?? null }
  }

  index(): JsonObject {
    return { subscriptions: [...this.#own.keys()].map((uri) => this.entry(uri)) }
  }

  close(): void {
    for (const own of this.#own.values()) own.stop?.()
    this.#own.clear()
  }

  async #takeUp(uri: string, own: Own<C>): Promise<void> {
    const round = this.#stop(own)
    const call = this.#callOf(uri, own)
    if (call === undefined) return
    const { wasKept } = own
    own.wasKept = false
    if (wasKept && (await this.#parts.gated.stands(call)).wouldAsk) {
      if (!this.#isOver(uri, own, round)) this.#watch(uri, own)
      return
    }
    try {
      const allowed = await this.#parts.gated.allow(call, NOBODY_WAITS)
      if (this.#isOver(uri, own, round)) return allowed.failed(new RpcError('internal_error', 'it was decided about anew'))
      this.#watch(uri, own)
      allowed.returned({})
    } catch (error) {
      if (!this.#isOver(uri, own, round)) this.#refuse(uri, own, messageOf(error))
    }
  }

  async #reconsider(uri: string, own: Own<C>): Promise<void> {
    const call = this.#callOf(uri, own)
    if (call === undefined) return
    const { round } = own
    const { denial, wouldAsk } = await this.#parts.gated.stands(call)
    if (this.#isOver(uri, own, round)) return
    const isWatched = own.stop !== undefined
    if (denial === undefined) return isWatched ? undefined : this.#takeUp(uri, own)
    if (isWatched && wouldAsk) return
    this.#stop(own)
    this.#refuse(uri, own, denial.message)
  }

  #watch(uri: string, own: Own<C>): void {
    own.refusal = undefined
    own.stop = this.#parts.watches.resume(uri, this.#news(uri)).stop
    this.#parts.changed()
  }

  #stop(own: Own<C>): number {
    own.stop?.()
    own.stop = undefined
    own.round += 1
    return own.round
  }

  #refuse(uri: string, own: Own<C>, why: string): void {
    const isNews = own.refusal !== why
    own.refusal = why
    if (isNews) this.#parts.log('warn', `the subscription to ${uri} is kept and not watched: ${why}`)
    this.#parts.changed()
  }

  #isOver(uri: string, own: Own<C>, round: number): boolean {
    return own.round !== round || this.#own.get(uri) !== own
  }

  #callOf(uri: string, { caller }: Own<C>): MountCall<C> | undefined {
    const target = this.#parts.table.findResource(uri)
    if (target === undefined) return undefined
    const { mount, name } = target
    return { caller, kind: 'resource', mount: mount.name, name, arguments: {}, annotations: undefined, unattended: true }
  }

  #news(uri: string): (meta?: JsonObject, isCertain?: boolean) => void {
    return (meta, isCertain = false) => {
      const version = meta?.[VERSION_META]
      if (typeof version === 'number') this.#parts.shelf?.updated?.(uri, version, { isCertain, read: () => this.#digest(uri) })
    }
  }

  /** What stands for the content of a resource now; null where that cannot be known. Nobody waits for it, so nobody is asked. */
  async #digest(uri: string): Promise<string | null> {
    const own = this.#own.get(uri)
    const target = this.#parts.table.findResource(uri)
    const call = own === undefined ? undefined : this.#callOf(uri, own)
    if (target === undefined || call === undefined) return null
    try {
      const allowed = await this.#parts.gated.allow(call, NOBODY_WAITS)
      try {
        const client = await target.mount.ready()
        const signal = AbortSignal.timeout(AGENT_LIMITS.digestMs)
        const result = await client.request('resources/read', { uri: target.name }, { signal })
        allowed.returned(result)
        const { version, bytes } = readContent(result)
        return bytes > AGENT_LIMITS.digestBytes ? null : version
      } catch (error) {
        allowed.failed(error)
        throw error
      }
    } catch {
      return null
    }
  }
}

const startOf = <C extends Caller>(caller: C): Own<C> => ({
  caller,
  stop: undefined,
  refusal: undefined,
  wasKept: false,
  round: 0,
})

import { type JsonObject, RpcError } from '@parley/protocol/wire'
import type { Caller, Link, ListKind, Service } from '../service.ts'
import { charge } from '../limit/charge.ts'
import type { ServedWire } from './served-wire.ts'
import type { Outlet } from './outlet.ts'

export interface SubscriptionText {
  updated(uri: string, meta: JsonObject | undefined): string
  listChanged(kind: ListKind): string
}

interface Watch {
  /** Settles with the service's answer: whoever asks for the same resource meanwhile gets the same one. */
  ready: Promise<void>
  stop: () => void
}

/**
 * What one client wants to hear about. A change is remembered, not queued: a reader that lags is told once per
 * resource when there is room again, so memory is bounded by the number of subscriptions.
 */
export class Subscriptions<C extends Caller> {
  readonly #service: Service<C>
  readonly #caller: C
  readonly #link: Link<C> | undefined
  readonly #outlet: Outlet
  readonly #text: SubscriptionText
  readonly #served: Pick<ServedWire<C>, 'callers' | 'limits'>
  readonly #watches = new Map<string, Watch>()
  readonly #lists = new Set<ListKind>()
  readonly #changed = new Map<string, JsonObject | undefined>()
  readonly #changedLists = new Set<ListKind>()
  /** What else is to be said, made when there is room for it: of what changes twice meanwhile the later alone is told. */
  readonly #sayings = new Map<string, () => string>()
  #endLists: (() => void) | undefined
  #waiting = false
  #ended = false

  constructor(start: {
    readonly service: Service<C>
    readonly caller: C
    readonly link: Link<C> | undefined
    readonly outlet: Outlet
    readonly text: SubscriptionText
    readonly served: Pick<ServedWire<C>, 'callers' | 'limits'>
  }) {
    this.#service = start.service
    this.#caller = start.caller
    this.#link = start.link
    this.#outlet = start.outlet
    this.#text = start.text
    this.#served = start.served
  }

  /** Remembers changes without telling them, until `release`: something else must be said first. */
  hold(): void {
    this.#waiting = true
  }
  release(): void {
    this.#waiting = false
    this.#flush()
  }

  async watch(uri: string): Promise<void> {
    charge(this.#caller)
    const known = this.#watches.get(uri)
    if (known !== undefined) return known.ready
    if (this.#ended) throw new RpcError('internal_error', 'the session has ended')
    const { callers, limits } = this.#served
    if (this.#watches.size >= limits.subscriptions)
      throw new RpcError('overloaded', `at most ${limits.subscriptions} resources can be watched at once`)
    if (callers.watchesOf(this.#caller) >= limits.subscriptionsPerCaller)
      throw new RpcError('overloaded', `one person watches at most ${limits.subscriptionsPerCaller} resources at once`)
    if (this.#service.watch === undefined) throw new RpcError('subscribe_unsupported', 'this server has no subscriptions')
    // Entered before the service answers, so that two requests for one resource make one watch.
    const watch: Watch = { ready: Promise.resolve(), stop: () => undefined }
    this.#watches.set(uri, watch)
    callers.watched(this.#caller, 1)
    watch.ready = this.#begin(uri, watch)
    return watch.ready
  }

  async #begin(uri: string, watch: Watch): Promise<void> {
    try {
      const stop = await this.#service.watch?.(uri, (meta) => this.#resourceChanged(uri, meta), this.#caller, this.#link)
      // Ended or unsubscribed while the service worked, perhaps subscribed anew: then this one belongs to nobody.
      if (this.#watches.get(uri) === watch) watch.stop = stop ?? watch.stop
      else stop?.()
    } catch (error) {
      if (this.#watches.get(uri) === watch) this.#drop(uri)
      throw error
    }
  }

  unwatch(uri: string): void {
    this.#watches.get(uri)?.stop()
    this.#drop(uri)
    this.#changed.delete(uri)
  }

  #drop(uri: string): void {
    if (this.#watches.delete(uri)) this.#served.callers.watched(this.#caller, -1)
  }

  watchLists(kinds: ReadonlySet<ListKind>): void {
    for (const kind of kinds) this.#lists.add(kind)
    this.#endLists ??= this.#service.watchLists?.((kind) => {
      if (this.#ended || !this.#lists.has(kind)) return
      this.#changedLists.add(kind)
      this.#flush()
    }, this.#caller)
  }

  /** Says something of this name as soon as the reader has room. */
  tell(name: string, text: () => string): void {
    if (this.#ended) return
    this.#sayings.set(name, text)
    this.#flush()
  }

  /** After a gap nobody knows what was missed: everything counts as changed. */
  markAllChanged(): void {
    for (const uri of this.#watches.keys()) this.#changed.set(uri, this.#changed.get(uri))
    for (const kind of this.#lists) this.#changedLists.add(kind)
    this.#flush()
  }

  end(): void {
    this.#ended = true
    for (const watch of this.#watches.values()) watch.stop()
    this.#served.callers.watched(this.#caller, -this.#watches.size)
    this.#watches.clear()
    this.#changed.clear()
    this.#changedLists.clear()
    this.#sayings.clear()
    this.#endLists?.()
    this.#endLists = undefined
  }

  #resourceChanged(uri: string, meta: JsonObject | undefined): void {
    if (!this.#watches.has(uri)) return
    this.#changed.set(uri, meta)
    this.#flush()
  }

  #flush(): void {
    if (this.#waiting || this.#ended) return
    for (const kind of this.#changedLists) {
      if (!this.#outlet.send(this.#text.listChanged(kind))) return this.#flushWhenDrained()
      this.#changedLists.delete(kind)
    }
    for (const [uri, meta] of this.#changed) {
      if (!this.#outlet.send(this.#text.updated(uri, meta))) return this.#flushWhenDrained()
      this.#changed.delete(uri)
    }
    for (const [name, text] of this.#sayings) {
      if (!this.#outlet.send(text())) return this.#flushWhenDrained()
      this.#sayings.delete(name)
    }
  }

  #flushWhenDrained(): void {
    this.#waiting = true
    void this.#outlet.drained().then(() => {
      this.#waiting = false
      this.#flush()
    })
  }
}

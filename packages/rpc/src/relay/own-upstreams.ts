import { RpcError } from '@parley/protocol'
import type { Call, Caller, Link } from '../service.ts'
import { askable } from './askable.ts'
import { type Orphans, type RelayParts, Upstream } from './upstream.ts'

/** An upstream for the time of one call. */
export interface Lease<C extends Caller> {
  readonly upstream: Upstream<C>
  release(): void
}

/**
 * The connections of clients that can be asked, each for one client alone: a question need not say which call it belongs to, on
 * a pipe never and over HTTP on the stream that belongs to no call, so whoever shares a connection is asked what others
 * are meant to be. A session has its connection for as long as it lives. A modern call says nothing of which client it comes
 * from, so it has its own, which ends with it: a question that comes late finds nobody rather than somebody else.
 */
export class OwnUpstreams<C extends Caller> {
  readonly #parts: RelayParts
  readonly #byLink = new Map<string, Upstream<C>>()
  readonly #ofCalls = new Set<Upstream<C>>()

  constructor(parts: RelayParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#byLink.size + this.#ofCalls.size
  }

  ofLink(link: Link<C>): Upstream<C> | undefined {
    return this.#byLink.get(link.id)
  }

  open(link: Link<C>, orphans: Orphans): Upstream<C> {
    this.#checkRoom()
    const upstream = new Upstream<C>(this.#parts, askable(link.client.capabilities), orphans)
    this.#byLink.set(link.id, upstream)
    return upstream
  }

  closeLink(link: Link<C>): void {
    const upstream = this.#byLink.get(link.id)
    this.#byLink.delete(link.id)
    if (upstream !== undefined) this.#end(upstream)
  }

  lease({ client }: Call<C>): Lease<C> {
    this.#checkRoom()
    const upstream = new Upstream<C>(this.#parts, askable(client.capabilities), { notified: () => {} })
    this.#ofCalls.add(upstream)
    return {
      upstream,
      release: () => {
        if (this.#ofCalls.delete(upstream)) this.#end(upstream)
      },
    }
  }

  async close(): Promise<void> {
    const all = [...this.#byLink.values(), ...this.#ofCalls]
    this.#byLink.clear()
    this.#ofCalls.clear()
    await Promise.all(all.map((upstream) => upstream.close()))
  }

  #checkRoom(): void {
    const { ownUpstreams } = this.#parts.limits
    if (this.size < ownUpstreams) return
    throw new RpcError(
      'overloaded',
      `at most ${ownUpstreams} clients that declare elicitation, sampling or roots can be served at once; close one, or connect without them`,
    )
  }

  #end(upstream: Upstream<C>): void {
    upstream.close().catch((error: unknown) => this.#parts.log('warn', String(error)))
  }
}

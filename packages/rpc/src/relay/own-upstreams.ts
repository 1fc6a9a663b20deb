import { type JsonObject, RpcError } from '@parley/protocol'
import type { Call, Caller, Link } from '../service.ts'
import { askable } from './askable.ts'
import { type Orphans, type RelayParts, Upstream } from './upstream.ts'

/** An upstream of a modern caller: nothing of theirs lasts, so it goes when it has been idle for a while. */
interface Pooled<C extends Caller> {
  readonly key: string
  readonly upstream: Upstream<C>
  calls: number
  exclusive: boolean
  timer: NodeJS.Timeout | undefined
}
export interface Lease<C extends Caller> {
  readonly upstream: Upstream<C>
  release(): void
}

/** The connections of clients that can be asked: one for each session, and a few for each modern caller. */
export class OwnUpstreams<C extends Caller> {
  readonly #parts: RelayParts
  readonly #byLink = new Map<string, Upstream<C>>()
  readonly #pooled = new Set<Pooled<C>>()

  constructor(parts: RelayParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#byLink.size + this.#pooled.size
  }

  ofLink(link: Link<C>): Upstream<C> | undefined {
    return this.#byLink.get(link.id)
  }

  open(link: Link<C>, orphans: Orphans): Upstream<C> {
    this.#makeRoom()
    const upstream = new Upstream<C>(this.#parts, askable(link.client.capabilities), orphans)
    this.#byLink.set(link.id, upstream)
    return upstream
  }

  closeLink(link: Link<C>): void {
    const upstream = this.#byLink.get(link.id)
    this.#byLink.delete(link.id)
    upstream?.close().catch((error: unknown) => this.#parts.log('warn', String(error)))
  }

  /**
   * An upstream for one modern call. A call that may ask has a pipe to itself, because a question on a pipe does not say
   * which call it belongs to; HTTP says it, and is shared.
   */
  lease({ caller, client }: Call<C>, mayAsk: boolean): Lease<C> {
    const capabilities = askable(client.capabilities)
    const key = `${caller.key}\n${JSON.stringify(capabilities)}`
    const pooled = this.#free(key, mayAsk) ?? this.#pool(key, capabilities)
    clearTimeout(pooled.timer)
    pooled.calls++
    if (mayAsk) pooled.exclusive = true
    let over = false
    return {
      upstream: pooled.upstream,
      release: () => {
        if (over) return
        over = true
        this.#release(pooled, mayAsk)
      },
    }
  }

  async close(): Promise<void> {
    const all = [...this.#byLink.values(), ...[...this.#pooled].map(({ upstream }) => upstream)]
    for (const { timer } of this.#pooled) clearTimeout(timer)
    this.#byLink.clear()
    this.#pooled.clear()
    await Promise.all(all.map((upstream) => upstream.close()))
  }

  #free(key: string, mayAsk: boolean): Pooled<C> | undefined {
    for (const pooled of this.#pooled) {
      if (pooled.key !== key) continue
      if (!mayAsk || !pooled.exclusive || pooled.upstream.client?.kind === 'http') return pooled
    }
    return undefined
  }

  #pool(key: string, capabilities: JsonObject): Pooled<C> {
    this.#makeRoom()
    const upstream = new Upstream<C>(this.#parts, capabilities, { notified: () => {} })
    const pooled: Pooled<C> = { key, upstream, calls: 0, exclusive: false, timer: undefined }
    this.#pooled.add(pooled)
    return pooled
  }

  #release(pooled: Pooled<C>, mayAsk: boolean): void {
    pooled.calls--
    if (mayAsk) pooled.exclusive = false
    if (pooled.calls > 0) return
    pooled.timer = setTimeout(() => this.#drop(pooled), this.#parts.limits.idleUpstreamMs)
    pooled.timer.unref()
  }

  #makeRoom(): void {
    const { ownUpstreams } = this.#parts.limits
    if (this.size < ownUpstreams) return
    const idle = [...this.#pooled].find(({ calls }) => calls === 0)
    if (idle === undefined) {
      throw new RpcError(
        'overloaded',
        `at most ${ownUpstreams} clients that declare elicitation, sampling or roots can be served at once; close one, or connect without them`,
      )
    }
    this.#drop(idle)
  }

  #drop(pooled: Pooled<C>): void {
    clearTimeout(pooled.timer)
    this.#pooled.delete(pooled)
    pooled.upstream.close().catch((error: unknown) => this.#parts.log('warn', String(error)))
  }
}

import { type JsonObject, RpcError, isJsonObject } from '@parley/protocol'
import type { Agreement } from '../client/negotiate.ts'
import { isAtLeast, isLogLevel } from '../core/log-level.ts'
import { MAY_ASK } from '../core/modern-call.ts'
import type { Call, Caller, HeaderParam, Implementation, Link, ListKind, LogLevel, Service, ServiceResult } from '../service.ts'
import { askable, canBeAsked } from './askable.ts'
import { type ForwardParts, forward } from './forward.ts'
import { oncePerSession } from './on-behalf-of.ts'
import { OwnUpstreams } from './own-upstreams.ts'
import { ParkedCalls } from './parked-call.ts'
import { OutputWrapping, unlessVisited } from './translate.ts'
import { type RelayParts, Upstream } from './upstream.ts'

/** A server as it is found in one era, served to clients of either. */
export class ServerRelay<C extends Caller> implements Service<C> {
  readonly #parts: RelayParts
  readonly #shared: Upstream<C>
  readonly #own: OwnUpstreams<C>
  readonly #parked: ParkedCalls
  readonly #forward: ForwardParts
  readonly #links = new Map<string, Link<C>>()
  readonly #levels = new Map<string, LogLevel>()
  #info: Implementation = { name: 'unknown', version: '0' }
  #capabilities: JsonObject = {}
  #instructions: string | undefined

  constructor(parts: RelayParts) {
    this.#parts = parts
    this.#shared = new Upstream(parts, {}, { notified: (method, params) => this.#sharedNotified(method, params) })
    this.#own = new OwnUpstreams(parts)
    this.#parked = new ParkedCalls(parts.limits.parkedCalls, parts.limits.parkedMs)
    this.#forward = {
      callMs: parts.limits.callMs,
      wrapping: new OutputWrapping(),
      log: (message) => parts.log('warn', message),
      levelOf: (id) => this.#levels.get(id),
      onBehalfOf: oncePerSession((call) => ({
        capabilities: askable(call.client.capabilities),
        info: call.client.info,
        stamp: parts.stamp?.(call),
      })),
    }
  }

  get info(): Implementation {
    return this.#info
  }
  get capabilities(): JsonObject {
    return this.#capabilities
  }
  get instructions(): string | undefined {
    return this.#instructions
  }

  /** Dials now, to learn what the server is. */
  async open(): Promise<Agreement> {
    const { server } = await this.#shared.open()
    this.learned(server)
    return server
  }

  /** What the server is, where that is known before anybody needs a connection to it. */
  learned(server: Agreement): void {
    this.#info = server.info
    // Tasks live in a session, and a shared session would show everybody's to everybody.
    const { tasks: _tasks, extensions: _extensions, ...capabilities } = server.capabilities
    this.#capabilities = capabilities
    this.#instructions = server.instructions
  }

  call(method: string, params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    if (call.state !== undefined) return this.#goOn(method, params, call)
    return this.#start(method, params, call)
  }

  notified(method: string, params: JsonObject, link: Link<C> | undefined): void {
    // What one of many says does not concern a server that all of them share.
    const upstream = link === undefined ? undefined : this.#own.ofLink(link)
    upstream?.client
      ?.notify(method, params)
      .catch((error: unknown) => this.#parts.log('warn', `${method} was not taken: ${String(error)}`))
  }

  async watch(uri: string, changed: () => void, _caller: C, link?: Link<C>): Promise<() => void> {
    const upstream = link === undefined ? this.#shared : this.#upstreamOf(link)
    const client = await upstream.open()
    const resources = client.server.capabilities.resources
    if (!isJsonObject(resources) || resources.subscribe !== true)
      throw new RpcError('subscribe_unsupported', 'the upstream server has no subscriptions')
    return upstream.watches.add(client, uri, changed)
  }

  watchLists(changed: (kind: ListKind) => void): () => void {
    return this.#shared.watches.addLists(changed)
  }

  async setLevel(level: LogLevel, link: Link<C>): Promise<void> {
    this.#levels.set(link.id, level)
    const upstream = this.#upstreamOf(link)
    if (upstream !== this.#shared) return upstream.setLevel(level)
    const levels = [...this.#links.values()].flatMap((each) =>
      this.#own.ofLink(each) === undefined ? (this.#levels.get(each.id) ?? []) : [],
    )
    await this.#shared.setLevel(levels.reduce((low, each) => (isAtLeast(each, low) ? low : each), level))
  }

  headerParams(tool: string): readonly HeaderParam[] | Promise<readonly HeaderParam[]> {
    const { client } = this.#shared
    return client === undefined ? this.#shared.open().then((opened) => opened.headerParams(tool)) : client.headerParams(tool)
  }

  opened(link: Link<C>): void {
    this.#links.set(link.id, link)
    // Whoever only listens is told of changes too, and those come by a connection.
    if (this.#shared.client === undefined) this.#shared.open().catch((error: unknown) => this.#parts.log('warn', String(error)))
  }

  closed(link: Link<C>): void {
    this.#links.delete(link.id)
    this.#levels.delete(link.id)
    this.#own.closeLink(link)
  }

  isConnected(): boolean {
    return this.#shared.client !== undefined
  }
  async connect(): Promise<void> {
    await this.#shared.open()
  }

  upstreams(): number {
    return 1 + this.#own.size
  }

  async close(): Promise<void> {
    await Promise.all([this.#shared.close(), this.#own.close()])
  }

  /** Modern servers hear in each request what its client can be asked, so one connection serves all. */
  #start(method: string, params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    if (this.#parts.spoken.era === 'modern' || !canBeAsked(call.client.capabilities)) {
      return forward(this.#forward, this.#shared, { method, params, call })
    }
    if (call.era === 'legacy' && call.link !== undefined)
      return forward(this.#forward, this.#upstreamOf(call.link), { method, params, call })
    return this.#startAskable(method, params, call)
  }

  #upstreamOf(link: Link<C>): Upstream<C> {
    if (this.#parts.spoken.era === 'modern' || !canBeAsked(link.client.capabilities)) return this.#shared
    const known = this.#own.ofLink(link)
    if (known !== undefined) return known
    const own = this.#own.open(link, {
      ask: ({ method, params, signal }, flight) => (flight?.call ?? link).ask(method, params, { signal }),
      notified: (method, params) => this.#tell(link, method, params),
    })
    own.watches.addLists((kind) => link.notify(`notifications/${kind}/list_changed`, {}))
    return own
  }

  #startAskable(method: string, params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    const lease = this.#own.lease(call)
    if (!MAY_ASK.has(method))
      return forward(this.#forward, lease.upstream, { method, params, call }).finally(() => lease.release())
    try {
      const parked = this.#parked.start(call.caller.key, (started) => {
        lease.park(started)
        return forward(this.#forward, lease.upstream, { method, params, call, parked: started }).finally(() => lease.release())
      })
      return this.#parked.next(parked.id, call)
    } catch (error) {
      lease.release()
      throw error
    }
  }

  /** A call that comes back with answers. */
  #goOn(method: string, params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    const state = isJsonObject(call.state) ? call.state : {}
    if (typeof state.parked === 'string') return this.#parked.next(state.parked, call)
    if (state.visited === true) return Promise.resolve(unlessVisited(method, call) ?? this.#start(method, params, call))
    return forward(this.#forward, this.#shared, { method, params, call })
  }

  /** What the shared server says outside any call is for everybody, unless they are different people. */
  #sharedNotified(method: string, params: JsonObject): void {
    const links = [...this.#links.values()].filter((link) => this.#own.ofLink(link) === undefined)
    if (new Set(links.map(({ caller }) => caller.key)).size > 1) return
    for (const link of links) this.#tell(link, method, params)
  }

  #tell(link: Link<C>, method: string, params: JsonObject): void {
    const { level } = params
    if (method === 'notifications/message' && isLogLevel(level) && !isAtLeast(level, this.#levels.get(link.id) ?? 'debug')) return
    // These are advice: a link whose reader lags does not get them.
    link.notify(method, params)
  }
}

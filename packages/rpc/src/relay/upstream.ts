import { Backoff } from '@parley/protocol/wire'
import { WireError } from '@parley/fetch/browser'
import { type JsonObject, RpcError } from '@parley/protocol'
import { type Client, connectClient } from '../client/client.ts'
import type { ClientLimits } from '../client/client-limits.ts'
import type { ServerRequest } from '../client/ask/inbound.ts'
import type { EraChoice } from '../client/negotiate.ts'
import { sleep } from '../client/sleep.ts'
import type { ClientTransport } from '../client/link/client-link.ts'
import { isAtLeast, isLogLevel } from '../core/log-level.ts'
import { HELD } from '../revision.ts'
import type { Call, Caller, Implementation, LogLevel } from '../service.ts'
import { type Flight, Flights } from './flights.ts'
import type { RelayLimits } from './relay-limits.ts'
import { Watches } from './watches.ts'

/** What all upstreams of one relay have in common. */
export interface RelayParts {
  readonly connect: (need: { readonly capabilities: JsonObject }) => Promise<ClientTransport>
  readonly clientInfo: Implementation
  readonly limits: RelayLimits
  readonly clientLimits: Partial<ClientLimits>
  readonly stamp?: (call: Call) => JsonObject
  readonly ordinaryEnd?: string
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** The era was named by whoever opened the relay, and stays what it is. */
  readonly isChosen: boolean
  /** The era that is spoken with the server, once known: it is the same for every connection. */
  readonly spoken: { era: EraChoice }
}

/** Who hears what an upstream cannot settle by itself. */
export interface Orphans<C extends Caller> {
  /** Answers a question; `flight` is the call that it belongs to, where that can be told. Left out: parked calls alone are asked. */
  ask?(request: ServerRequest, flight: Flight<C> | undefined): Promise<JsonObject>
  /** What belongs to no call. */
  notified(method: string, params: JsonObject): void
  connected?(client: Client): void
  ended?(reason: string): void
}

/**
 * One connection to the server behind a relay, dialled when it is needed and again after it ended. Calls under way when
 * it ends fail; none is ever sent twice.
 */
export class Upstream<C extends Caller> {
  readonly flights = new Flights<C>()
  readonly watches: Watches
  readonly #parts: RelayParts
  readonly #capabilities: JsonObject
  readonly #orphans: Orphans<C>
  readonly #backoff: Backoff
  readonly #life = new AbortController()
  #client: Client | undefined
  #opening: Promise<Client> | undefined
  #notBefore = 0
  #level: LogLevel | undefined

  constructor(parts: RelayParts, capabilities: JsonObject, orphans: Orphans<C>) {
    this.#parts = parts
    this.#capabilities = capabilities
    this.#orphans = orphans
    this.#backoff = new Backoff(parts.limits.reconnectMs, parts.limits.reconnectMaxMs)
    this.watches = new Watches((message) => parts.log('warn', message))
  }

  /** The connection if it is open now: the hot path does not wait. */
  get client(): Client | undefined {
    return this.#client
  }

  open(): Promise<Client> {
    if (this.#client !== undefined) return Promise.resolve(this.#client)
    this.#opening ??= this.#dial().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** A call came through: the server is well, and the next loss starts with a short wait again. */
  succeeded(): void {
    if (this.#backoff.failures > 0) this.#backoff.reset()
  }

  /** Asks a legacy server for messages from this level on. */
  async setLevel(level: LogLevel): Promise<void> {
    this.#level = level
    const client = await this.open()
    if (client.era === 'legacy' && client.server.capabilities.logging !== undefined)
      await client.request('logging/setLevel', { level })
  }

  /** Lowers the level if it is above what a call wants to hear. Nobody waits for it: logs are advice. */
  lowerLevel(level: LogLevel): void {
    if (this.#level !== undefined && isAtLeast(level, this.#level)) return
    this.setLevel(level).catch((error: unknown) => this.#parts.log('warn', `logging/setLevel failed: ${String(error)}`))
  }

  async close(): Promise<void> {
    this.#life.abort()
    await this.#client?.close()
  }

  async #dial(): Promise<Client> {
    if (this.#life.signal.aborted) throw new WireError('closed', 'the relay is closed')
    const wait = this.#notBefore - performance.now()
    if (wait > 0) await sleep(wait, this.#life.signal)
    try {
      const client = await this.#connect(this.#parts.spoken.era)
      if (this.#life.signal.aborted) {
        await client.close()
        throw new WireError('closed', 'the relay is closed')
      }
      this.#client = client
      this.#parts.spoken.era = client.era
      this.#restore(client)
      return client
    } catch (error) {
      this.#notBefore = performance.now() + this.#backoff.next()
      throw error
    }
  }

  async #connect(era: EraChoice): Promise<Client> {
    const transport = await this.#parts.connect({ capabilities: this.#capabilities })
    try {
      return await connectClient(transport, {
        clientInfo: this.#parts.clientInfo,
        capabilities: this.#capabilities,
        era,
        limits: this.#parts.clientLimits,
        signal: this.#life.signal,
        onAsk: (request) => this.#ask(request),
        onNotification: (method, params, during) => this.#notified(method, params, during),
        onClosed: ({ reason }) => this.#ended(reason),
        onWarning: (message) => this.#parts.log('warn', message),
      })
    } catch (error) {
      // Some servers end when the first thing they read is not `initialize`. A new one is greeted in the old way.
      if (era === 'auto' && transport.kind !== 'http' && error instanceof WireError && error.code === 'closed')
        return this.#connect('legacy')
      // The server may have been replaced by one of another era: find out at the next dial.
      if (!this.#parts.isChosen && (!(error instanceof WireError) || error.code === 'unsupported_version'))
        this.#parts.spoken.era = 'auto'
      throw error
    }
  }

  /** What the old connection was told, the new one has to be told too. */
  #restore(client: Client): void {
    this.watches.connected(client)
    if (this.#level !== undefined) this.setLevel(this.#level).catch(() => {})
    this.#orphans.connected?.(client)
  }

  #ended(reason: string): void {
    if (this.#client === undefined) return
    this.#client = undefined
    if (this.#life.signal.aborted) return
    this.#notBefore = performance.now() + this.#backoff.next()
    if (reason !== this.#parts.ordinaryEnd) this.#parts.log('warn', `the upstream server is gone: ${reason}`)
    this.#orphans.ended?.(reason)
    // Somebody waits for news: do not wait for a call to dial again.
    if (this.watches.size > 0) this.#redial()
  }

  #redial(): void {
    this.open().catch(() => {
      if (!this.#life.signal.aborted && this.watches.size > 0) this.#redial()
    })
  }

  #ask(request: ServerRequest): Promise<JsonObject> {
    const flight = this.flights.asked(request.during)
    if (this.#orphans.ask !== undefined) return this.#orphans.ask(request, flight)
    if (flight?.parked !== undefined) return flight.parked.ask(request)
    return Promise.reject(new RpcError('method_not_found', 'there is nobody to ask'))
  }

  #notified(method: string, params: JsonObject, during: number | undefined): void {
    if (IGNORED.test(method)) return
    if (method === HELD.method) return this.flights.held(params)
    const concerned = this.flights.concerned(during)
    if (concerned.length === 0) {
      if (this.flights.size === 0) this.#orphans.notified(method, params)
      return
    }
    for (const { call } of concerned) {
      if (method === 'notifications/message') logTo(call, params)
      else if (call.era === 'legacy') call.notify(method, params)
    }
  }
}

/** Handled elsewhere, or about our own hop. */
const IGNORED =
  /^notifications\/(?:progress|cancelled|resources\/updated|(?:tools|prompts|resources)\/list_changed|subscriptions\/)/

/** Hands a log message on at the level that the client wants. */
export function logTo(call: Pick<Call, 'log'>, params: JsonObject): void {
  const { level, data, logger } = params
  if (isLogLevel(level)) call.log(level, data ?? null, typeof logger === 'string' ? logger : undefined)
}

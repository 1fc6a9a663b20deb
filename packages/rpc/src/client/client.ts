import { WireError } from '@parley/fetch/browser'
import { type JsonObject, messageOf, type ToolInput, type ToolName, type ToolOutput, TOOLS } from '@parley/protocol'
import type { Wire } from '../door.ts'
import type { Era, Revision } from '../revision.ts'
import type { HeaderParam, ListKind } from '../service.ts'
import { type ClientLimits, DEFAULT_CLIENT_LIMITS } from './client-limits.ts'
import type { ClientOptions, ExchangeOptions, RequestOptions } from './client-options.ts'
import { Connection, type Reply } from './connection.ts'
import { answerAsk } from './ask/handlers.ts'
import type { ServerRequest } from './ask/inbound.ts'
import { needsInput, runInputRounds } from './input-rounds.ts'
import { LegacySubscriptions } from './subscription/legacy-subscriptions.ts'
import { ListenSubscriptions } from './subscription/listen-subscriptions.ts'
import { exchangeModern } from './modern-exchange.ts'
import { type Agreement, type ClientFace, negotiate, shakeHands } from './negotiate.ts'
import type { ClientSubscriptions, Unsubscribe } from './subscription/subscriptions.ts'
import { ToolHeaders, allPages, isToolName } from './tool/tool-list.ts'
import { throwToolError } from './tool/tool-result.ts'
import type { ClientTransport, LinkEnd } from './link/client-link.ts'

/** Connects, finds the era and shakes hands. */
export async function connectClient(transport: ClientTransport, options: ClientOptions): Promise<Client> {
  const client = new Client(options)
  await client.connect(transport)
  return client
}

/** Requests that change nothing: after the server forgot the session they may be sent again. */
const REPEATABLE = /(?:\/list|\/get|\/read|\/complete|\/setLevel|\/subscribe|\/unsubscribe)$/

const TOOLS_CHANGED = 'notifications/tools/list_changed'

/** A connection to one MCP server, the same to use in both eras and on every wire. */
export class Client {
  readonly #options: ClientOptions
  readonly #limits: ClientLimits
  readonly #face: ClientFace
  readonly #toolHeaders = new ToolHeaders()
  readonly #closed = Promise.withResolvers<LinkEnd>()
  #connection: Connection | undefined
  #agreement: Agreement | undefined
  #subscriptions: ClientSubscriptions | undefined
  #renewal: Promise<void> | undefined

  constructor(options: ClientOptions) {
    this.#options = options
    this.#limits = { ...DEFAULT_CLIENT_LIMITS, ...options.limits }
    this.#face = { info: options.clientInfo, capabilities: options.capabilities ?? {} }
  }

  get era(): Era {
    return this.server.era
  }
  get revision(): Revision {
    return this.server.revision
  }
  /** What the server said about itself. */
  get server(): Agreement {
    if (this.#agreement === undefined) throw new WireError('closed', 'not connected yet')
    return this.#agreement
  }
  /** Settles when the connection ends, whoever ended it. */
  get closed(): Promise<LinkEnd> {
    return this.#closed.promise
  }
  get isClosed(): boolean {
    return this.#connection?.end !== undefined
  }
  get kind(): Wire {
    return this.#open().link.kind
  }
  get pendingRequests(): number {
    return this.#connection?.pendingRequests ?? 0
  }

  async connect(transport: ClientTransport): Promise<void> {
    const connection = await Connection.open(transport, this.#limits, {
      notification: (method, params, during) => this.#notified(method, params, during),
      ask: (request) => this.#ask(request),
      abandoned: (id, method, given) => this.#abandoned(id, method, given),
      sessionLost: () => this.#renew(),
      ended: (end) => this.#ended(end),
      warn: (message) => this.#warn(message),
    })
    this.#connection = connection
    try {
      this.#agreement = await negotiate(connection, this.#face, this.#options.era ?? 'auto', this.#options.signal)
      this.#subscriptions = this.#makeSubscriptions(this.#agreement.era)
      if (this.#agreement.era === 'legacy') await this.#initialized(connection)
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  /** Sends a request and drives every round that the server needs. Throws the peer's `RpcError`, or a `WireError`. */
  async request(method: string, params: JsonObject = {}, options: RequestOptions = {}): Promise<JsonObject> {
    const first = await this.exchange(method, params, options)
    if (this.era === 'legacy' || !needsInput(first.result)) return first.result
    const parts = {
      handlers: this.#options.handlers ?? {},
      limits: this.#limits,
      signal: options.signal,
      send: (next: JsonObject) => this.exchange(method, next, options),
    }
    return (await runInputRounds(params, first, parts)).result
  }

  /** One request, one answer, as it came: an `input_required` is handed out, and the text of the result beside it. */
  exchange(method: string, params: JsonObject, options: ExchangeOptions = {}): Promise<Reply> {
    const connection = this.#open()
    if (this.era === 'modern') {
      const listTools = (): Promise<unknown> => this.listTools()
      const parts = { connection, face: this.#face, revision: this.revision, toolHeaders: this.#toolHeaders, listTools }
      return exchangeModern(parts, method, params, options)
    }
    if (connection.link.kind !== 'http') return connection.call(method, params, options)
    if (this.#renewal !== undefined) return this.#renewal.then(() => this.exchange(method, params, options))
    return connection.call(method, params, options).catch((error: unknown) => this.#afterLoss(error, method, params, options))
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#open().notify(method, params)
  }

  /** Calls a tool that `protocol` knows and answers its checked output; an `isError` result is thrown as `ToolError`. */
  callTool<Name extends ToolName>(name: Name, args: ToolInput<Name>, options?: RequestOptions): Promise<ToolOutput<Name>>
  /** Calls any other tool and answers the whole result. */
  callTool(name: string, args: JsonObject, options?: RequestOptions): Promise<JsonObject>
  async callTool(name: string, args: JsonObject, options?: RequestOptions): Promise<unknown> {
    const result = await this.callToolRaw(name, args, options)
    throwToolError(result)
    return isToolName(name) ? TOOLS[name].output.parse(result.structuredContent) : result
  }

  /** Calls a tool and answers its result, failed or not. */
  callToolRaw(name: string, args: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    return this.request('tools/call', { name, arguments: args }, options)
  }

  /** All pages. Over modern HTTP, tools that ask for impossible headers are left out with a warning. */
  async listTools(options?: RequestOptions): Promise<JsonObject[]> {
    const tools = await allPages('tools', this.#limits.listPages, (params) => this.request('tools/list', params, options))
    // Headers are an affair of modern HTTP; elsewhere such a tool can be called like any other.
    if (this.#mirrors()) return this.#toolHeaders.learn(tools, (message) => this.#warn(message))
    this.#toolHeaders.learn(tools, () => {})
    return tools
  }

  /** The arguments that a tool wants repeated as headers; the tools are listed for it at most once. */
  headerParams(tool: string): readonly HeaderParam[] | Promise<readonly HeaderParam[]> {
    if (this.#toolHeaders.known) return this.#toolHeaders.of(tool)
    return this.listTools().then(() => this.#toolHeaders.of(tool))
  }

  readResource(uri: string, options?: RequestOptions): Promise<JsonObject> {
    return this.request('resources/read', { uri }, options)
  }

  /** Calls `changed` when the resource did, or may have while the connection was down. The answer ends it. */
  subscribe(uri: string, changed: () => void): Promise<Unsubscribe> {
    return this.#watching().subscribe(uri, changed)
  }

  /** Calls `changed` when a list did. The answer ends it. */
  watchLists(changed: (kind: ListKind) => void): () => void {
    return this.#watching().watchLists(changed)
  }

  async close(): Promise<void> {
    this.#subscriptions?.close()
    await this.#connection?.close()
  }

  #open(): Connection {
    if (this.#connection === undefined) throw new WireError('closed', 'not connected yet')
    return this.#connection
  }

  #watching(): ClientSubscriptions {
    if (this.#subscriptions === undefined) throw new WireError('closed', 'not connected yet')
    return this.#subscriptions
  }

  #mirrors(): boolean {
    return this.era === 'modern' && this.#open().link.kind === 'http'
  }

  async #afterLoss(error: unknown, method: string, params: JsonObject, options: ExchangeOptions): Promise<Reply> {
    if (!(error instanceof WireError) || error.code !== 'session_lost') throw error
    // Whoever noticed the loss first has a new session opened; it may be open already.
    await this.#renewal
    if (!REPEATABLE.test(method)) throw error
    return this.#open().call(method, params, options)
  }

  /** Opens a new session in place of the one that the server forgot. Once at a time. */
  #renew(): void {
    if (this.#renewal !== undefined) return
    this.#renewal = this.#startSession().finally(() => {
      this.#renewal = undefined
    })
    // Whoever waits for the renewal hears of its failure; the connection is closed by then.
    this.#renewal.then(() => this.#subscriptions?.renew()).catch(() => {})
  }

  async #startSession(): Promise<void> {
    const connection = this.#open()
    try {
      connection.link.forgetSession?.()
      this.#agreement = await shakeHands(connection, this.#face)
      await this.#initialized(connection)
    } catch (error) {
      connection.ended({
        code: undefined,
        reason: `the session was lost and no new one could be opened: ${messageOf(error)}`,
      })
      await connection.link.close()
      throw error
    }
  }

  async #initialized(connection: Connection): Promise<void> {
    await connection.notify('notifications/initialized', undefined)
    connection.link.initialized?.()
  }

  #makeSubscriptions(era: Era): ClientSubscriptions {
    const warn = (message: string): void => this.#warn(message)
    if (era === 'legacy') {
      return new LegacySubscriptions({
        limit: this.#limits.subscriptions,
        warn,
        request: (method, params) => this.exchange(method, params),
      })
    }
    return new ListenSubscriptions({
      limits: this.#limits,
      warn,
      listen: (notifications, signal, heard) => {
        const onNotification = (method: string, params: JsonObject): void => {
          if (method === TOOLS_CHANGED) this.#toolHeaders.forget()
          heard(method, params)
        }
        return this.exchange('subscriptions/listen', { notifications }, { signal, onNotification, timeoutMs: 0 })
      },
    })
  }

  #ask(request: ServerRequest): Promise<JsonObject> {
    return this.#options.onAsk === undefined ? answerAsk(this.#options.handlers ?? {}, request) : this.#options.onAsk(request)
  }

  #notified(method: string, params: JsonObject, during: number | undefined): void {
    this.#subscriptions?.notified(method, params)
    if (method === TOOLS_CHANGED) this.#toolHeaders.forget()
    this.#options.onNotification?.(method, params, during)
  }

  /** Legacy servers, and modern ones on a shared pipe, have to be told; over modern HTTP the closed stream says it. */
  #abandoned(
    id: number,
    method: string,
    { reason, meta }: { readonly reason: string; readonly meta: JsonObject | undefined },
  ): void {
    const connection = this.#open()
    if (
      method === 'initialize' ||
      connection.end !== undefined ||
      (connection.link.kind === 'http' && this.#agreement?.era !== 'legacy')
    )
      return
    connection
      .notify('notifications/cancelled', { requestId: id, reason, ...(meta === undefined ? {} : { _meta: meta }) })
      .catch((error: unknown) => this.#warn(String(error)))
  }

  #ended(end: LinkEnd): void {
    this.#subscriptions?.close()
    this.#closed.resolve(end)
    this.#options.onClosed?.(end)
  }

  #warn(message: string): void {
    this.#options.onWarning?.(message)
  }
}

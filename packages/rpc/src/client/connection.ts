import { WireError } from '@parley/fetch/browser'
import type { Cancellation } from '../cancellation.ts'
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import { answeredId, beyondBounds, PassingMap } from '@parley/protocol/wire'
import { type LooseMessage, readLoosely, splitResult } from '../message/loose.ts'
import { notificationText, requestText } from '../message/text.ts'
import { META } from '../revision.ts'
import type { ClientLimits } from './client-limits.ts'
import { Deadlines } from './deadlines.ts'
import { Inbound, type ServerRequest } from './ask/inbound.ts'
import type { ClientTransport, Sink, ClientLink, LinkEnd } from './link/client-link.ts'

/** An answer: the result, and its text as it came where that is known. */
export interface Reply {
  readonly result: JsonObject
  readonly text: string | undefined
}

export interface CallProgress {
  readonly progress: number
  readonly total: number | undefined
  readonly message: string | undefined
}

export interface CallOptions {
  readonly signal?: Cancellation | undefined
  /** What goes into the `_meta` of the word that nobody waits any more. For relays. */
  readonly metaWhenAbandoned?: (() => JsonObject | undefined) | undefined
  /** 0 waits as long as the connection lasts. */
  readonly timeoutMs?: number | undefined
  /** The longest that progress makes it wait. Left out: `longestRequestMs`, or the timeout where that is longer. */
  readonly longestMs?: number | undefined
  readonly onProgress?: ((progress: CallProgress) => void) | undefined
  /** Notifications that certainly belong to this request. */
  readonly onNotification?: ((method: string, params: JsonObject) => void) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Gets the id that the request goes out with. */
  readonly onSent?: ((id: number) => void) | undefined
}

/** What the owner of a connection hears besides answers. */
export interface ConnectionEvents {
  notification(method: string, params: JsonObject, during: number | undefined): void
  /** Answers a request of the server; `RpcError` thrown goes back as it is. */
  ask(request: ServerRequest): Promise<JsonObject>
  /** A request was given up: the server may have to be told. */
  abandoned(id: number, method: string, given: { readonly reason: string; readonly meta: JsonObject | undefined }): void
  sessionLost(): void
  ended(end: LinkEnd): void
  warn(message: string): void
}

interface Pending {
  readonly id: number
  readonly method: string
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
  readonly options: CallOptions
  readonly timeoutMs: number
  readonly latest: number
  deadline: number
  abort: (() => void) | undefined
}

/** Pairs requests with answers over one link, whatever its wire and era. */
export class Connection implements Sink {
  readonly limits: ClientLimits
  readonly #events: ConnectionEvents
  readonly #pending = new PassingMap<number, Pending>()
  readonly #deadlines: Deadlines<Pending>
  readonly #inbound: Inbound
  #link: ClientLink | undefined
  #end: LinkEnd | undefined
  #nextId = 1

  private constructor(limits: ClientLimits, events: ConnectionEvents) {
    this.limits = limits
    this.#events = events
    this.#deadlines = new Deadlines(
      () => this.#pending.values(),
      (pending) =>
        this.#giveUp(pending, new WireError('timeout', `${pending.method} was not answered within ${pending.timeoutMs} ms`)),
    )
    this.#inbound = new Inbound(
      limits.pendingAsks,
      (request) => events.ask(request),
      (text) => this.#post(text),
    )
  }

  static async open(transport: ClientTransport, limits: ClientLimits, events: ConnectionEvents): Promise<Connection> {
    const connection = new Connection(limits, events)
    connection.#link = await transport.open(connection, limits, (message) => events.warn(message))
    return connection
  }

  get link(): ClientLink {
    if (this.#link === undefined) throw new WireError('closed', 'the connection is not open yet')
    return this.#link
  }
  get end(): LinkEnd | undefined {
    return this.#end
  }
  get pendingRequests(): number {
    return this.#pending.size
  }

  call(method: string, params: JsonObject | undefined, options: CallOptions): Promise<Reply> {
    const refusal = this.#refusal(options.signal)
    if (refusal !== undefined) return Promise.reject(refusal)
    const id = this.#nextId++
    const sent = options.onProgress === undefined ? params : withProgressToken(params, id)
    const text = requestText(id, method, sent)
    if (text.length > this.limits.messageBytes) {
      return Promise.reject(new WireError('too_large', `${method} has ${text.length} characters, more than messageBytes`))
    }
    return new Promise((resolve, reject) => {
      this.#remember({ id, method, resolve, reject, options })
      options.onSent?.(id)
      if (this.link.request === undefined) void this.link.send(text)
      else this.link.request({ id, method, text, headers: options.headers })
    })
  }

  notify(method: string, params: JsonObject | undefined): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(closedError(this.#end))
    return Promise.resolve(this.link.send(notificationText(method, params)))
  }

  receive(text: string, during?: number): boolean {
    const excess = beyondBounds(text, this.limits)
    if (excess !== undefined) return this.#passOver(text, excess, during)
    const split = splitResult(text)
    if (split !== undefined) return this.#settle(split.id, split) && split.id === during
    const message = parseJson(text)
    if (Array.isArray(message)) return message.map((each) => this.#take(each, during)).includes(true)
    return this.#take(message, during)
  }

  fail(id: number, error: Error): void {
    this.#drop(id)?.reject(error)
  }

  sessionLost(): void {
    this.#events.sessionLost()
  }

  ended(end: LinkEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#deadlines.stop()
    this.#inbound.abortAll()
    for (const { id } of [...this.#pending.values()]) this.fail(id, closedError(end))
    this.#events.ended(end)
  }

  async close(): Promise<void> {
    if (this.#end !== undefined) return
    this.ended({ code: undefined, reason: 'closed by this client' })
    await this.link.close()
  }

  #refusal(signal: Cancellation | undefined): WireError | undefined {
    if (this.#end !== undefined) return closedError(this.#end)
    if (signal?.aborted === true) return new WireError('aborted', 'aborted before it was sent')
    if (this.#pending.size >= this.limits.pendingRequests) {
      return new WireError(
        'overloaded',
        `${this.#pending.size} requests wait for an answer, the most that pendingRequests allows`,
      )
    }
    if (this.link.bufferedBytes() > this.limits.bufferedBytes) {
      return new WireError('overloaded', 'the server does not read: more than bufferedBytes wait to be sent')
    }
    return undefined
  }

  #remember({ id, method, resolve, reject, options }: Pick<Pending, 'id' | 'method' | 'resolve' | 'reject' | 'options'>): void {
    const timeoutMs = options.timeoutMs ?? this.limits.requestTimeoutMs
    const now = performance.now()
    const deadline = timeoutMs === 0 ? Infinity : now + timeoutMs
    const latest = timeoutMs === 0 ? Infinity : now + (options.longestMs ?? Math.max(timeoutMs, this.limits.longestRequestMs))
    const pending: Pending = { id, method, resolve, reject, options, timeoutMs, latest, deadline, abort: undefined }
    this.#pending.set(id, pending)
    if (timeoutMs !== 0) this.#deadlines.watch(deadline)
    if (options.signal !== undefined) {
      // By its number: a listener that outlives its call must not hold it, or every call stays in memory until a full collection.
      pending.abort = () => this.#aborted(id)
      options.signal.addEventListener('abort', pending.abort, { once: true })
    }
  }

  #aborted(id: number): void {
    const pending = this.#pending.get(id)
    if (pending !== undefined) this.#giveUp(pending, new WireError('aborted', `${pending.method} was aborted`))
  }

  #drop(id: number): Pending | undefined {
    const pending = this.#pending.take(id)
    if (pending?.abort !== undefined) {
      pending.options.signal?.removeEventListener('abort', pending.abort)
      pending.abort = undefined
    }
    return pending
  }

  #settle(id: number, reply: Reply): boolean {
    const pending = this.#drop(id)
    // The request was given up before its answer came: nobody waits for it.
    if (pending === undefined) return false
    pending.resolve(reply)
    return true
  }

  /** Stops waiting and tells the link, which tells the server in the way of its kind and era. */
  #giveUp(pending: Pending, error: WireError): void {
    if (this.#drop(pending.id) === undefined) return
    pending.reject(error)
    this.link.abandon?.(pending.id)
    this.#events.abandoned(pending.id, pending.method, { reason: error.message, meta: pending.options.metaWhenAbandoned?.() })
  }

  /** What would take too long to parse fails the call that it answers, and nothing else. */
  #passOver(text: string, excess: string, during: number | undefined): boolean {
    const pending = this.#drop(answeredId(text) ?? -1)
    if (pending === undefined) this.#events.warn(`passed over a message: ${excess}`)
    pending?.reject(new WireError('too_large', `the answer to ${pending.method} is not read: ${excess}`))
    return pending !== undefined && pending.id === during
  }

  #take(value: JsonValue | undefined, during: number | undefined): boolean {
    const message = readLoosely(value, during)
    if (message === undefined) this.#events.warn('dropped something that is not a JSON-RPC message')
    else if (message.kind === 'response') return this.#answered(message) && message.id === during
    else if (message.kind === 'notification') this.#notified(message.method, message.params, during)
    else this.#inbound.take(message.id, message.method, message.params, during)
    return false
  }

  #answered({ id, result, error }: Extract<LooseMessage, { kind: 'response' }>): boolean {
    if (id === undefined) {
      this.#events.warn(error === undefined ? 'dropped an answer without an id' : `the server says: ${error.message}`)
      return false
    }
    if (result !== undefined) return this.#settle(id, { result, text: undefined })
    const pending = this.#drop(id)
    pending?.reject(error ?? new WireError('bad_message', 'an answer has neither a result nor an error'))
    return pending !== undefined
  }

  #notified(method: string, params: JsonObject, during: number | undefined): void {
    if (method === 'notifications/progress') {
      const pending = typeof params.progressToken === 'number' ? this.#pending.get(params.progressToken) : undefined
      if (pending?.options.onProgress !== undefined) return this.#progressed(pending, params)
    }
    if (method === 'notifications/cancelled' && params.requestId !== undefined) {
      if (this.#inbound.cancel(params.requestId)) return
      if (typeof params.requestId === 'number') {
        return this.fail(params.requestId, new WireError('stream_lost', 'the server ended the subscription'))
      }
    }
    const subscription = isJsonObject(params._meta) ? params._meta[META.subscriptionId] : undefined
    const owner = this.#pending.get(typeof subscription === 'number' ? subscription : (during ?? -1))
    if (owner?.options.onNotification !== undefined) owner.options.onNotification(method, params)
    else this.#events.notification(method, params, during)
  }

  #progressed(pending: Pending, params: JsonObject): void {
    const { progress, total, message } = params
    if (typeof progress !== 'number') return
    if (pending.timeoutMs !== 0) pending.deadline = Math.min(performance.now() + pending.timeoutMs, pending.latest)
    pending.options.onProgress?.({
      progress,
      total: typeof total === 'number' ? total : undefined,
      message: typeof message === 'string' ? message : undefined,
    })
  }

  #post(text: string): void {
    if (this.#end !== undefined) return
    Promise.resolve(this.link.send(text)).catch((error: unknown) =>
      this.#events.warn(`an answer was not taken: ${String(error)}`),
    )
  }
}

function withProgressToken(params: JsonObject | undefined, id: number): JsonObject {
  const meta: JsonValue | undefined = params?._meta
  return { ...params, _meta: { ...(isJsonObject(meta) ? meta : {}), progressToken: id } }
}

function closedError(end: LinkEnd): WireError {
  return new WireError('closed', `the connection is closed: ${end.reason}`)
}

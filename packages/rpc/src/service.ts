import type { JsonObject, JsonValue } from '@parley/protocol'
import type { KnownTask } from '@parley/task'
import type { Cancellation } from './cancellation.ts'
import type { RequestId } from './message/message.ts'
import type { JsonText } from './message/text.ts'
import type { Era, Revision } from './revision.ts'

/** Who somebody says they are. Self-reported: for display and logs, never for a decision. */
export interface Implementation {
  readonly name: string
  readonly version: string
  readonly [more: string]: JsonValue | undefined
}

/** Who is calling, as the door's `authenticate` found out. What `key` opened is unknown to every other key. */
export interface Caller {
  readonly key: string
  /** Who is counted together where something is bounded for each caller: all tokens of one person. Left out: as `key`. */
  readonly person?: string
  /** Some of the room for all is kept for these, so that no number of others locks them out. */
  readonly hasKeptRoom?: boolean
  /** What every message is paid from. Left out: nothing costs anything. */
  readonly meter?: CallerMeter
}

/** How much somebody may still send now. */
export interface CallerMeter {
  /** Takes the price of one message, or that of a larger one as a whole; false when there is nothing left. */
  take(price?: number): boolean
  /** Whether `take` would succeed. */
  readonly open: boolean
}

/** What a handler answers when it needs something from the person or the client first. */
export class InputRequired {
  /** Requests to the client by key: `{ method: 'elicitation/create', params }` and the like. */
  readonly requests: Readonly<Record<string, InputRequest>>
  /** Comes back in `Call.state` with the answers. Sealed on the wire, so the client can neither read nor change it. */
  readonly state: JsonValue | undefined
  constructor(requests: Readonly<Record<string, InputRequest>>, state?: JsonValue) {
    this.requests = requests
    this.state = state
  }
}
export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params?: JsonObject
}

export type ServiceResult = JsonObject | JsonText | InputRequired

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** What the client told us about itself: at `initialize`, or in the `_meta` of this very request. */
export interface ClientView {
  readonly info: Implementation | undefined
  readonly capabilities: JsonObject
}

/**
 * A legacy session, a WebSocket or a stdio pipe: something that lives longer than one request and can be spoken to.
 * Modern HTTP requests have none.
 */
export interface Link<C extends Caller = Caller> {
  readonly id: string
  readonly caller: C
  readonly client: ClientView
  readonly revision: Revision
  /** Aborted when the link ends. */
  readonly signal: AbortSignal
  /**
   * Sends outside any request: the GET stream, the socket, the pipe. False when the reader lags and the message was
   * not taken: wait for `drained` and send it then. Nothing is ever queued without bound. What goes to many links is
   * stringified once and handed over as text.
   */
  notify(method: string, params: JsonObject | JsonText): boolean
  drained(): Promise<void>
  /**
   * For how long nobody has been at its other end: no stream, no request. `undefined` while somebody is; a socket or a pipe is
   * somebody until it closes. A client that vanished shows in nothing else.
   */
  unattendedMs(): number | undefined
  /** Asks the client outside any request. */
  ask(method: string, params: JsonObject | undefined, options?: AskOptions): Promise<JsonObject>
  close(reason: string): void
}
export interface AskOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** One request being served. Everything a handler may do besides returning. */
export interface Call<C extends Caller = Caller> {
  /** As the client gave it. */
  readonly id: RequestId
  readonly era: Era
  readonly revision: Revision
  readonly caller: C
  readonly client: ClientView
  readonly link: Link<C> | undefined
  /** `params._meta` of the request. */
  readonly meta: JsonObject
  /** Aborted when the client cancels (legacy: says so; modern: closes the stream), when the link ends, or at shutdown. */
  readonly signal: AbortSignal
  /** The same for code that is called very often: costs nothing until somebody listens. */
  readonly cancellation: Cancellation
  /** Answers to an earlier `InputRequired`, by key, and the state that went with it. */
  readonly answers: Readonly<Record<string, JsonObject>> | undefined
  readonly state: JsonValue | undefined
  /**
   * Sends a notification that belongs to this request, on its own stream, before the result. False when it was not taken:
   * the reader lags (wait for `drained`), or nobody listens any more.
   */
  notify(method: string, params: JsonObject | JsonText): boolean
  /** Settles when there is room for notifications again. */
  drained(): Promise<void>
  /**
   * Says that this call waits long, for a person for instance. A client that declared tasks gets one at once, where the service offers
   * them, and the call goes on without its request. Any other one's answer begins now and is kept alive until it ends. `unsent`: nothing of it
   * is done until it `goesOn`, so that whoever relays it can say so where it is lost meanwhile.
   */
  held(words?: string, how?: 'unsent'): void
  /** What it waited for has come: what was held unsent may be done from now on. */
  goesOn(): void
  /** Sends progress if the client gave a token; otherwise does nothing. */
  progress(progress: number, total?: number, message?: string): void
  /** Sends a log message if the client wants that level; otherwise does nothing. */
  log(level: LogLevel, data: JsonValue, logger?: string): void
  /** Legacy only: a request to the client on this request's stream. Written once for both eras: return `InputRequired`. */
  ask(method: string, params: JsonObject | undefined, options?: AskOptions): Promise<JsonObject>
  /** Ends this response's connection where the client can come back for the rest (HTTP since 2025-11-25); else does nothing. */
  dropStream(): void
}

/** One argument that is mirrored in a header: where it stands in the arguments, and the name after `Mcp-Param-`. */
export interface HeaderParam {
  readonly path: readonly string[]
  readonly header: string
}

export type ListKind = 'tools' | 'prompts' | 'resources'

/**
 * What stands behind a door: the methods of one server, for one kind of caller. `rpc` serves by itself:
 * initialize, ping, server/discover, logging/setLevel, cancellation, subscriptions in both eras.
 */
export interface Service<C extends Caller = Caller> {
  readonly info: Implementation
  readonly capabilities: JsonObject
  readonly instructions?: string | undefined
  /**
   * A legacy call that was cancelled is answered all the same, and may speak until then: for services whose clients wait
   * for the answer. Elsewhere a cancelled call is over.
   */
  readonly answersCancelled?: true
  /** What clients of one era find here, where that differs from what the others find. The same object each time. */
  forEra?(era: Era): Service<C>
  /** Answers one request. Throw `RpcError` for a protocol error; an unknown method is `method_not_found`. */
  call(method: string, params: JsonObject, call: Call<C>): ServiceResult | Promise<ServiceResult>
  /** The most bytes that a request for this may have; what is small is not asked about. Left out: as many as any message. */
  requestBytes?(method: string, params: JsonObject): number
  /** A notification that `rpc` does not handle itself. */
  notified?(method: string, params: JsonObject, link: Link<C> | undefined): void
  /**
   * Starts watching a resource for one subscriber; the answer ends it. Throw `RpcError` to refuse. `link` is the
   * subscriber's session, where it has one: what stands behind a service may differ from session to session. What `changed` is
   * given goes into `_meta` of the news.
   */
  watch?(uri: string, changed: (meta?: JsonObject) => void, caller: C, link?: Link<C>): (() => void) | Promise<() => void>
  /** Tells when one of the lists changed; the answer ends it. */
  watchLists?(changed: (kind: ListKind) => void, caller: C): () => void
  /** A task of this caller's that the service keeps itself, beside those that calls become: what outlives the process. */
  findTask?(taskId: string, caller: C): KnownTask | undefined | Promise<KnownTask | undefined>
  setLevel?(level: LogLevel, link: Link<C>): void | Promise<void>
  /** Arguments of a tool that modern HTTP clients must repeat in `Mcp-Param-*` headers (`x-mcp-header` in its schema). */
  headerParams?(tool: string, caller: C): readonly HeaderParam[] | Promise<readonly HeaderParam[]>
  opened?(link: Link<C>): void
  closed?(link: Link<C>): void
}

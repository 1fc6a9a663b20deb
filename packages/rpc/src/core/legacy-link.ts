import { type JsonObject, PassingMap, RPC_CODES, RpcError, isJsonObject } from '@parley/protocol/wire'
import { SHUTDOWN_REASON } from '../door.ts'
import { whyCancelled } from './why-cancelled.ts'
import type { NotificationMessage, RequestId, RequestMessage, ResponseMessage } from '../message/message.ts'
import { errorText, type JsonText, notificationText, UNDRESSED } from '../message/text.ts'
import { isLegacyRevision, LATEST_LEGACY, type LegacyRevision } from '../revision.ts'
import type { AskOptions, Caller, ClientView, Link, ListKind, LogLevel, Service } from '../service.ts'
import { ActiveCall, LeftAlone } from './active-call.ts'
import { Asks } from './asks.ts'
import type { Holding } from '../limit/callers.ts'
import { charge } from '../limit/charge.ts'
import type { ServedWire } from './served-wire.ts'
import { longWord } from '../limit/kept-words.ts'
import { isLogLevel } from './log-level.ts'
import type { Outlet } from './outlet.ts'
import { sizeRefusal } from '../limit/request-size.ts'
import { type Ending, serve } from './serve.ts'
import { Subscriptions } from './subscriptions.ts'

export interface LegacyLinkStart<C extends Caller> {
  readonly id: string
  readonly served: ServedWire<C>
  readonly service: Service<C>
  readonly caller: C
  readonly revision: LegacyRevision
  readonly client: ClientView
  /** Where messages go that belong to no request. */
  readonly standalone: Outlet
  /** As `Link.unattendedMs`. Left out: somebody is there as long as it lives. */
  readonly unattendedMs?: () => number | undefined
  /** Called once when the link ends, from whichever side. */
  readonly onEnd: (reason: string) => void
}

/** What is answered here costs its sender as much as any call; a subscription is charged where it is made, for both eras. */
const CHARGED_METHODS: ReadonlySet<string> = new Set(['ping', 'initialize', 'resources/unsubscribe', 'logging/setLevel'])

const EMPTY: JsonObject = Object.freeze({})

/** What `initialize` opened, over HTTP, on a WebSocket or on a pipe. */
export class LegacyLink<C extends Caller> implements Link<C>, Holding<C> {
  readonly id: string
  readonly caller: C
  readonly lasting = true
  readonly #start: LegacyLinkStart<C>
  readonly #calls = new PassingMap<RequestId, { readonly call: ActiveCall<C>; readonly finish: (ending: Ending) => void }>()
  #asks: Asks | undefined
  #subscriptions: Subscriptions<C> | undefined
  #logLevel: LogLevel | undefined
  #controller: AbortController | undefined
  #ended: string | undefined
  #client: ClientView
  #revision: LegacyRevision

  constructor(start: LegacyLinkStart<C>) {
    this.#start = start
    this.id = start.id
    this.caller = start.caller
    this.#client = start.client
    this.#revision = start.revision
    const lists = changingLists(start.service.capabilities)
    if (lists.size > 0 && start.service.watchLists !== undefined) this.#subscribing().watchLists(lists)
    start.service.opened?.(this)
    start.served.observer.opened?.(this, start.served.wire)
  }

  get client(): ClientView {
    return this.#client
  }
  get revision(): LegacyRevision {
    return this.#revision
  }
  get busy(): boolean {
    return this.#calls.size > 0
  }
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#ended !== undefined) this.#controller.abort(new Error(this.#ended))
    return this.#controller.signal
  }

  /** A client that was served before it said who it is says so now. */
  greet(client: ClientView, revision: LegacyRevision): void {
    this.#client = client
    this.#revision = revision
  }

  /** What `initialize` answers. */
  initializeResult(): JsonObject {
    const { info, instructions } = this.#start.service
    const { extensions: _ofTheModernEra, ...capabilities } = this.#start.service.capabilities
    return { protocolVersion: this.revision, capabilities, serverInfo: info, instructions }
  }

  request(message: RequestMessage, outlet: Outlet, finish: (ending: Ending) => void): void {
    const { served, service } = this.#start
    const call: ActiveCall<C> = new ActiveCall<C>({
      era: 'legacy',
      revision: this.revision,
      caller: this.caller,
      client: this.client,
      link: this,
      id: message.id,
      params: message.params,
      outlet,
      logLevel: this.#logLevel ?? 'debug',
      speaksWhenCancelled: service.answersCancelled === true,
      ask: (method, params, options) => this.#ask(outlet, method, params, withSignal(options, call.signal)),
    })
    for (const other of served.held)
      if (other.isLeftAlone && other.isSameAs(call)) other.cancel(new LeftAlone('the same call was made again'))
    const refusal = this.#refusal(message)
    let isFinished = false
    const finishOnce = (ending: Ending): void => {
      if (isFinished) return
      isFinished = true
      if (refusal === undefined) this.#calls.take(message.id)
      finish(ending)
    }
    if (refusal === undefined) this.#calls.set(message.id, { call, finish: finishOnce })
    serve({
      served,
      message,
      call,
      dressing: UNDRESSED,
      answersCancelled: service.answersCancelled === true,
      run: () => {
        if (refusal !== undefined) {
          charge(this.caller)
          throw refusal
        }
        return this.#own(message) ?? service.call(message.method, message.params, call)
      },
      finish: finishOnce,
    })
  }

  /** Methods that belong to the session rather than to what stands behind it; `undefined`: not one of them. */
  #own(message: RequestMessage): JsonObject | Promise<JsonObject> | undefined {
    const { method, params } = message
    if (CHARGED_METHODS.has(method)) charge(this.caller)
    if (method === 'ping') return EMPTY
    if (method === 'initialize') throw new RpcError('invalid_request', 'initialize called more than once')
    if (method === 'resources/subscribe')
      return this.#subscribing()
        .watch(uriOf(params))
        .then(() => EMPTY)
    if (method === 'resources/unsubscribe') {
      this.#subscribing().unwatch(uriOf(params))
      return EMPTY
    }
    return method === 'logging/setLevel' && this.#start.service.capabilities['logging'] !== undefined
      ? this.#setLevel(params)
      : undefined
  }

  notification(message: NotificationMessage): void {
    if (message.method === 'notifications/cancelled') {
      const { requestId } = message.params
      if (typeof requestId === 'string' || typeof requestId === 'number') {
        this.#calls.get(requestId)?.call.cancel(whyCancelled(message.params))
      }
      return
    }
    if (message.method !== 'notifications/initialized') this.#start.service.notified?.(message.method, message.params, this)
  }

  response(message: ResponseMessage): void {
    this.#asks?.answered(message)
  }

  notify(method: string, params: JsonObject | JsonText): boolean {
    return this.#ended === undefined && this.#start.standalone.send(notificationText(method, params))
  }
  drained(): Promise<void> {
    return this.#start.standalone.drained()
  }
  ask(method: string, params: JsonObject | undefined, options?: AskOptions): Promise<JsonObject> {
    return this.#ask(this.#start.standalone, method, params, options)
  }
  unattendedMs(): number | undefined {
    return this.#start.unattendedMs?.()
  }
  close(reason: string): void {
    this.end(reason)
  }
  /** What changed while nobody listened is unknown: say that all of it did. */
  markAllChanged(): void {
    this.#subscriptions?.markAllChanged()
  }

  end(reason: string): void {
    if (this.#ended !== undefined) return
    this.#ended = reason
    for (const [id, { call, finish }] of this.#calls.entries()) {
      call.cancel(new Error(reason))
      // A client that is cut off for good would wait until its own time is up; one that is to come back takes no answer for what it asked.
      if (reason === SHUTDOWN_REASON) continue
      finish({ text: errorText(id, RPC_CODES.internal_error, endedWords(reason)), errorCode: RPC_CODES.internal_error })
    }
    this.#asks?.rejectAll(reason)
    this.#subscriptions?.end()
    this.#controller?.abort(new Error(reason))
    this.#start.service.closed?.(this)
    this.#start.served.observer.closed?.(this, this.#start.served.wire, reason)
    this.#start.onEnd(reason)
  }

  #refusal(message: RequestMessage): RpcError | undefined {
    const { limits, callers } = this.#start.served
    const { inFlightRequests, callsPerCaller } = limits
    if (this.#ended !== undefined) return new RpcError('internal_error', endedWords(this.#ended))
    if (this.#calls.has(message.id)) return new RpcError('invalid_request', `id ${message.id} is in use by a request under way`)
    if (this.#calls.size >= inFlightRequests) return new RpcError('overloaded', `at most ${inFlightRequests} requests at once`)
    if (callers.callsOf(this.caller) >= callsPerCaller)
      return new RpcError('overloaded', `at most ${callsPerCaller} requests of one person at once`)
    return sizeRefusal(this.#start.service, message) ?? longWord(message.params)
  }

  async #setLevel(params: JsonObject): Promise<JsonObject> {
    const level = params['level']
    if (!isLogLevel(level))
      throw new RpcError('invalid_params', "level must be one of MCP's eight log levels", { field: 'level' })
    this.#logLevel = level
    await this.#start.service.setLevel?.(level, this)
    return EMPTY
  }

  #ask(outlet: Outlet, method: string, params: JsonObject | undefined, options?: AskOptions): Promise<JsonObject> {
    if (this.#ended !== undefined) return Promise.reject(new RpcError('internal_error', `${method}: ${this.#ended}`))
    this.#asks ??= new Asks(this.#start.served.limits)
    return this.#asks.send(outlet, method, params, options)
  }

  #subscribing(): Subscriptions<C> {
    const { service, standalone, served } = this.#start
    this.#subscriptions ??= new Subscriptions({
      service,
      caller: this.caller,
      link: this,
      outlet: standalone,
      text: SUBSCRIPTION_TEXT,
      served,
    })
    return this.#subscriptions
  }
}

const endedWords = (reason: string): string => `the session has ended: ${reason}`

const SUBSCRIPTION_TEXT = {
  updated: (uri: string, _meta: JsonObject | undefined): string =>
    notificationText('notifications/resources/updated', { uri, _meta }),
  listChanged: (kind: ListKind): string => notificationText(`notifications/${kind}/list_changed`, {}),
}

/** A question belongs to its call: whoever cancels the call takes the question back too. */
function withSignal(options: AskOptions | undefined, signal: AbortSignal): AskOptions {
  return { ...options, signal: options?.signal === undefined ? signal : AbortSignal.any([options.signal, signal]) }
}

/** Answers the version the client asked for if we speak it, else our newest: never what we do not know. */
export function revisionFor(requested: unknown): LegacyRevision {
  return isLegacyRevision(requested) ? requested : LATEST_LEGACY
}

export function changingLists(capabilities: JsonObject): Set<ListKind> {
  const kinds: readonly ListKind[] = ['tools', 'prompts', 'resources']
  return new Set(kinds.filter((kind) => isJsonObject(capabilities[kind]) && capabilities[kind]['listChanged'] === true))
}

function uriOf(params: JsonObject): string {
  const { uri } = params
  if (typeof uri !== 'string' || uri === '') throw new RpcError('invalid_params', 'uri must be a string', { field: 'uri' })
  return uri
}

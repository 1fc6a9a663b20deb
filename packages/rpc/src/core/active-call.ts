import { isJsonObject, type JsonObject, type JsonValue, RpcError } from '@parley/protocol/wire'
import type { Cancellation } from '../cancellation.ts'
import type { RequestId } from '../message/message.ts'
import { type JsonText, notificationText } from '../message/text.ts'
import { type Era, HELD, type Revision } from '../revision.ts'
import type { AskOptions, Call, Caller, ClientView, Link, LogLevel } from '../service.ts'
import { isAtLeast } from './log-level.ts'
import type { Outlet } from './outlet.ts'

export interface CallStart<C extends Caller> {
  readonly era: Era
  readonly revision: Revision
  readonly caller: C
  readonly client: ClientView
  readonly link: Link<C> | undefined
  readonly id: RequestId
  readonly params: JsonObject
  readonly outlet: Outlet
  /** The least important level that the client wants to hear; `undefined`: none. */
  readonly logLevel: LogLevel | undefined
  /** Whether notifications still go out after the client has cancelled. */
  readonly speaksWhenCancelled?: boolean
  readonly ask?: (method: string, params: JsonObject | undefined, options?: AskOptions) => Promise<JsonObject>
}

const NO_META: JsonObject = Object.freeze({})
const HELD_STEP = 1e-6
/** So often a client may be missing when it is told that its call is held, every 20 seconds. */
const UNREAD_TIMES = 3

/** Its client was away, and may still come back for an answer: that is to make the call again. */
export class LeftAlone extends Error {}

const wishOf = ({ _meta, ...wish }: JsonObject): string => JSON.stringify(wish)

/** One request under way. Made for every call, so everything that is seldom needed is made when it is asked for. */
export class ActiveCall<C extends Caller> implements Call<C>, Cancellation {
  readonly #start: CallStart<C>
  readonly meta: JsonObject
  answers: Readonly<Record<string, JsonObject>> | undefined
  state: JsonValue | undefined
  #controller: AbortController | undefined
  #cancelled: Error | undefined
  /** Most calls have one who listens. */
  #cancelListener: (() => void) | undefined
  #moreListeners: Set<() => void> | undefined
  #lastProgress = Number.NEGATIVE_INFINITY
  /** How often in a row nobody was there to be told that it is still held. */
  #unreadTimes = 0
  #waits = false
  #heldFor: { readonly words: string | undefined } | undefined
  /** What is done when the service says that this call is held; `undefined` once it is over. */
  whenHeld: ((words: string | undefined) => void) | undefined

  constructor(start: CallStart<C>) {
    this.#start = start
    const meta = start.params['_meta']
    this.meta = isJsonObject(meta) ? meta : NO_META
  }

  get era(): Era {
    return this.#start.era
  }
  get revision(): Revision {
    return this.#start.revision
  }
  get caller(): C {
    return this.#start.caller
  }
  get client(): ClientView {
    return this.#start.client
  }
  get link(): Link<C> | undefined {
    return this.#start.link
  }
  get id(): RequestId {
    return this.#start.id
  }
  get cancelled(): boolean {
    return this.#cancelled !== undefined
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled)
    }
    return this.#controller.signal
  }

  /** `CallCancelled`: the client wishes so. Anything else cuts it off. */
  cancel(why: Error): void {
    if (this.#cancelled !== undefined) return
    this.#cancelled = why
    this.#controller?.abort(why)
    this.#cancelListener?.()
    this.#cancelListener = undefined
    for (const listener of this.#moreListeners ?? []) listener()
    this.#moreListeners = undefined
  }

  get cancellation(): Cancellation {
    return this
  }
  get aborted(): boolean {
    return this.cancelled
  }
  get reason(): Error | undefined {
    return this.#cancelled
  }
  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#cancelListener === undefined) this.#cancelListener = listener
    else if (this.#cancelListener !== listener) (this.#moreListeners ??= new Set()).add(listener)
  }
  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#cancelListener === listener) this.#cancelListener = undefined
    else this.#moreListeners?.delete(listener)
  }

  /** Progress and log lines are advice: for a reader that does not keep up they are left out, the result is not. */
  notify(method: string, params: JsonObject | JsonText): boolean {
    if (this.#cancelled !== undefined && this.#start.speaksWhenCancelled !== true) return false
    // A task has no progress: what is said of it goes nowhere, and nobody is to wait for room to say it.
    if (this.#heldFor !== undefined && this.whenHeld === undefined) return true
    return this.#start.outlet.send(notificationText(method, params))
  }
  drained(): Promise<void> {
    return this.#start.outlet.drained()
  }

  progress(progress: number, total?: number, message?: string): void {
    const token = this.meta['progressToken']
    if ((typeof token !== 'string' && typeof token !== 'number') || progress <= this.#lastProgress) return
    this.#lastProgress = progress
    this.notify('notifications/progress', { progressToken: token, progress, total, message })
  }

  get isHeld(): boolean {
    return this.#heldFor !== undefined
  }

  held(words?: string, how?: 'unsent'): void {
    if (this.#heldFor !== undefined || this.#cancelled !== undefined) return
    this.#heldFor = { words }
    this.#waits = true
    this.whenHeld?.(words)
    // A call that has been answered, by a task, is not heard any more.
    if (this.whenHeld === undefined) return
    this.#start.outlet.begin?.()
    if (this.meta[HELD.meta] === true) this.notify(HELD.method, { requestId: this.id, message: words, unsent: how === 'unsent' })
    this.stillHeld()
  }

  goesOn(): void {
    if (!this.#waits) return
    this.#waits = false
    if (this.meta[HELD.meta] === true) this.notify(HELD.method, { requestId: this.id, over: true })
  }

  /** Whether it waits for somebody while its own client is not there. */
  get isLeftAlone(): boolean {
    return this.#waits && this.#start.outlet.isUnread === true
  }

  /**
   * Whether another request wants the same: of the same caller, in other words for nothing but itself. Of two that wait, the one that nobody
   * reads was its client's before.
   */
  isSameAs(other: ActiveCall<C>): boolean {
    return this.caller.key === other.caller.key && wishOf(this.#start.params) === wishOf(other.#start.params)
  }

  /**
   * Says that it is still waited for, to who wants progress. The steps are so small that those of the call itself stay larger. A client that
   * does not come back for its answer was cut off; whoever makes the same call finds what was asked.
   */
  stillHeld(): void {
    this.#unreadTimes = this.isLeftAlone ? this.#unreadTimes + 1 : 0
    if (this.#unreadTimes > UNREAD_TIMES) return this.cancel(new LeftAlone('its client has not come back'))
    this.progress(Math.max(this.#lastProgress, 0) + HELD_STEP, undefined, this.#heldFor?.words)
  }

  log(level: LogLevel, data: JsonValue, logger?: string): void {
    const wanted = this.#start.logLevel
    if (wanted !== undefined && isAtLeast(level, wanted)) this.notify('notifications/message', { level, logger, data })
  }

  dropStream(): void {
    this.#start.outlet.drop?.()
  }

  ask(method: string, params: JsonObject | undefined, options?: AskOptions): Promise<JsonObject> {
    const { ask } = this.#start
    if (ask !== undefined) return ask(method, params, options)
    return Promise.reject(
      new RpcError('internal_error', `${method} cannot be sent in a modern request: return InputRequired instead`),
    )
  }
}

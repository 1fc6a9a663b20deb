import type { ServerResponse } from 'node:http'
import { RPC_CODES } from '@parley/protocol'
import type { ServedWire } from '../core/served-wire.ts'
import type { Outlet } from '../core/outlet.ts'
import { answerEmpty, answerError, answerJson, answerSoon, type Headers, unreadRoom } from './answer.ts'
import { EventStream } from './event-stream.ts'
import type { HttpSession } from './session.ts'
import type { SessionStream } from './session-stream.ts'
import { hasPrimingEvents } from '../revision.ts'
import type { Caller } from '../service.ts'
import { SMALL_ANSWER_CHARS } from '../limit/unread-room.ts'
import type { UnreadAnswers } from './unread-answers.ts'

/** How long a client whose stream we dropped should wait before it comes back. */
const DROPPED_STREAM_RETRY_MS = 500

export interface ReplyStart<C extends Caller> {
  readonly response: ServerResponse
  readonly caller: C
  readonly served: ServedWire<C>
  readonly answers: UnreadAnswers
  readonly openStreams: Set<EventStream>
  readonly headers: Headers | undefined
  /** The session whose streams can be resumed; none in the modern era. */
  readonly session: HttpSession<C> | undefined
}

/**
 * The answer to one POST. It is plain JSON if the result is all there is to say, and becomes a stream of events with the
 * first message before it.
 */
export class PostReply<C extends Caller> implements Outlet {
  readonly #start: ReplyStart<C>
  #connection: EventStream | undefined
  #stream: SessionStream | undefined
  #finished = false
  #heard: (() => void) | undefined

  constructor(start: ReplyStart<C>) {
    this.#start = start
  }

  get finished(): boolean {
    return this.#finished
  }

  /** Whether its client has heard nothing so far. */
  get isQuiet(): boolean {
    return !this.#finished && this.#connection === undefined
  }

  get isUnread(): boolean {
    return this.#stream === undefined ? this.#start.response.destroyed : !this.#stream.attached
  }

  /** Told once, when that is over: a list of those that may take long would keep the sockets of finished ones in memory. */
  whenHeard(heard: () => void): void {
    this.#heard = heard
  }

  send(text: string): boolean {
    if (this.#finished) return false
    this.upgrade()
    return this.#stream?.send(text) ?? this.#connection?.send(text) ?? false
  }

  drained(): Promise<void> {
    return this.#stream?.drained() ?? this.#connection?.drained() ?? Promise.resolve()
  }

  /** Makes it a stream: for the first message, or because the result takes long. */
  upgrade(): void {
    if (this.#connection !== undefined || this.#finished) return
    const { response, served, caller, openStreams, headers = {}, session } = this.#start
    if (response.destroyed) return
    this.#heard?.()
    this.#connection = new EventStream(response, {
      bufferBytes: served.limits.streamBufferBytes,
      open: openStreams,
      unread: served.unread.ofCaller(caller),
      headers,
    })
    this.#stream = session?.openStream(this.#connection)
  }

  begin(): void {
    this.upgrade()
  }

  /** Sends the last message; `undefined` ends without one. */
  finish(text: string | undefined, status: number): void {
    if (this.#finished) return
    this.#finished = true
    this.#heard?.()
    const { response, caller, answers, headers, session } = this.#start
    if (this.#connection === undefined) {
      // A cancelled request is not answered; over HTTP that is a stream that ends without a message.
      if (text === undefined) return answerEmpty(response, 200, { 'content-type': 'text/event-stream', ...headers })
      const full = answers.hold(response, caller, text.length)
      if (full !== undefined) {
        const { status: refused, message, headers: more } = unreadRoom(full)
        return answerError(response, refused, RPC_CODES.overloaded, message, { ...headers, ...more })
      }
      if (text.length <= SMALL_ANSWER_CHARS) return answerSoon(response, status, text, headers)
      return answerJson(response, status, text, headers)
    }
    if (this.#stream !== undefined) return session?.closeStream(this.#stream, text)
    if (text === undefined) this.#connection.end()
    else this.#connection.sendLast(text)
  }

  /** Says that there was nothing to answer. */
  accept(): void {
    this.#finished = true
    this.#heard?.()
    answerEmpty(this.#start.response, 202, this.#start.headers)
  }

  drop(): void {
    const { session } = this.#start
    if (session === undefined || !hasPrimingEvents(session.link.revision)) return
    this.upgrade()
    this.#stream?.dropConnection(DROPPED_STREAM_RETRY_MS)
  }
}

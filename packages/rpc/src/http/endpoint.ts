import { randomBytes } from 'node:crypto'
import { type JsonValue, RPC_CODES, RpcError } from '@parley/protocol'
import { readBatch, serveBatch } from '../core/batch.ts'
import { note } from '../limit/charge.ts'
import { PassingMap } from '@parley/protocol/wire'
import { clientOf } from '../core/client-view.ts'
import { claimsModern } from '../core/envelope.ts'
import type { ServedWire } from '../core/served-wire.ts'
import { readIncoming } from '../core/incoming.ts'
import { revisionFor } from '../core/legacy-link.ts'
import { serviceIn } from '../door.ts'
import { classify, decodeUtf8, type Message, type RequestMessage } from '../message/message.ts'
import { errorText, resultText } from '../message/text.ts'
import { isLegacyRevision, looksModern } from '../revision.ts'
import type { Caller, Service } from '../service.ts'
import { answerEmpty, answerError, answerJson, answerTooLarge, type Headers, noRoom } from './answer.ts'
import { type Arrived, Arrival } from './arrival.ts'
import { EventStream } from './event-stream.ts'
import type { Exchange } from './exchange.ts'
import { ModernEndpoint } from './modern-endpoint.ts'
import { PostReply } from './post-reply.ts'
import { acceptsBoth, acceptsEvents, headerOf, isJsonBody } from './request-check.ts'
import { HttpSession } from './session.ts'
import { makeSessionRoom } from './session-room.ts'
import { UnreadAnswers } from './unread-answers.ts'

const SESSION_ID_BYTES = 24

/** MCP over HTTP: both eras on one path. */
export class HttpEndpoint<C extends Caller> {
  readonly #served: ServedWire<C>
  readonly #sessions = new Map<string, HttpSession<C>>()
  readonly #modern: ModernEndpoint<C>
  readonly openStreams = new Set<EventStream>()
  readonly #answers: UnreadAnswers
  /** Requests without an answer so far, in the order in which they came. */
  readonly #slow = new PassingMap<number, { readonly reply: PostReply<C>; readonly since: number }>()
  #lastSlow = 0

  constructor(served: ServedWire<C>) {
    this.#served = served
    this.#answers = new UnreadAnswers(served.unread)
    this.#modern = new ModernEndpoint(served, this.openStreams, this.#answers, (reply) => this.#mayBeSlow(reply))
  }

  serve(exchange: Exchange<C>): void {
    // Gone while its token was checked: a stream made now would never hear that it is closed.
    if (exchange.response.destroyed) return
    switch (exchange.request.method) {
      case 'POST':
        return this.#post(exchange)
      case 'GET':
        return this.#get(exchange)
      case 'DELETE':
        return this.#delete(exchange)
      case undefined:
      default:
        return answerEmpty(exchange.response, 405, { allow: 'POST, GET, DELETE', ...exchange.headers })
    }
  }

  /** Regular care: idle sessions go, long calls become streams, streams are kept alive, stalled readers are cut. */
  sweep(keepAlive: boolean): void {
    const { limits, now } = this.#served
    const at = now()
    for (const session of this.#sessions.values()) if (session.isIdle(at)) session.link.end('idle')
    for (const [number, { reply, since }] of this.#slow.entries()) {
      if (at - since <= limits.streamAfterMs) break
      reply.upgrade()
      this.#slow.take(number)
    }
    for (const stream of this.openStreams) {
      if (keepAlive) stream.keepAlive()
      stream.cutIfStalled(performance.now(), limits.stalledReaderMs)
    }
  }

  /** Ends the streams on which clients only listen, so that they come back to whoever serves next. */
  endListening(): void {
    for (const session of this.#sessions.values()) session.endListening()
  }

  endAll(reason: string): void {
    for (const session of this.#sessions.values()) session.link.end(reason)
    for (const stream of this.openStreams) stream.end()
  }

  #post(exchange: Exchange<C>): void {
    const { request } = exchange
    if (!isJsonBody(request))
      return this.#refuse(exchange, 415, RPC_CODES.invalid_request, 'Content-Type must be application/json')
    if (!acceptsBoth(request.headers.accept)) {
      return this.#refuse(exchange, 406, RPC_CODES.invalid_request, 'Accept must list application/json and text/event-stream')
    }
    new Arrival(this.#served, exchange, this.#arrived).read()
  }

  readonly #arrived = (exchange: Exchange<C>, arrived: Arrived): void => {
    const { response, headers } = exchange
    if (arrived.kind === 'no-room') {
      const { status, message, headers: more } = noRoom(arrived.full)
      return this.#refuse(exchange, status, RPC_CODES.overloaded, message, more)
    }
    if (arrived.kind === 'too-large') {
      this.#malformed(exchange, RPC_CODES.invalid_request)
      return answerTooLarge(response, this.#served.limits.messageBytes, headers)
    }
    const read = readIncoming(decodeUtf8(arrived.bytes), exchange.caller, this.#served.limits)
    if (read.kind === 'value') return this.#body(exchange, read.value, arrived.bytes.length)
    this.#malformed(exchange, read.code)
    answerError(response, read.status, read.code, read.message, headers)
  }

  #body(exchange: Exchange<C>, value: JsonValue, bytes: number): void {
    if (Array.isArray(value)) return this.#batch(exchange, { values: value, bytes })
    const message = classify(value, this.#served.limits.nestingDepth, bytes)
    if (message.kind === 'invalid') {
      this.#malformed(exchange, message.code)
      return answerJson(exchange.response, 400, errorText(message.id, message.code, message.message), exchange.headers)
    }
    if (message.kind !== 'request') note(exchange.caller)
    const version = headerOf(exchange.request, 'mcp-protocol-version')
    const modernHeader = version !== undefined && looksModern(version)
    const claims = message.kind !== 'response' && claimsModern(message.params)
    if (message.kind === 'request' && (claims || modernHeader)) return this.#modern.serve(exchange, message, claims)
    if (message.kind === 'notification' && modernHeader) return answerEmpty(exchange.response, 202, exchange.headers)
    this.#legacy(exchange, message, version)
  }

  #batch(exchange: Exchange<C>, sent: { readonly values: readonly JsonValue[]; readonly bytes: number }): void {
    const session = this.#session(exchange)
    const named = headerOf(exchange.request, 'mcp-session-id') !== undefined
    if (session === undefined && named) return this.#noSession(exchange)
    session?.seen()
    const batch = readBatch(sent, session?.link, this.#served)
    if ('refusal' in batch) return this.#refuse(exchange, 400, RPC_CODES.invalid_request, batch.refusal)
    const reply = this.#reply(exchange, session)
    if (!serveBatch(batch, reply, (text) => reply.finish(text, 200))) return reply.accept()
    this.#mayBeSlow(reply)
  }

  #legacy(exchange: Exchange<C>, message: Exclude<Message, { kind: 'invalid' }>, version: string | undefined): void {
    const { response, headers } = exchange
    if (message.kind === 'request' && message.method === 'initialize') return this.#initialize(exchange, message)
    const session = this.#session(exchange)
    if (session === undefined) return this.#noSession(exchange)
    if (version !== undefined && !isLegacyRevision(version)) {
      return this.#refuse(exchange, 400, RPC_CODES.invalid_request, `MCP-Protocol-Version ${version.slice(0, 64)} is not served`)
    }
    session.seen()
    if (message.kind === 'notification') session.link.notification(message)
    if (message.kind === 'response') session.link.response(message)
    if (message.kind !== 'request') return answerEmpty(response, 202, headers)
    this.#request(exchange, session, message)
  }

  #request(exchange: Exchange<C>, session: HttpSession<C>, message: RequestMessage): void {
    const reply = this.#reply(exchange, session)
    session.link.request(message, reply, ({ text }) => reply.finish(text, 200))
    this.#mayBeSlow(reply)
  }

  #reply({ response, caller, headers }: Exchange<C>, session: HttpSession<C> | undefined): PostReply<C> {
    const { openStreams } = this
    return new PostReply<C>({ response, caller, served: this.#served, answers: this.#answers, openStreams, headers, session })
  }

  #initialize(exchange: Exchange<C>, message: RequestMessage): void {
    const { request, response, caller, headers } = exchange
    const { callers, limits } = this.#served
    note(caller)
    if (headerOf(request, 'mcp-session-id') !== undefined) {
      return this.#refuse(exchange, 400, RPC_CODES.invalid_request, 'initialize opens a session: send it without Mcp-Session-Id')
    }
    makeSessionRoom(this.#sessions.values(), this.#served, caller)
    if (callers.isFull(caller, limits)) {
      return this.#refuse(exchange, 429, RPC_CODES.overloaded, 'too many sessions are open: end one with DELETE', {
        'retry-after': '10',
      })
    }
    try {
      const service = serviceIn(this.#served.door, caller, 'legacy')
      const client = clientOf(message, service)
      const session = this.#open(caller, service, client, revisionFor(message.params['protocolVersion']))
      const text = resultText(message.id, session.link.initializeResult())
      answerJson(response, 200, text, { 'mcp-session-id': session.id, ...headers })
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      answerJson(response, 200, errorText(message.id, error.code, error.message, error.data), headers)
    }
  }

  #open(
    caller: C,
    service: Service<C>,
    client: ReturnType<typeof clientOf>,
    revision: ReturnType<typeof revisionFor>,
  ): HttpSession<C> {
    const session = new HttpSession<C>({
      id: randomBytes(SESSION_ID_BYTES).toString('base64url'),
      served: this.#served,
      service,
      caller,
      client,
      revision,
      onEnd: (ended) => {
        this.#sessions.delete(ended.id)
        this.#served.callers.remove(ended.link)
      },
    })
    this.#sessions.set(session.id, session)
    this.#served.callers.add(session.link)
    return session
  }

  #get(exchange: Exchange<C>): void {
    const { request, response, headers } = exchange
    note(exchange.caller)
    if (!acceptsEvents(request.headers.accept)) {
      return this.#refuse(exchange, 406, RPC_CODES.invalid_request, 'Accept must list text/event-stream')
    }
    const session = this.#session(exchange)
    if (session === undefined) return this.#noSession(exchange)
    session.seen()
    const open = (): EventStream =>
      new EventStream(response, {
        bufferBytes: this.#served.limits.streamBufferBytes,
        open: this.openStreams,
        unread: this.#served.unread.ofCaller(exchange.caller),
        headers: { 'mcp-session-id': session.id, ...headers },
      })
    const lastEventId = headerOf(request, 'last-event-id')
    if (lastEventId === undefined || lastEventId === '') return session.listen(open())
    if (!session.resume(lastEventId, open)) {
      this.#refuse(
        exchange,
        400,
        RPC_CODES.invalid_request,
        'Last-Event-ID is no event of this session, or what came after it is not kept any more',
      )
    }
  }

  #delete(exchange: Exchange<C>): void {
    note(exchange.caller)
    const session = this.#session(exchange)
    if (session === undefined) return this.#noSession(exchange)
    session.link.end('ended by the client')
    answerEmpty(exchange.response, 200, exchange.headers)
  }

  /**
   * The session of this request if it is the caller's own; somebody else's does not exist. Nor does one that was opened with
   * other rights than the caller has now: what it was promised then must not be served.
   */
  #session({ request, caller }: Exchange<C>): HttpSession<C> | undefined {
    const id = headerOf(request, 'mcp-session-id')
    const session = id === undefined ? undefined : this.#sessions.get(id)
    if (session === undefined || session.link.caller.key !== caller.key) return undefined
    return session.service === serviceIn(this.#served.door, caller, 'legacy') ? session : undefined
  }

  #noSession(exchange: Exchange<C>): void {
    const missing = headerOf(exchange.request, 'mcp-session-id') === undefined
    const words = missing
      ? 'Mcp-Session-Id is missing: open a session with initialize'
      : 'Session not found: open one with initialize'
    this.#refuse(exchange, missing ? 400 : 404, RPC_CODES.invalid_request, words)
  }

  #refuse({ response, headers }: Exchange<C>, status: number, code: number, message: string, more: Headers = {}): void {
    answerError(response, status, code, message, { ...headers, ...more })
  }

  #malformed({ remoteAddress, caller }: Exchange<C>, code: number): void {
    note(caller)
    this.#served.observer.malformed?.({ wire: this.#served.wire, code, remoteAddress })
  }

  #mayBeSlow(reply: PostReply<C>): void {
    if (!reply.isQuiet) return
    const number = ++this.#lastSlow
    this.#slow.set(number, { reply, since: this.#served.now() })
    reply.whenHeard(() => void this.#slow.take(number))
  }
}

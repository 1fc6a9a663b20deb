import { Backoff } from '@parley/protocol/wire'
import { WireError } from '@parley/fetch/browser'
import type { ByteShare } from '@parley/protocol/wire'
import type { IncomingHttpHeaders } from 'node:http'
import type { Pool } from 'undici'
import type { Era, Revision } from '../../revision.ts'
import type { ClientLimits } from '../client-limits.ts'
import { httpFailure, unreachable } from './http-failure.ts'
import { HttpRound, type HttpRoundEvents } from './http-round.ts'
import { ServerStream } from './server-stream.ts'
import type { OutgoingRequest, Sink, ClientLink } from './client-link.ts'

export interface HttpLinkParts {
  readonly pool: Pool
  readonly url: URL
  /** The socket file that the pool dials instead of the URL's host. */
  readonly socketPath?: string
  readonly headers: Readonly<Record<string, string>>
  /** Of this moment; left out: `headers` say all. */
  readonly currentToken?: () => string
  readonly room?: () => ByteShare
  readonly sink: Sink
  readonly limits: ClientLimits
  readonly warn: (message: string) => void
}

/** The stream of one request: where it stands, so that a legacy one can be resumed. */
interface RequestStream {
  readonly id: number
  readonly backoff: Backoff
  round: HttpRound | undefined
  lastEventId: string | undefined
  retryMs: number | undefined
  /** It was resumed, and no message has come since. */
  isPolled: boolean
  timer: NodeJS.Timeout | undefined
}

const ACCEPT_BOTH = 'application/json, text/event-stream'

/** Streamable HTTP: every message of ours is a POST, answers come back on it, the rest on a GET stream. */
export class HttpLink implements ClientLink {
  readonly kind = 'http'
  readonly #parts: HttpLinkParts
  readonly #path: string
  readonly #streams = new Map<number, RequestStream>()
  #postHeaders: Record<string, string>
  #sessionId: string | undefined
  #revision: Revision | undefined
  #era: Era = 'legacy'
  #serverStream: ServerStream | undefined
  #closed = false

  constructor(parts: HttpLinkParts) {
    this.#parts = parts
    this.#path = parts.url.pathname + parts.url.search
    this.#postHeaders = this.#makePostHeaders()
  }

  agreed(era: Era, revision: Revision): void {
    this.#era = era
    this.#revision = revision
    this.#postHeaders = this.#makePostHeaders()
  }

  initialized(): void {
    if (this.#era === 'modern') return
    this.#serverStream?.close()
    this.#serverStream = new ServerStream({
      limits: this.#parts.limits,
      newRound: (events) => this.#newRound(events),
      warn: this.#parts.warn,
      open: (round, lastEventId) => this.#get(round, lastEventId),
      receive: (text) => this.#parts.sink.receive(text),
      sessionLost: () => this.#parts.sink.sessionLost(),
      hasSession: () => this.#sessionId !== undefined,
    })
    this.#serverStream.open()
  }

  forgetSession(): void {
    this.#serverStream?.close()
    this.#serverStream = undefined
    this.#sessionId = undefined
    this.#revision = undefined
    this.#postHeaders = this.#makePostHeaders()
  }

  request(request: OutgoingRequest): void {
    const stream: RequestStream = {
      id: request.id,
      backoff: new Backoff(this.#parts.limits.reconnectMs, this.#parts.limits.reconnectMaxMs),
      round: undefined,
      lastEventId: undefined,
      retryMs: undefined,
      isPolled: false,
      timer: undefined,
    }
    this.#streams.set(request.id, stream)
    const sessionId = this.#sessionId
    const round = this.#roundFor(stream, request.method, sessionId)
    stream.round = round
    const post = this.#withToken(this.#postHeaders)
    const headers = request.headers === undefined ? post : { ...post, ...request.headers }
    this.#parts.pool.dispatch({ path: this.#path, method: 'POST', headers, body: request.text }, round)
  }

  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const round = this.#newRound({
        event: () => {},
        body: (status, headers, body) => (status >= 200 && status < 300 ? resolve() : reject(httpFailure(status, headers, body))),
        end: () => resolve(),
        unreachable: (error) => reject(unreachable(this.#parts, error)),
      })
      this.#parts.pool.dispatch(
        { path: this.#path, method: 'POST', headers: this.#withToken(this.#postHeaders), body: text },
        round,
      )
    })
  }

  abandon(id: number): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    this.#forget(stream)
    stream.round?.cancel()
  }

  /** Undici keeps a request until its connection took it; the bound on pending requests is the bound here. */
  bufferedBytes(): number {
    return 0
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#serverStream?.close()
    for (const id of [...this.#streams.keys()]) this.abandon(id)
    if (this.#sessionId !== undefined) await this.#endSession()
    await this.#parts.pool.destroy()
  }

  #makePostHeaders(): Record<string, string> {
    const headers: Record<string, string> = { ...this.#parts.headers, 'content-type': 'application/json', accept: ACCEPT_BOTH }
    if (this.#revision !== undefined) headers['mcp-protocol-version'] = this.#revision
    if (this.#sessionId !== undefined) headers['mcp-session-id'] = this.#sessionId
    return headers
  }

  #newRound(events: HttpRoundEvents): HttpRound {
    return new HttpRound(this.#parts.limits.messageBytes, events, this.#parts.room?.())
  }

  #roundFor(stream: RequestStream, method: string, sessionId: string | undefined): HttpRound {
    const round: HttpRound = this.#newRound({
      stream: (headers) => this.#noteSession(method, headers),
      event: ({ data, id }) => {
        stream.lastEventId = id
        stream.retryMs = round.retryMs
        // A stream that made progress may be cut again without being given up.
        stream.backoff.reset()
        if (data === '') return
        stream.isPolled = false
        if (this.#parts.sink.receive(data, stream.id)) this.#forget(stream)
      },
      body: (status, headers, text) => this.#body(stream, { status, headers, text, method, sessionId }),
      end: (error) => {
        stream.retryMs = round.retryMs ?? stream.retryMs
        stream.lastEventId = round.lastEventId ?? stream.lastEventId
        this.#streamEnded(stream, error)
      },
      unreachable: (error) => {
        if (stream.lastEventId !== undefined) return this.#streamEnded(stream, error)
        this.#fail(stream, unreachable(this.#parts, error))
      },
    })
    return round
  }

  #body(
    stream: RequestStream,
    {
      status,
      headers,
      text,
      method,
      sessionId,
    }: { status: number; headers: IncomingHttpHeaders; text: string; method: string; sessionId: string | undefined },
  ): void {
    if (status === 404 && sessionId !== undefined && this.#era === 'legacy') {
      // Only the first to notice may have the session opened anew; the others find it renewed.
      if (sessionId === this.#sessionId) this.#parts.sink.sessionLost()
      return this.#fail(stream, new WireError('session_lost', 'the server no longer knows the session', { status }))
    }
    if (status < 200 || status >= 300) return this.#fail(stream, httpFailure(status, headers, text))
    this.#noteSession(method, headers)
    if (this.#parts.sink.receive(text, stream.id)) return this.#forget(stream)
    this.#fail(stream, new WireError('bad_message', `the answer to ${method} (status ${status}) is not a JSON-RPC answer`))
  }

  #noteSession(method: string, headers: IncomingHttpHeaders): void {
    const id = headers['mcp-session-id']
    if (method !== 'initialize' || typeof id !== 'string') return
    this.#sessionId = id
    this.#postHeaders = this.#makePostHeaders()
  }

  /** Legacy streams with event ids go on where they were cut; without ids, and in the modern era, the answer is lost. */
  #streamEnded(stream: RequestStream, error: Error | undefined): void {
    if (!this.#streams.has(stream.id)) return
    if (error instanceof WireError) return this.#fail(stream, error)
    const { limits } = this.#parts
    if (this.#era === 'modern' || stream.lastEventId === undefined || stream.backoff.failures >= limits.resumeAttempts) {
      const why = error === undefined ? 'ended' : `broke (${error.message})`
      return this.#fail(stream, new WireError('stream_lost', `the stream ${why} before the answer came`, { cause: error }))
    }
    const asked = stream.retryMs === undefined ? undefined : Math.min(stream.retryMs, limits.retryMaxMs)
    const waitMs = stream.backoff.next(asked, stream.isPolled ? limits.reconnectMs : undefined)
    stream.isPolled = true
    stream.timer = setTimeout(() => this.#resume(stream), waitMs)
  }

  #resume(stream: RequestStream): void {
    stream.timer = undefined
    stream.round = this.#roundFor(stream, 'resume', this.#sessionId)
    this.#get(stream.round, stream.lastEventId)
  }

  #get(round: HttpRound, lastEventId: string | undefined): void {
    const last = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const headers = { ...this.#bareHeaders(), accept: 'text/event-stream', ...last }
    this.#parts.pool.dispatch({ path: this.#path, method: 'GET', headers, bodyTimeout: this.#parts.limits.silentStreamMs }, round)
  }

  #fail(stream: RequestStream, error: Error): void {
    this.#forget(stream)
    this.#parts.sink.fail(stream.id, error)
  }

  #forget(stream: RequestStream): void {
    clearTimeout(stream.timer)
    this.#streams.delete(stream.id)
  }

  #endSession(): Promise<void> {
    const { pool, limits } = this.#parts
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limits.closeMs)
      const done = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const round = this.#newRound({ event: () => {}, body: done, end: done, unreachable: done })
      pool.dispatch({ path: this.#path, method: 'DELETE', headers: this.#bareHeaders() }, round)
    })
  }

  #withToken(headers: Readonly<Record<string, string>>): Record<string, string> {
    const { currentToken } = this.#parts
    return currentToken === undefined ? headers : { ...headers, authorization: `Bearer ${currentToken()}` }
  }

  /** Of a request without a body. */
  #bareHeaders(): Record<string, string> {
    const { 'content-type': _ofBody, ...headers } = this.#withToken(this.#postHeaders)
    return headers
  }
}

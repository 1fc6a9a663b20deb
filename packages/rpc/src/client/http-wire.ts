import type { IncomingHttpHeaders } from 'node:http'
import type { Pool } from 'undici'
import type { Era, Revision } from '../revision.ts'
import { Backoff } from './backoff.ts'
import type { ClientLimits } from './client-limits.ts'
import { httpFailure, unreachable } from './http-failure.ts'
import { HttpRound } from './http-round.ts'
import { ServerStream } from './server-stream.ts'
import type { OutgoingRequest, Sink, Wire } from './transport.ts'
import { WireError } from './wire-error.ts'

export interface HttpWireParts {
  readonly pool: Pool
  readonly url: URL
  /** The socket file that the pool dials instead of the URL's host. */
  readonly socketPath?: string
  readonly headers: Readonly<Record<string, string>>
  readonly sink: Sink
  readonly limits: ClientLimits
  readonly warn: (message: string) => void
}

/** The stream of one request: where it stands, so that a legacy one can be resumed. */
interface Exchange {
  readonly id: number
  readonly backoff: Backoff
  round: HttpRound | undefined
  lastEventId: string | undefined
  retryMs: number | undefined
  timer: NodeJS.Timeout | undefined
}

const ACCEPT_BOTH = 'application/json, text/event-stream'

/** Streamable HTTP: every message of ours is a POST, answers come back on it, the rest on a GET stream. */
export class HttpWire implements Wire {
  readonly kind = 'http'
  readonly #parts: HttpWireParts
  readonly #path: string
  readonly #exchanges = new Map<number, Exchange>()
  #postHeaders: Record<string, string>
  #sessionId: string | undefined
  #revision: Revision | undefined
  #era: Era = 'legacy'
  #stream: ServerStream | undefined
  #closed = false

  constructor(parts: HttpWireParts) {
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
    this.#stream?.close()
    this.#stream = new ServerStream({
      limits: this.#parts.limits,
      warn: this.#parts.warn,
      open: (round, lastEventId) => this.#get(round, lastEventId),
      receive: (text) => this.#parts.sink.receive(text),
      sessionLost: () => this.#parts.sink.sessionLost(),
      hasSession: () => this.#sessionId !== undefined,
    })
    this.#stream.open()
  }

  forgetSession(): void {
    this.#stream?.close()
    this.#stream = undefined
    this.#sessionId = undefined
    this.#revision = undefined
    this.#postHeaders = this.#makePostHeaders()
  }

  request(request: OutgoingRequest): void {
    const exchange: Exchange = {
      id: request.id,
      backoff: new Backoff(this.#parts.limits.reconnectMs, this.#parts.limits.reconnectMaxMs),
      round: undefined,
      lastEventId: undefined,
      retryMs: undefined,
      timer: undefined,
    }
    this.#exchanges.set(request.id, exchange)
    const sessionId = this.#sessionId
    const round = this.#roundFor(exchange, request.method, sessionId)
    exchange.round = round
    const headers = request.headers === undefined ? this.#postHeaders : { ...this.#postHeaders, ...request.headers }
    this.#parts.pool.dispatch({ path: this.#path, method: 'POST', headers, body: request.text }, round)
  }

  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const round = new HttpRound(this.#parts.limits.messageBytes, {
        event: () => {},
        body: (status, headers, body) => (status >= 200 && status < 300 ? resolve() : reject(httpFailure(status, headers, body))),
        end: () => resolve(),
        unreachable: (error) => reject(unreachable(this.#parts, error)),
      })
      this.#parts.pool.dispatch({ path: this.#path, method: 'POST', headers: this.#postHeaders, body: text }, round)
    })
  }

  abandon(id: number): void {
    const exchange = this.#exchanges.get(id)
    if (exchange === undefined) return
    this.#forget(exchange)
    exchange.round?.cancel()
  }

  /** Undici keeps a request until its connection took it; the bound on pending requests is the bound here. */
  bufferedBytes(): number {
    return 0
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#stream?.close()
    for (const id of [...this.#exchanges.keys()]) this.abandon(id)
    if (this.#sessionId !== undefined) await this.#endSession(this.#sessionId)
    await this.#parts.pool.destroy()
  }

  #makePostHeaders(): Record<string, string> {
    const headers: Record<string, string> = { ...this.#parts.headers, 'content-type': 'application/json', accept: ACCEPT_BOTH }
    if (this.#revision !== undefined) headers['mcp-protocol-version'] = this.#revision
    if (this.#sessionId !== undefined) headers['mcp-session-id'] = this.#sessionId
    return headers
  }

  #roundFor(exchange: Exchange, method: string, sessionId: string | undefined): HttpRound {
    const round: HttpRound = new HttpRound(this.#parts.limits.messageBytes, {
      stream: (headers) => this.#noteSession(method, headers),
      event: ({ data, id }) => {
        exchange.lastEventId = id
        exchange.retryMs = round.retryMs
        // A stream that made progress may be cut again without being given up.
        exchange.backoff.reset()
        if (data !== '' && this.#parts.sink.receive(data, exchange.id)) this.#forget(exchange)
      },
      body: (status, headers, text) => this.#body(exchange, { status, headers, text, method, sessionId }),
      end: (error) => {
        exchange.retryMs = round.retryMs ?? exchange.retryMs
        exchange.lastEventId = round.lastEventId ?? exchange.lastEventId
        this.#streamEnded(exchange, error)
      },
      unreachable: (error) => {
        if (exchange.lastEventId !== undefined) return this.#streamEnded(exchange, error)
        this.#fail(exchange, unreachable(this.#parts, error))
      },
    })
    return round
  }

  #body(
    exchange: Exchange,
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
      return this.#fail(exchange, new WireError('session_lost', 'the server no longer knows the session', { status }))
    }
    if (status < 200 || status >= 300) return this.#fail(exchange, httpFailure(status, headers, text))
    this.#noteSession(method, headers)
    if (this.#parts.sink.receive(text, exchange.id)) return this.#forget(exchange)
    this.#fail(exchange, new WireError('bad_message', `the answer to ${method} (status ${status}) is not a JSON-RPC answer`))
  }

  #noteSession(method: string, headers: IncomingHttpHeaders): void {
    const id = headers['mcp-session-id']
    if (method !== 'initialize' || typeof id !== 'string') return
    this.#sessionId = id
    this.#postHeaders = this.#makePostHeaders()
  }

  /** Legacy streams with event ids go on where they were cut; without ids, and in the modern era, the answer is lost. */
  #streamEnded(exchange: Exchange, error: Error | undefined): void {
    if (!this.#exchanges.has(exchange.id)) return
    if (error instanceof WireError) return this.#fail(exchange, error)
    const { limits } = this.#parts
    if (this.#era === 'modern' || exchange.lastEventId === undefined || exchange.backoff.failures >= limits.resumeAttempts) {
      const why = error === undefined ? 'ended' : `broke (${error.message})`
      return this.#fail(exchange, new WireError('stream_lost', `the stream ${why} before the answer came`, { cause: error }))
    }
    const asked = exchange.retryMs === undefined ? undefined : Math.min(exchange.retryMs, limits.retryMaxMs)
    exchange.timer = setTimeout(() => this.#resume(exchange), exchange.backoff.next(asked))
  }

  #resume(exchange: Exchange): void {
    exchange.timer = undefined
    exchange.round = this.#roundFor(exchange, 'resume', this.#sessionId)
    this.#get(exchange.round, exchange.lastEventId)
  }

  #get(round: HttpRound, lastEventId: string | undefined): void {
    const headers: Record<string, string> = { ...this.#postHeaders, accept: 'text/event-stream' }
    delete headers['content-type']
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId
    this.#parts.pool.dispatch({ path: this.#path, method: 'GET', headers, bodyTimeout: this.#parts.limits.silentStreamMs }, round)
  }

  #fail(exchange: Exchange, error: Error): void {
    this.#forget(exchange)
    this.#parts.sink.fail(exchange.id, error)
  }

  #forget(exchange: Exchange): void {
    clearTimeout(exchange.timer)
    this.#exchanges.delete(exchange.id)
  }

  #endSession(sessionId: string): Promise<void> {
    const { pool, headers, limits } = this.#parts
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limits.closeMs)
      const done = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const round = new HttpRound(limits.messageBytes, { event: () => {}, body: done, end: done, unreachable: done })
      pool.dispatch(
        { path: this.#path, method: 'DELETE', headers: { ...headers, ...this.#versionHeader(), 'mcp-session-id': sessionId } },
        round,
      )
    })
  }

  #versionHeader(): Record<string, string> {
    return this.#revision === undefined ? {} : { 'mcp-protocol-version': this.#revision }
  }
}

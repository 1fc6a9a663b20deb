import type { IncomingHttpHeaders } from 'node:http'
import { Agent } from 'undici'
import { HttpExchange } from './http-exchange.ts'
import { type SseEvent, SseParser } from './sse-parser.ts'
import { WireError } from './wire-error.ts'

/** One plain HTTP request whose answer is read as it comes. */
export interface HttpCall {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** From sending to the first byte of the answer's head. */
  readonly headersMs: number
  /** Between two pieces of the answer's body. */
  readonly idleMs: number
  readonly signal?: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Read it to its end or give it up by the signal; a cut or silent one throws `HttpCallFailed`. */
  readonly body: AsyncIterable<Buffer>
}

/** `unreachable`: nothing was sent. `silent`: no answer, or none any more, in time. `cut`: it broke off. */
export type HttpCallFailure = 'unreachable' | 'silent' | 'cut' | 'aborted'

export class HttpCallFailed extends Error {
  readonly code: HttpCallFailure
  constructor(code: HttpCallFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'HttpCallFailed'
    this.code = code
  }
}

/** Makes plain HTTP requests; connections are kept and shared. Redirects are not followed: a key must not travel. */
export interface HttpFetcher {
  call(call: HttpCall): Promise<HttpAnswer>
  close(): Promise<void>
}

export interface HttpFetcherOptions {
  readonly connectMs: number
  /** Connections to one host. */
  readonly connections: number
}

export function openHttpFetcher({ connectMs, connections }: HttpFetcherOptions): HttpFetcher {
  const dispatcher = new Agent({ connect: { timeout: connectMs }, connections, pipelining: 1 })
  // As a rule one caller asks one address again and again.
  let latest: Target = { url: '', origin: '', path: '' }
  return {
    async call({ method, url, headers, body, headersMs, idleMs, signal }) {
      const to = url === latest.url ? latest : targetOf(url)
      if (to === undefined) throw failureOf(new TypeError('invalid URL'), signal)
      latest = to
      const exchange = new HttpExchange(signal, (error) => failureOf(error, signal))
      const wanted = { origin: to.origin, path: to.path, method, headers, body: body ?? null }
      if (!exchange.isOver) dispatcher.dispatch({ ...wanted, headersTimeout: headersMs, bodyTimeout: idleMs }, exchange)
      const { status, headers: answered } = await exchange.head
      return { status, headers: answered, body: exchange }
    },
    close: () => dispatcher.destroy(),
  }
}

interface Target {
  readonly url: string
  readonly origin: string
  readonly path: string
}

function targetOf(url: string): Target | undefined {
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined
  return { url, origin: parsed.origin, path: `${parsed.pathname}${parsed.search}` }
}

/** Everything after the connection stood may have reached the other side. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])
const SILENT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

function failureOf(error: unknown, signal: AbortSignal | undefined): HttpCallFailed {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = error instanceof Error && error.message !== '' ? error.message : code || String(error)
  if (signal?.aborted === true) return new HttpCallFailed('aborted', 'given up', { cause: error })
  if (SILENT.has(code)) return new HttpCallFailed('silent', 'no answer in time', { cause: error })
  if (NOT_SENT.has(code)) return new HttpCallFailed('unreachable', message, { cause: error })
  return new HttpCallFailed('cut', message, { cause: error })
}

const LINE_ENDS = Buffer.from('\n\n')

/**
 * The events of a `text/event-stream` body, each at most `eventBytes`, all that came together at once: many share one wait. One beyond
 * the bound throws `WireError` `too_large`. A body that ends well ends its last event too: not everybody sends the empty line after it.
 */
export async function* readEventBatches(
  body: AsyncIterable<Uint8Array>,
  eventBytes: number,
): AsyncGenerator<readonly SseEvent[]> {
  let events: SseEvent[] = []
  const parser = new SseParser(eventBytes, (event) => events.push(event))
  for await (const piece of body) {
    parser.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))
    if (events.length === 0) continue
    const batch = events
    events = []
    yield batch
  }
  parser.push(LINE_ENDS)
  if (events.length > 0) yield events
}

/** The whole body as text, at most `limitBytes`; the rest is left unread. */
export async function readText(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > limitBytes) throw new WireError('too_large', `an answer has more than ${limitBytes} bytes`)
    parts.push(piece)
  }
  return Buffer.concat(parts).toString('utf8')
}

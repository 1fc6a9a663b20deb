import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BodyRoom, RoomFull } from '../limit/body-room.ts'
import type { Observer } from '../observer.ts'
import type { Caller } from '../service.ts'
import { answerJson, noRoom } from './answer.ts'
import { readBody } from './arrival.ts'
import { remoteAddressOf, splitTarget } from './request-check.ts'
import type { HttpReply, HttpRequest, Route } from './route.ts'

class BodyTooLarge extends Error {}
class ClientGone extends Error {}
/** Too many bytes of the sender, or of all, are held already. A route that does not catch it answers 429 or 503. */
export class BodyWithoutRoom extends Error {
  readonly full: RoomFull
  constructor(full: RoomFull) {
    super('there is no room for this body now')
    this.full = full
  }
}

/** Everything that is not MCP. */
export class Routes {
  readonly #routes: readonly Route[]
  readonly #trustedProxies: ReadonlySet<string>
  readonly #observer: Pick<Observer, 'failed'>
  readonly #room: BodyRoom

  constructor(start: {
    readonly routes: readonly Route[]
    readonly trustedProxies: ReadonlySet<string>
    readonly observer: Pick<Observer, 'failed'>
    readonly bodies: BodyRoom
  }) {
    this.#routes = start.routes
    this.#trustedProxies = start.trustedProxies
    this.#observer = start.observer
    this.#room = start.bodies
  }

  /** Asks each route in turn; the first that answers wins. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const asked = this.#requestOf(request, response, gone.signal)
    if (asked === undefined)
      return answerJson(response, 400, '{"error":{"code":"bad_request","message":"the path cannot be decoded"}}')
    try {
      for (const route of this.#routes) {
        const reply = await route(asked)
        if (reply !== undefined) return await send(response, reply, asked.method)
      }
      answerJson(response, 404, '{"error":{"code":"not_found","message":"there is nothing at this path"}}')
    } catch (error) {
      if (error instanceof ClientGone || answerBodyFault(response, error)) return
      this.#observer.failed?.({ wire: 'http', method: `${asked.method} ${asked.path}`, error })
      if (response.headersSent) return void response.destroy()
      answerJson(response, 500, '{"error":{"code":"internal","message":"something went wrong on our side"}}')
    }
  }

  #requestOf(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): HttpRequest | undefined {
    const [rawPath, query] = splitTarget(request.url ?? '/')
    const remoteAddress = remoteAddressOf(request, this.#trustedProxies)
    try {
      return {
        method: request.method ?? 'GET',
        path: decodeURIComponent(rawPath),
        query: new URLSearchParams(query),
        headers: request.headers,
        remoteAddress,
        signal,
        body: (limitBytes, sender) => this.#body(request, response, { limitBytes, sender, remoteAddress }),
      }
    } catch {
      return undefined
    }
  }

  #body(
    request: IncomingMessage,
    response: ServerResponse,
    from: { readonly limitBytes: number; readonly sender: Caller | undefined; readonly remoteAddress: string },
  ): Promise<Buffer> {
    const share = from.sender === undefined ? this.#room.ofAddress(from.remoteAddress) : this.#room.ofCaller(from.sender)
    // Until its exchange is over, what the body said may be in use.
    response.once('close', () => share.release())
    return new Promise((resolve, reject) =>
      readBody(request, { limitBytes: from.limitBytes, share }, (outcome) => {
        if (outcome.kind === 'body') resolve(outcome.bytes)
        else if (outcome.kind === 'no-room') reject(new BodyWithoutRoom(outcome.full))
        else reject(outcome.kind === 'gone' ? new ClientGone() : new BodyTooLarge())
      }),
    )
  }
}

/** Says what is wrong with a body; false when that is not what went wrong. */
function answerBodyFault(response: ServerResponse, error: unknown): boolean {
  if (error instanceof BodyTooLarge) {
    answerJson(response, 413, '{"error":{"code":"too_large","message":"the body is too large"}}', { connection: 'close' })
    return true
  }
  if (!(error instanceof BodyWithoutRoom)) return false
  const { status, message, headers } = noRoom(error.full)
  answerJson(response, status, JSON.stringify({ error: { code: 'overloaded', message } }), headers)
  return true
}

async function send(response: ServerResponse, { status, headers, body, cut }: HttpReply, method: string): Promise<void> {
  if (response.headersSent || response.destroyed) return endUnread(body)
  if (isPieces(body)) {
    response.writeHead(status, headers)
    if (method !== 'HEAD') return sendPieces(response, body, cut)
    await endUnread(body)
    return void response.end()
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array())
  response.writeHead(status, { ...(status === 304 ? {} : { 'content-length': bytes.length }), ...headers })
  response.end(method === 'HEAD' || status === 304 ? undefined : bytes)
}

type Pieces = AsyncIterable<Uint8Array>
const isPieces = (body: HttpReply['body']): body is Pieces => typeof body === 'object' && Symbol.asyncIterator in body

/** Whoever made the pieces must learn that nobody reads them. */
async function endUnread(body: HttpReply['body']): Promise<void> {
  if (isPieces(body)) await body[Symbol.asyncIterator]().return?.()
}

async function sendPieces(response: ServerResponse, body: Pieces, cut: AbortSignal | undefined): Promise<void> {
  response.flushHeaders()
  const destroy = (): void => void response.destroy()
  cut?.addEventListener('abort', destroy, { once: true })
  if (cut?.aborted === true) destroy()
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = response.destroyed ? undefined : await nextPiece(response, pieces)
      if (next === undefined || response.destroyed) return endPieces(pieces)
      if (next.done === true) return void response.end()
      if (!response.write(next.value)) await writable(response)
    }
  } catch (error) {
    response.destroy()
    throw error
  } finally {
    cut?.removeEventListener('abort', destroy)
  }
}

/** The next piece, or `undefined` when the connection is closed first: whoever makes the pieces may never notice. */
function nextPiece(
  response: ServerResponse,
  pieces: AsyncIterator<Uint8Array>,
): Promise<IteratorResult<Uint8Array, unknown> | undefined> {
  return new Promise((resolve, reject) => {
    const close = (): void => resolve(undefined)
    response.once('close', close)
    pieces
      .next()
      .then(resolve, reject)
      .finally(() => response.off('close', close))
  })
}

/** Not waited for: one that is busy with its next piece ends only after that. What it throws then interests nobody. */
function endPieces(pieces: AsyncIterator<Uint8Array>): void {
  pieces.return?.().catch(() => undefined)
}

function writable(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}

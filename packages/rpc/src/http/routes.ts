import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Observer } from '../observer.ts'
import type { Caller } from '../service.ts'
import { answerJson, readBody } from './answer.ts'
import { remoteAddressOf, splitTarget } from './request-check.ts'
import type { HttpReply, HttpRequest, Route } from './route.ts'

class BodyTooLarge extends Error {}
class ClientGone extends Error {}

/** Asks each route in turn; the first that answers wins. */
export async function answerRoutes<C extends Caller>(
  routes: readonly Route[],
  request: IncomingMessage,
  response: ServerResponse,
  trustedProxies: ReadonlySet<string>,
  observer: Observer<C>,
): Promise<void> {
  const asked = requestOf(request, remoteAddressOf(request, trustedProxies))
  if (asked === undefined)
    return answerJson(response, 400, '{"error":{"code":"bad_request","message":"the path cannot be decoded"}}')
  try {
    for (const route of routes) {
      const reply = await route(asked)
      if (reply !== undefined) return send(response, reply, asked.method)
    }
    answerJson(response, 404, '{"error":{"code":"not_found","message":"there is nothing at this path"}}')
  } catch (error) {
    if (error instanceof ClientGone) return
    if (error instanceof BodyTooLarge) {
      return answerJson(response, 413, '{"error":{"code":"too_large","message":"the body is too large"}}', {
        connection: 'close',
      })
    }
    observer.failed?.({ wire: 'http', method: `${asked.method} ${asked.path}`, error })
    answerJson(response, 500, '{"error":{"code":"internal","message":"something went wrong on our side"}}')
  }
}

function requestOf(request: IncomingMessage, remoteAddress: string): HttpRequest | undefined {
  const [rawPath, query] = splitTarget(request.url ?? '/')
  try {
    return {
      method: request.method ?? 'GET',
      path: decodeURIComponent(rawPath),
      query: new URLSearchParams(query),
      headers: request.headers,
      remoteAddress,
      body: (limitBytes) =>
        new Promise((resolve, reject) =>
          readBody(request, limitBytes, (outcome) => {
            if (outcome.kind === 'body') resolve(outcome.bytes)
            else reject(outcome.kind === 'gone' ? new ClientGone() : new BodyTooLarge())
          }),
        ),
    }
  } catch {
    return undefined
  }
}

function send(response: ServerResponse, { status, headers, body }: HttpReply, method: string): void {
  if (response.headersSent || response.destroyed) return
  const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array())
  response.writeHead(status, { ...(status === 304 ? {} : { 'content-length': bytes.length }), ...headers })
  response.end(method === 'HEAD' || status === 304 ? undefined : bytes)
}

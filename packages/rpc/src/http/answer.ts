import type { IncomingMessage, ServerResponse } from 'node:http'
import { RPC_CODES } from '@parley/protocol'
import type { Denied } from '../door.ts'
import { errorText } from '../message-text.ts'

export type Headers = Record<string, string>

/** One JSON body, with its length, so that the connection can be used again at once. */
export function answerJson(response: ServerResponse, status: number, text: string, headers?: Headers): void {
  if (response.headersSent || response.destroyed) return
  const length = Buffer.byteLength(text)
  response.writeHead(
    status,
    headers === undefined
      ? { 'content-type': 'application/json', 'content-length': length }
      : { 'content-type': 'application/json', 'content-length': length, ...headers },
  )
  response.end(text)
}

export function answerEmpty(response: ServerResponse, status: number, headers: Headers = {}): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { 'content-length': '0', ...headers })
  response.end()
}

/** A JSON-RPC error that belongs to no request we could read. */
export function answerError(response: ServerResponse, status: number, code: number, message: string, headers?: Headers): void {
  answerJson(response, status, errorText(null, code, message), headers)
}

export function answerDenied(response: ServerResponse, denied: Denied, headers: Headers = {}): void {
  answerJson(response, denied.status, deniedBody(denied), { ...deniedHeaders(denied), ...headers })
}

export function deniedBody({ code, message }: Denied): string {
  return JSON.stringify({ error: { code, message } })
}

export function deniedHeaders({ status, code, message, retryAfterSeconds }: Denied): Headers {
  const headers: Headers = {}
  if (status === 401) {
    const missing = code === 'missing_authorization'
    headers['www-authenticate'] = missing
      ? 'Bearer'
      : `Bearer error="invalid_token", error_description="${message.replaceAll(/[^ !#-[\]-~]/g, "'")}"`
  }
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  return headers
}

export type BodyOutcome =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away half-way: there is nobody to answer. */
  | { readonly kind: 'gone' }

/** Reads a body up to a limit. Calls back rather than promises: it is on the path of every call. */
export function readBody(request: IncomingMessage, limitBytes: number, done: (outcome: BodyOutcome) => void): void {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limitBytes) return done({ kind: 'too-large' })
  let body: Buffer | undefined
  let size = 0
  let settled = false
  const settle = (outcome: BodyOutcome): void => {
    if (settled) return
    settled = true
    done(outcome)
  }
  request.on('data', (chunk: Buffer) => {
    if (settled) return
    if (size + chunk.length > limitBytes) return settle({ kind: 'too-large' })
    body = body === undefined ? chunk : joined(body, size, chunk, limitBytes)
    size += chunk.length
  })
  request.on('end', () => settle({ kind: 'body', bytes: body?.subarray(0, size) ?? Buffer.alloc(0) }))
  request.on('close', () => settle({ kind: 'gone' }))
  request.on('error', () => settle({ kind: 'gone' }))
}

/** One buffer that doubles, not a list of chunks: a chunk may be a single byte, and would cost hundreds in a list. */
function joined(body: Buffer, size: number, chunk: Buffer, limitBytes: number): Buffer {
  const end = size + chunk.length
  const room = end <= body.length ? body : Buffer.allocUnsafe(Math.min(limitBytes, end * 2))
  if (room !== body) body.copy(room, 0, 0, size)
  chunk.copy(room, size)
  return room
}

/** After an answer that came before the whole body: the rest must not be read as the next request. */
export function answerTooLarge(response: ServerResponse, limitBytes: number, headers?: Headers): void {
  const words = `a message is at most ${limitBytes} bytes`
  answerError(response, 413, RPC_CODES.invalid_request, words, { connection: 'close', ...headers })
}

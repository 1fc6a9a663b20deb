import type { ServerResponse } from 'node:http'
import { RPC_CODES } from '@parley/protocol'
import type { RoomFull } from '../limit/body-room.ts'
import type { Denied } from '../door.ts'
import { errorText } from '../message/text.ts'

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

interface Answer {
  readonly response: ServerResponse
  readonly status: number
  readonly text: string
  readonly headers: Headers | undefined
}

/** Answers that are ready. At most one per request under way, and never kept for longer than one turn of the event loop. */
let ready: Answer[] = []

/**
 * Writes an answer at the end of this turn of the event loop, with all others of it. Each write wakes its reader, and
 * a reader that is woken for every single answer costs both sides more than the answers do.
 */
export function answerSoon(response: ServerResponse, status: number, text: string, headers: Headers | undefined): void {
  if (ready.push({ response, status, text, headers }) === 1) setImmediate(writeAll)
}

function writeAll(): void {
  const answers = ready
  ready = []
  for (const { response, status, text, headers } of answers) answerJson(response, status, text, headers)
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
  if (status === 401) headers['www-authenticate'] = code === 'missing_authorization' ? challenge() : challenge(message)
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  return headers
}

const REALM = 'parley'

/**
 * What `WWW-Authenticate` says with a 401: where, and what is wrong with the token that was shown. RFC 6750 wants no error
 * for who showed none. The words are those of the body: only who holds a token learns what became of it.
 */
export function challenge(fault?: string): string {
  const words = fault?.replaceAll(/[^ !#-[\]-~]/g, "'")
  return `Bearer realm="${REALM}"${words === undefined ? '' : `, error="invalid_token", error_description="${words}"`}`
}

/** After an answer that came before the whole body: the rest must not be read as the next request. */
export function answerTooLarge(response: ServerResponse, limitBytes: number, headers?: Headers): void {
  const words = `a message is at most ${limitBytes} bytes`
  answerError(response, 413, RPC_CODES.invalid_request, words, { connection: 'close', ...headers })
}

/** A body for which there is no room now. The rest of it must not be read as the next request. */
export function noRoom(full: RoomFull): { readonly status: 429 | 503; readonly message: string; readonly headers: Headers } {
  const headers = { 'retry-after': String(NO_ROOM_RETRY_SECONDS), connection: 'close' }
  return full === 'own'
    ? {
        status: 429,
        message: 'too many bytes of yours are on their way or being worked on; send them one after the other',
        headers,
      }
    : { status: 503, message: 'too many bytes are on their way at this moment; try again shortly', headers }
}
/** An answer for which there is no room until others are read. The connection is closed, for it may be the one that is not read. */
export function unreadRoom(full: RoomFull): ReturnType<typeof noRoom> {
  const message =
    full === 'own'
      ? 'too many bytes of answers to you have not been read; read them, then ask again'
      : 'too many bytes of answers have not been read at this moment; try again shortly'
  return { ...noRoom(full), message }
}
const NO_ROOM_RETRY_SECONDS = 2

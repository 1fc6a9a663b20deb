import { WireError } from '@parley/fetch/browser'
import type { IncomingHttpHeaders } from 'node:http'
import { isJsonObject, keptText, parseForeign } from '@parley/protocol'
import { connectReason } from './connect-reason.ts'
import { readError } from '../../message/loose.ts'

const SHOWN_CHARACTERS = 200
const REASON_CHARS = 2_000

/**
 * What a refused POST means. A JSON-RPC error in the body is the server's own word and wins; the status stays
 * reachable as its cause, because the probe for the era needs it.
 */
export function httpFailure(status: number, headers: IncomingHttpHeaders, text: string): Error {
  const body = parseForeign(text)
  const code = status === 401 || status === 403 ? 'unauthorized' : 'http_status'
  const said = readReason(body) ?? keptText(text, SHOWN_CHARACTERS).trim()
  // The header says to programs what the body mostly says to people already.
  const shown = said === '' ? String(headers['www-authenticate'] ?? '') : said
  const message = `the server answered ${status}${shown === '' ? '' : `: ${shown}`}`
  const refused = new WireError(code, message, { status })
  if (code === 'unauthorized') return refused
  return (isJsonObject(body) ? readError(body.error, refused) : undefined) ?? refused
}

/** The words in the body of a refusal, where it has any. */
export function readReason(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined
  const words = [body.message, body.error, isJsonObject(body.error) ? body.error.message : undefined]
  const said = words.find((word) => typeof word === 'string')
  return said === undefined ? undefined : keptText(said, REASON_CHARS)
}

/** The HTTP status behind a failure, if there was one. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof WireError) return error.status
  return error instanceof Error && error.cause instanceof WireError ? error.cause.status : undefined
}

/** What undici says when there is no connection, in our words. */
export function unreachable({ url, socketPath }: { readonly url: URL; readonly socketPath?: string }, error: Error): WireError {
  if (error instanceof WireError) return error
  return new WireError(
    'unreachable',
    `${url.href} cannot be reached: ${connectReason(error, socketPath === undefined ? url : undefined)}`,
    { cause: error },
  )
}

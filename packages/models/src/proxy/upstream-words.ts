import { type JsonValue, isJsonObject, parseForeign } from '@parley/protocol'
import { type HttpCallFailed } from '@parley/fetch'
import type { Mask } from '../secret/mask.ts'

/** Of what an upstream said, looked at and shown. */
const READ_CHARS = 8_000
const SHOWN_CHARS = 500

/** What an upstream said when it refused, as far as it can be made out. To be looked at, and shown only by `quoted`. */
export interface Said {
  /** Empty when it said nothing. */
  readonly words: string
  readonly code: string
  readonly type: string
}

/** Reads `{error: {message, code, type}}`, `{error}`, `{message}`, `{detail}`, a list of one of these, a page, or plain text. */
export function readSaid(text: string): Said {
  const parsed = parseForeign(text)
  const body: JsonValue | undefined = Array.isArray(parsed) ? parsed[0] : parsed
  if (!isJsonObject(body)) return { words: text, code: '', type: '' }
  const error = isJsonObject(body['error']) ? body['error'] : body
  const words = [error['message'], body['error'], body['message'], body['detail']].find((one) => typeof one === 'string')
  return {
    words: typeof words === 'string' ? words : JSON.stringify(body),
    code: typeof error['code'] === 'string' ? error['code'] : '',
    type: typeof error['type'] === 'string' ? error['type'] : '',
  }
}

/** `HTTP 401, invalid_api_key: “Incorrect API key provided”`. */
export function saidText(status: number, { words, code }: Said, mask: Mask): string {
  const [label, text] = [quoted(code, mask), quoted(words, mask)]
  return `HTTP ${status}${label === '' ? '' : `, ${label}`}${text === '' ? '' : `: “${text}”`}`
}

/**
 * What an upstream said, as it may stand in words of ours: on one line, bounded, without tags, controls and what turns the
 * direction of a text, and without the key. What divides a key unseen is taken out before the key is looked for.
 */
export function quoted(text: string, mask: Mask): string {
  const line = mask.words(text.slice(0, READ_CHARS).replaceAll(TAGS, ' ').replaceAll(UNSEEN, '').replaceAll(SPACES, ' ')).trim()
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS).toWellFormed()}…` : line
}
const TAGS = /<(script|style)\b[\s\S]*?<\/\1>|<[^>]*>/gi
const SPACES = /[\s\p{Cc}]+/gu
const UNSEEN = /\p{Cf}+/gu

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'its name is not known (DNS)',
  EAI_AGAIN: 'its name cannot be looked up at the moment (DNS)',
  EHOSTUNREACH: 'there is no way to its host',
  ENETUNREACH: 'there is no way to its network',
  UND_ERR_CONNECT_TIMEOUT: 'no connection came about in time',
}

/** Why there was no answer, without host and path. */
export function causeText({ cause }: HttpCallFailed): string {
  const code = codeOf(cause)
  return CAUSES[code] ?? (code === '' ? 'the connection broke' : `the connection broke (${code})`)
}

const CERTIFICATE = /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL|UNABLE_TO_VERIFY/

/** A certificate that is not trusted, or no TLS at all: asked again it is the same. */
export const isAboutTls = ({ cause }: HttpCallFailed): boolean => CERTIFICATE.test(codeOf(cause))

const codeOf = (cause: unknown): string => (cause instanceof Error && 'code' in cause ? String(cause.code) : '')

import { isJsonObject, keptText, type JsonObject, type JsonValue, parseJson, RpcError } from '@parley/protocol/wire'

/**
 * What a server sends, as far as it can be understood. A client does not choose its servers, so it takes what `classify` would
 * refuse: a message without `jsonrpc`, a request with any id, an error without words, our number given back as text.
 */
export type LooseMessage =
  | { readonly kind: 'request'; readonly id: JsonValue; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  /** `id` is undefined where it names no request of ours; an answer with neither a result nor an error has neither. */
  | {
      readonly kind: 'response'
      readonly id: number | undefined
      readonly result: JsonObject | undefined
      readonly error: RpcError | undefined
    }

/** Reads one parsed value. `during` is the request on whose stream it came: an error about an unreadable request has no id. */
export function readLoosely(value: JsonValue | undefined, during: number | undefined): LooseMessage | undefined {
  if (!isJsonObject(value)) return undefined
  const { id, method, params, result } = value
  if (typeof method === 'string') {
    const given = isJsonObject(params) ? params : {}
    return id === undefined ? { kind: 'notification', method, params: given } : { kind: 'request', id, method, params: given }
  }
  const named = typeof id === 'string' ? Number(id) : (id ?? during)
  return {
    kind: 'response',
    id: typeof named === 'number' ? named : undefined,
    result: isJsonObject(result) ? result : undefined,
    error: readError(value['error']),
  }
}

/** What is kept of the words of an error: it may be told and kept in many places. */
const ERROR_CHARS = 16 * 1024

/** The error of an answer, or `undefined` when it is not shaped like one. */
export function readError(error: JsonValue | undefined, cause?: unknown): RpcError | undefined {
  if (!isJsonObject(error) || typeof error['code'] !== 'number') return undefined
  const { code, message, data } = error
  return new RpcError(
    code,
    typeof message === 'string' ? keptText(message, ERROR_CHARS) : `error ${code}`,
    data,
    cause === undefined ? undefined : { cause },
  )
}

/** A successful answer taken apart without a second stringify: the result, and its text as it came. */
export interface SplitResult {
  readonly id: number
  readonly result: JsonObject
  readonly text: string
}

const RESULT_FIRST = '{"result":{'
const RESULT_FIRST_TAIL = ',"jsonrpc":"2.0","id":'
const ID_FIRST = '{"jsonrpc":"2.0","id":'
const ID_FIRST_RESULT = ',"result":{'

/**
 * Takes an answer apart when it has one of the two layouts that servers really write. The envelope is compared
 * literally and the middle must parse as one object, so a message that only looks like an answer is not taken.
 */
export function splitResult(message: string): SplitResult | undefined {
  if (message.startsWith(RESULT_FIRST)) {
    const tail = message.lastIndexOf(RESULT_FIRST_TAIL)
    if (tail === -1 || !message.endsWith('}')) return undefined
    return assemble(message.slice(tail + RESULT_FIRST_TAIL.length, -1), message.slice(RESULT_FIRST.length - 1, tail))
  }
  if (message.startsWith(ID_FIRST)) {
    const comma = message.indexOf(',', ID_FIRST.length)
    if (comma === -1 || !message.startsWith(ID_FIRST_RESULT, comma) || !message.endsWith('}')) return undefined
    return assemble(message.slice(ID_FIRST.length, comma), message.slice(comma + ID_FIRST_RESULT.length - 1, -1))
  }
  return undefined
}

function assemble(idText: string, text: string): SplitResult | undefined {
  const id = plainId(idText)
  if (id === undefined || !text.endsWith('}')) return undefined
  const result = parseJson(text)
  return isJsonObject(result) ? { id, result, text } : undefined
}

const PLAIN_ID_DIGITS = 15
function plainId(text: string): number | undefined {
  if (text.length === 0 || text.length > PLAIN_ID_DIGITS) return undefined
  let id = 0
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 48
    if (digit < 0 || digit > 9) return undefined
    id = id * 10 + digit
  }
  return id
}

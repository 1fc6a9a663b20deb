import { type JsonObject, type JsonValue, RpcError, isJsonObject } from '@parley/protocol'

/** Writes a request. The id is ours, so it is always a plain number. */
export function requestText(id: number, method: string, params: JsonObject | undefined): string {
  const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`
  return params === undefined ? `${head}}` : `${head},"params":${JSON.stringify(params)}}`
}

export function notificationText(method: string, params: JsonObject | undefined): string {
  const head = `{"jsonrpc":"2.0","method":${JSON.stringify(method)}`
  return params === undefined ? `${head}}` : `${head},"params":${JSON.stringify(params)}}`
}

export function resultText(id: JsonValue, result: JsonObject): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result)}}`
}

export function errorText(id: JsonValue, code: number, message: string, data?: JsonValue): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: data === undefined ? { code, message } : { code, message, data } })
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

/** Parses, or answers `undefined`: the caller says what a broken message means. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error of an answer, or `undefined` when it is not shaped like one. */
export function readError(error: JsonValue | undefined, cause?: unknown): RpcError | undefined {
  if (!isJsonObject(error) || typeof error.code !== 'number') return undefined
  const message = typeof error.message === 'string' ? error.message : `error ${error.code}`
  return new RpcError(error.code, message, error.data, cause === undefined ? undefined : { cause })
}

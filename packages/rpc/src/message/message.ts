import { isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonObject, type JsonValue, nestsWithin, RPC_CODES } from '@parley/protocol/wire'

export type RequestId = string | number

export interface RequestMessage {
  readonly kind: 'request'
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  /** Of its text. */
  readonly bytes: number
}
export interface NotificationMessage {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject
}
export interface ResponseMessage {
  readonly kind: 'response'
  readonly id: RequestId
  readonly result: JsonObject | undefined
  readonly error: { readonly code: number; readonly message: string; readonly data?: JsonValue | undefined } | undefined
}
/** Parsable JSON that is not a message: answered with its code, and with its id where one could be read. */
export interface InvalidMessage {
  readonly kind: 'invalid'
  readonly id: RequestId | null
  readonly code: number
  readonly message: string
  /** Of a broken answer: the request of ours that it is for, which will get no better one. */
  readonly answers?: RequestId
}
export type Message = RequestMessage | NotificationMessage | ResponseMessage | InvalidMessage

/** The longest id we keep and repeat; a longer one is a way to make us store and send rubbish. */
const MAX_ID_CHARS = 1024
const MAX_METHOD_CHARS = 256
const NO_PARAMS: JsonObject = Object.freeze({})

/** Decodes bytes strictly: what is not UTF-8 is not JSON, and must not be repaired in silence. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/** Tells what one parsed value is. Total: whatever comes in, the answer says what to do with it. */
export function classify(value: JsonValue, nestingDepth: number, bytes = 0): Message {
  if (!isJsonObject(value)) return invalid(null, 'a JSON-RPC message must be an object')
  const rawId = value['id']
  const method = value['method']
  // The id of a broken answer is one of ours: repeated, it would look like our answer to a request of theirs.
  const isAnswer = method === undefined && (value['result'] !== undefined || value['error'] !== undefined)
  const id = isRequestId(rawId) && !isAnswer ? rawId : null
  if (!nestsWithin(value, nestingDepth)) return invalid(id, `nested deeper than ${nestingDepth} levels`)
  if (value['jsonrpc'] !== '2.0') return invalid(id, 'jsonrpc must be "2.0"')
  if (method === undefined) return isAnswer ? classifyResponse(value, rawId) : invalid(id, 'method is missing')
  if (typeof method !== 'string' || method === '' || method.length > MAX_METHOD_CHARS)
    return invalid(id, 'method must be a short string')
  const params = value['params']
  if (params !== undefined && !isJsonObject(params)) return invalid(id, 'params must be an object', RPC_CODES.invalid_params)
  if (rawId === undefined) return { kind: 'notification', method, params: params ?? NO_PARAMS }
  if (id === null) return invalid(null, `id must be an integer or a string of at most ${MAX_ID_CHARS} characters`)
  return { kind: 'request', id, method, params: params ?? NO_PARAMS, bytes }
}

function classifyResponse(value: JsonObject, id: JsonValue | undefined): Message {
  const { result, error } = value
  if (!isRequestId(id)) return invalid(null, 'a response must carry the id of its request')
  const broken = (message: string): InvalidMessage => ({ ...invalid(null, message), answers: id })
  if (result !== undefined && error !== undefined) return broken('a response has a result or an error, not both')
  if (result !== undefined) {
    return isJsonObject(result) ? { kind: 'response', id, result, error: undefined } : broken('result must be an object')
  }
  if (!isJsonObject(error) || typeof error['code'] !== 'number' || typeof error['message'] !== 'string') {
    return broken('error must have a numeric code and a message')
  }
  return {
    kind: 'response',
    id,
    result: undefined,
    error: { code: error['code'], message: error['message'], data: error['data'] },
  }
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= MAX_ID_CHARS : Number.isSafeInteger(id)
}

function invalid(id: RequestId | null, message: string, code: number = RPC_CODES.invalid_request): InvalidMessage {
  return { kind: 'invalid', id, code, message: `Invalid message: ${message}` }
}

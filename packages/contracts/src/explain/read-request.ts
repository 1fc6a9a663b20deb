import { type JsonObject, isJsonObject, parseJson } from '@parley/protocol'

/** What is to be explained: a request or notification, or the answer to an approval. */
export interface AskedRequest {
  readonly method: string
  readonly params?: JsonObject
  /** The client's answer to a request of Codex. */
  readonly answer?: JsonObject
}

/** What was handed in is no request. `field` says where. */
export class BadRequestText extends Error {
  readonly code = 'bad_request_text'
  readonly field: string
  constructor(field: string, message: string) {
    super(message)
    this.name = 'BadRequestText'
    this.field = field
  }
}

/** Longer than any request that somebody writes. */
const TEXT_CHARACTERS = 16 * 1024 * 1024

/** Reads a whole message, or with a method beside it the params alone or the answer to an approval. Throws `BadRequestText`. */
export function readRequest(text: string, method?: string): AskedRequest {
  if (text.length > TEXT_CHARACTERS) throw new BadRequestText('', `the request has more than ${TEXT_CHARACTERS} characters`)
  if (text.trim() === '') throw new BadRequestText('', 'there is no request: it is a JSON object with a method and params')
  const value = parseJson(text)
  if (value === undefined) throw new BadRequestText('', 'the request is not JSON')
  if (!isJsonObject(value)) throw new BadRequestText('', `the request must be a JSON object, not ${kindOf(value)}`)
  if (value['method'] === undefined && method === undefined)
    throw new BadRequestText('method', 'method is missing: put it into the request, or name it with --method')
  if (value['method'] !== undefined && typeof value['method'] !== 'string')
    throw new BadRequestText('method', `method must be a string, not ${kindOf(value['method'])}`)
  const named = value['method'] ?? method ?? ''
  if (method !== undefined && named !== method)
    throw new BadRequestText(
      'method',
      `method is ${JSON.stringify(named)} in the request and ${JSON.stringify(method)} beside it`,
    )
  const isMessage = ['method', 'params', 'result'].some((key) => value[key] !== undefined)
  if (!isMessage) return isAnswer(value) ? { method: named, answer: value } : { method: named, params: value }
  const { params, result } = value
  if (result !== undefined) {
    if (!isJsonObject(result)) throw new BadRequestText('result', `result must be an object, not ${kindOf(result)}`)
    return { method: named, answer: result }
  }
  if (params === undefined || params === null) return { method: named }
  if (!isJsonObject(params)) throw new BadRequestText('params', `params must be an object, not ${kindOf(params)}`)
  return { method: named, params }
}

const isAnswer = (value: JsonObject): boolean => value['decision'] !== undefined || value['action'] !== undefined

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

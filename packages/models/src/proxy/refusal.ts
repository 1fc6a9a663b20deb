import { type HttpReply, challenge } from '@parley/rpc'

export interface RefusalMore {
  /** The field of the request that is wrong. */
  readonly param?: string
  readonly retryAfterSeconds?: number
  /** The rest of the body was not read: the connection cannot be used again. */
  readonly closes?: boolean
  readonly cause?: unknown
}

/** Why a request to a model is not served. Becomes an answer in the shape of OpenAI's errors, which every client reads. */
export class ModelRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly more: RefusalMore
  constructor(status: number, code: string, message: string, more: RefusalMore = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'ModelRefusal'
    this.status = status
    this.code = code
    this.more = more
  }
}

/** A request whose field is wrong. */
export const wrongField = (param: string, fault: string): ModelRefusal =>
  new ModelRefusal(400, 'invalid_value', `${param}: ${fault}`, { param })

export const JSON_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

export function refusalReply({ status, code, message, more }: ModelRefusal): HttpReply {
  const { param = null, retryAfterSeconds, closes } = more
  return {
    status,
    headers: {
      ...JSON_HEADERS,
      ...(status === 401 ? { 'www-authenticate': code === 'missing_api_key' ? challenge() : challenge(message) } : {}),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(closes === true ? { connection: 'close' } : {}),
    },
    body: errorBody({ message, type: typeOf(status), code, param }),
  }
}

export function errorBody(error: {
  readonly message: string
  readonly type: string
  readonly code: string
  readonly param: string | null
}): string {
  return JSON.stringify({ error })
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

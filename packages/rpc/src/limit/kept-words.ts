import { isJsonObject, type JsonObject, RpcError } from '@parley/protocol/wire'

/**
 * Words of a request that we keep, repeat or write down: as keys of what is watched, in notifications, in the audit log. Even a
 * part that is cut out of a long one keeps all of it in memory, so that a long one is refused before anything is done.
 */
const MAX_URI_CHARS = 2_048
const MAX_NAME_CHARS = 1_024
const MAX_CURSOR_CHARS = 8_192
const MAX_TOKEN_CHARS = 1_024
const MAX_REASON_CHARS = 1_024

const PARAMS = [
  ['name', MAX_NAME_CHARS],
  ['uri', MAX_URI_CHARS],
  ['cursor', MAX_CURSOR_CHARS],
] as const

/** Says which word of a request is too long to be kept; `undefined`: none. */
export function longWord(params: JsonObject): RpcError | undefined {
  for (const [field, limit] of PARAMS) if (isLonger(params[field], limit)) return tooLong(field, limit)
  const meta = params['_meta']
  const token = isJsonObject(meta) ? meta['progressToken'] : undefined
  return isLonger(token, MAX_TOKEN_CHARS) ? tooLong('_meta.progressToken', MAX_TOKEN_CHARS) : undefined
}

export function checkUris(uris: readonly string[], field: string): void {
  if (uris.some((uri) => isLonger(uri, MAX_URI_CHARS))) throw tooLong(field, MAX_URI_CHARS)
}

/** Why a client cancels, in its own words if they are few. */
export function reasonOf(reason: unknown): string {
  return typeof reason === 'string' && reason.length <= MAX_REASON_CHARS ? reason : 'cancelled by the client'
}

const isLonger = (value: unknown, limit: number): boolean => typeof value === 'string' && value.length > limit

function tooLong(field: string, limit: number): RpcError {
  return new RpcError('invalid_params', `${field} must be at most ${limit} characters`, { field })
}

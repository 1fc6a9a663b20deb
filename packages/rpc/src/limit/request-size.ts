import { type JsonValue, RpcError } from '@parley/protocol/wire'
import type { RequestMessage } from '../message/message.ts'
import type { Caller, Service } from '../service.ts'

/** No request is refused for its size up to this. */
export const SMALL_REQUEST_BYTES = 64 * 1024

/** What is answered without a service needs no more than that; what is listened to is a list of URIs. */
const OWN_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'resources/subscribe',
  'resources/unsubscribe',
  'logging/setLevel',
])

/** Refuses a request that is larger than what it asks for can need, before anything walks over it; `undefined`: it is not. */
export function sizeRefusal<C extends Caller>(service: Service<C>, message: RequestMessage): RpcError | undefined {
  const { method, params, bytes } = message
  if (bytes <= SMALL_REQUEST_BYTES) return undefined
  const limit = OWN_METHODS.has(method)
    ? SMALL_REQUEST_BYTES
    : Math.max(SMALL_REQUEST_BYTES, service.requestBytes?.(method, params) ?? Number.POSITIVE_INFINITY)
  if (bytes <= limit) return undefined
  const { name } = params
  const what = method === 'tools/call' && typeof name === 'string' ? name.slice(0, NAME_SHOWN_CHARS) : method
  const limit_bytes = limit
  return new RpcError('invalid_params', `a request for ${what} has at most ${limit} bytes`, { field: 'params', limit_bytes })
}
const NAME_SHOWN_CHARS = 128

/** About how long a value is as text. */
export function bytesOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return VALUE_CHARS
  let bytes = 2
  if (Array.isArray(value)) for (const item of value) bytes += bytesOf(item) + 1
  else for (const [key, item] of Object.entries(value)) bytes += key.length + 4 + bytesOf(item)
  return bytes
}
const VALUE_CHARS = 4

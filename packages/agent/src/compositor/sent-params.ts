import { isJsonObject, type JsonObject, type JsonValue, RpcError } from '@parley/protocol'
import { isLogLevel } from '@parley/rpc'

/** What a server gets of each call: what was decided about, and nothing beside it. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  'tools/call': ['name', 'arguments'],
  'prompts/get': ['name', 'arguments'],
  'resources/read': ['uri'],
  'completion/complete': ['ref', 'argument', 'context'],
}

/** Of W3C’s trace context, the part that holds numbers alone. */
const TRACE_PARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * The parameters of a call as they are sent. Whatever else a client writes beside them would reach the server without a policy, a person or the
 * log having seen it: a server may go by any of it.
 */
export function sentParams(method: string, params: JsonObject): JsonObject {
  const sent: JsonObject = {}
  for (const member of MEMBERS[method] ?? []) if (params[member] !== undefined) sent[member] = params[member]
  const meta = isJsonObject(params._meta) ? sentMeta(params._meta) : undefined
  return meta === undefined ? sent : { ...sent, _meta: meta }
}

function sentMeta(meta: JsonObject): JsonObject | undefined {
  const sent = Object.entries(meta).filter(([key, value]) => value !== undefined && META_SENT[key]?.(value) === true)
  return sent.length === 0 ? undefined : Object.fromEntries(sent)
}

/** What the protocol itself has there, and only what it can mean. Who calls and what they are able to do is told by the compositor. */
const META_SENT: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  progressToken: (value) => typeof value === 'string' || typeof value === 'number',
  'io.modelcontextprotocol/logLevel': isLogLevel,
  traceparent: (value) => typeof value === 'string' && TRACE_PARENT.test(value),
}

/** What is decided about. Left out it is none; anything but an object is no call that a server understands, and would not be shown as it is. */
export function argumentsIn({ arguments: args }: JsonObject): JsonObject {
  if (args === undefined) return {}
  if (isJsonObject(args)) return args
  throw new RpcError('invalid_params', 'arguments must be an object', { field: 'arguments' })
}

/** What completing would have a prompt or a resource be asked for. */
export function completedArguments({ argument, context }: JsonObject): JsonObject {
  const known = isJsonObject(context) && isJsonObject(context.arguments) ? context.arguments : {}
  const { name, value }: { name?: JsonValue; value?: JsonValue } = isJsonObject(argument) ? argument : {}
  return typeof name === 'string' ? { ...known, [name]: value ?? '' } : { ...known }
}

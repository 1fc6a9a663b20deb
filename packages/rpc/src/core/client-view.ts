import { isJsonObject, type JsonObject, type JsonValue, RpcError } from '@parley/protocol/wire'
import { TASKS_EXTENSION } from '@parley/task'
import type { RequestMessage } from '../message/message.ts'
import type { Caller, ClientView, Implementation, Service } from '../service.ts'
import { sizeRefusal } from '../limit/request-size.ts'

/** What of a client's capabilities anything here goes by, each with its members. The rest is not kept, however large it is. */
const KEPT_CAPABILITIES = {
  roots: { listChanged: {} },
  sampling: { context: {}, tools: {} },
  elicitation: { form: { applyDefaults: {} }, url: {} },
  extensions: { [TASKS_EXTENSION]: {} },
} as const

interface Names {
  readonly [name: string]: Names
}

const INFO_FIELDS = ['name', 'version', 'title', 'websiteUrl'] as const
const MAX_INFO_CHARS = 1_024

/** What `initialize` says about the client; throws when it is not what the specification asks for. */
export function clientOf<C extends Caller>(message: RequestMessage, service: Service<C>): ClientView {
  const refusal = sizeRefusal(service, message)
  if (refusal !== undefined) throw refusal
  const { protocolVersion, capabilities, clientInfo } = message.params
  if (typeof protocolVersion !== 'string')
    throw new RpcError('invalid_params', 'protocolVersion must be a string', { field: 'protocolVersion' })
  if (!isJsonObject(capabilities))
    throw new RpcError('invalid_params', 'capabilities must be an object', { field: 'capabilities' })
  return { info: keptInfo(clientInfo, 'clientInfo'), capabilities: keptCapabilities(capabilities) }
}

/**
 * A session keeps this as long as it lives, so it is made anew out of what is used: `field` is where it stood, for whoever
 * wrote something there that is not taken.
 */
export function keptInfo(said: JsonValue | undefined, field: string): Implementation {
  const { name, version } = isJsonObject(said) ? said : {}
  if (!isJsonObject(said) || typeof name !== 'string' || typeof version !== 'string')
    throw new RpcError('invalid_params', `${field} must have a name and a version`, { field })
  const info: Record<string, string> = {}
  for (const key of INFO_FIELDS) {
    const words = said[key]
    if (typeof words !== 'string') continue
    if (words.length > MAX_INFO_CHARS)
      throw new RpcError('invalid_params', `${field}.${key} must be at most ${MAX_INFO_CHARS} characters`, {
        field: `${field}.${key}`,
      })
    info[key] = words
  }
  return { name, version, ...info }
}

export function keptCapabilities(said: JsonObject): JsonObject {
  return keptMembers(said, KEPT_CAPABILITIES)
}

function keptMembers(said: JsonObject, names: Names): JsonObject {
  const kept: JsonObject = {}
  for (const name in names) {
    const value = Object.hasOwn(said, name) ? keptFlag(said[name], names[name] ?? {}) : undefined
    if (value !== undefined) kept[name] = value
  }
  return kept
}

/** An object of known members, or a boolean; whatever else stands there says nothing. */
function keptFlag(said: JsonValue | undefined, names: Names): JsonObject | boolean | undefined {
  if (isJsonObject(said)) return keptMembers(said, names)
  return typeof said === 'boolean' ? said : undefined
}

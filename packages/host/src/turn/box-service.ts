import { isJsonObject, type JsonObject, RpcError } from '@parley/protocol'
import type { Call, Caller, Service, ServiceResult } from '@parley/rpc'
import { InputRequired, JsonText } from '@parley/rpc'

/** Who calls from a command in the box of an agent. */
export const BOX_CALLER: Caller = { key: 'box' }

/** Tools about the turn that the command is a part of, and about what outlives it. A command ends with all that it began. */
const OF_THE_LOOP = 'loop_'
const LASTING: ReadonlySet<string> = new Set([
  'resources_subscribe',
  'resources_unsubscribe',
  'policy_propose',
  'policy_withdraw',
])

/** A compositor as commands in the box of its agent find it: all of it, but for the tools of what outlives them. */
export function boxService(compositor: Service): Service {
  return {
    info: compositor.info,
    capabilities: compositor.capabilities,
    get instructions() {
      return compositor.instructions
    },
    call: (method, params, call) => serve(compositor, { method, params, call }),
    notified: (method, params, link) => compositor.notified?.(method, params, link),
    watch: (uri, changed, caller, link) => compositor.watch?.(uri, changed, caller, link) ?? (() => undefined),
    watchLists: (changed, caller) => compositor.watchLists?.(changed, caller) ?? (() => undefined),
    setLevel: (level, link) => compositor.setLevel?.(level, link),
    opened: (link) => compositor.opened?.(link),
    closed: (link) => compositor.closed?.(link),
  }
}

async function serve(
  compositor: Service,
  { method, params, call }: { readonly method: string; readonly params: JsonObject; readonly call: Call },
): Promise<ServiceResult> {
  const { name } = params
  if (method === 'tools/call' && isForModel(name))
    throw new RpcError('invalid_params', `name: ${name} is for the model alone, and not for commands that it runs`, {
      field: 'name',
    })
  const result = await compositor.call(method, params, call)
  if (method !== 'tools/list' || result instanceof JsonText || result instanceof InputRequired) return result
  const { tools } = result
  if (!Array.isArray(tools)) return result
  return { ...result, tools: tools.filter((tool) => !isJsonObject(tool) || !isForModel(tool['name'])) }
}

const isForModel = (name: unknown): name is string =>
  typeof name === 'string' && (name.startsWith(OF_THE_LOOP) || LASTING.has(name))

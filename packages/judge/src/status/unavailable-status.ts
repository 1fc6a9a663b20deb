import {
  type JsonObject,
  RpcError,
  STATUS_SERVER_NAME,
  STATUS_TOOLS,
  TOOL_ERROR_META,
  ToolError,
  describeTool,
} from '@parley/protocol'
import type { Service } from '@parley/rpc'

const TOOLS = Object.values(STATUS_TOOLS).map((spec) => describeTool(spec))
const NAME_SHOWN_CHARS = 128

/** The status server of a job that cannot be reached: an engine starts with it all the same, and every call says why it fails. */
export function unavailableStatus(why: { readonly message: string; readonly hint: string }, version: string): Service {
  const { code, message, hint } = new ToolError('unavailable', why.message, { hint: why.hint })
  return {
    info: { name: STATUS_SERVER_NAME, version },
    capabilities: { tools: {} },
    call: (method: string, { name }: JsonObject) => {
      if (method === 'tools/list') return { tools: TOOLS.map((tool) => ({ ...tool, annotations: { ...tool.annotations } })) }
      if (method !== 'tools/call')
        throw new RpcError('method_not_found', `there is no method ${method.slice(0, NAME_SHOWN_CHARS)}`)
      if (typeof name !== 'string' || !Object.hasOwn(STATUS_TOOLS, name))
        throw new RpcError('invalid_params', `unknown tool: ${JSON.stringify(name ?? null).slice(0, NAME_SHOWN_CHARS)}`)
      return {
        isError: true,
        content: [{ type: 'text', text: `${code}: ${message} (${hint})` }],
        _meta: { [TOOL_ERROR_META]: { code, message, ...(hint === undefined ? {} : { hint }) } },
      }
    },
  }
}

import { type JsonObject, isJsonObject } from '@parley/protocol'
import type { Service } from '@parley/rpc'

const TOOLS: JsonObject[] = [
  {
    name: 'echo',
    description: 'Answers what it is given.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  { name: 'wait', description: 'Answers when it is cancelled.', inputSchema: { type: 'object' } },
]

/** The MCP server that conversations of the contract have mounted. `waiting` is told of calls of `wait` that begin and end. */
export function contractTools(waiting: (change: 1 | -1) => void = () => undefined): Service {
  return {
    info: { name: 'contract', version: '1' },
    capabilities: { tools: {} },
    call: async (method, params, call) => {
      if (method === 'tools/list') return { tools: TOOLS }
      const args = isJsonObject(params['arguments']) ? params['arguments'] : {}
      if (params['name'] === 'echo') return said(typeof args['text'] === 'string' ? args['text'] : 'nothing')
      waiting(1)
      await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve()))
      waiting(-1)
      return said('cancelled')
    },
  }
}

const said = (text: string): JsonObject => ({ content: [{ type: 'text', text }] })

import { RpcError, type JsonObject } from '@parley/protocol'
import { serveStdio, type Service, type ServiceResult } from '@parley/rpc'

/** A server on our stdio wire with one tool, for the soak of malformed lines. Needs `--expose-gc`. */
const service: Service = {
  info: { name: 'soak', version: '1.0.0' },
  capabilities: { tools: {} },
  call: (method, params) => answer(method, params),
}
await serveStdio({ input: process.stdin, output: process.stdout, service })
process.exit(0)

function answer(method: string, params: JsonObject): ServiceResult {
  if (method === 'tools/list')
    return { tools: [{ name: 'echo', description: 'Answers its text.', inputSchema: { type: 'object' } }] }
  if (method === 'tools/call') return { content: [{ type: 'text', text: textOf(params) }] }
  if (method === 'soak/memory') {
    globalThis.gc?.()
    return { heap_bytes: process.memoryUsage().heapUsed }
  }
  throw new RpcError('method_not_found', `there is no method ${method.slice(0, 100)}`)
}

function textOf(params: JsonObject): string {
  const given = params['arguments']
  const text = typeof given === 'object' && given !== null && !Array.isArray(given) ? given['text'] : undefined
  if (params['name'] !== 'echo' || typeof text !== 'string') throw new RpcError('invalid_params', 'echo needs a text')
  return text
}

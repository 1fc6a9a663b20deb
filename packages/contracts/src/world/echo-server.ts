// The MCP server that the scenarios of the contracts mount: one tool that says what it is told. Started by Codex, on stdio.
import { createInterface } from 'node:readline'
import { type JsonObject, isJsonObject, parseJson } from '@parley/protocol'

const ECHO = {
  name: 'echo',
  description: 'Says what it is told.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = parseJson(line)
  if (!isJsonObject(message) || message['id'] === undefined) continue
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message['id'], ...answer(message) })}\n`)
}

function answer({ method, params }: JsonObject): JsonObject {
  const given = isJsonObject(params) ? params : {}
  if (method === 'initialize') {
    const serverInfo = { name: 'echo', version: '1.0.0' }
    return { result: { protocolVersion: given['protocolVersion'] ?? '2025-06-18', capabilities: { tools: {} }, serverInfo } }
  }
  if (method === 'ping') return { result: {} }
  if (method === 'tools/list') return { result: { tools: [ECHO] } }
  if (method !== 'tools/call') return { error: { code: -32_601, message: `Method not found: ${JSON.stringify(method)}` } }
  const said = isJsonObject(given['arguments']) ? given['arguments']['text'] : ''
  return { result: { content: [{ type: 'text', text: typeof said === 'string' ? said : '' }] } }
}

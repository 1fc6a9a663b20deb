import * as z from 'zod'

const Call = z.object({ arguments: z.object({ text: z.string() }) })

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

/** Answers `tools/call` with its text and anything else with just enough to be called a server. */
export function echoAnswer(line: string): string {
  const value: unknown = JSON.parse(line)
  const message: Message = typeof value === 'object' && value !== null ? value : {}
  return JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) })
}

function resultOf(message: Message): object {
  if (message.method === 'tools/call') return { content: [{ type: 'text', text: textOf(message.params) }] }
  if (message.method === 'tools/list') return { tools: [ECHO_TOOL] }
  if (message.method === 'initialize') {
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1.0.0' } }
  }
  return {}
}

const ECHO_TOOL = {
  name: 'echo',
  description: 'Answers its text',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

/** By hand first: the schema is for the error alone, so that the floor stays a floor. */
function textOf(params: unknown): string {
  if (typeof params === 'object' && params !== null && 'arguments' in params) {
    const { arguments: given } = params
    if (typeof given === 'object' && given !== null && 'text' in given && typeof given.text === 'string') return given.text
  }
  return Call.parse(params).arguments.text
}

import type { Agent } from 'node:http'
import * as z from 'zod'
import { send } from './http-post.ts'

const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'
export const ACCEPT = 'application/json, text/event-stream'

export const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
}

const Answer = z.object({
  result: z
    .object({ isError: z.boolean().optional(), structuredContent: z.record(z.string(), z.unknown()).optional() })
    .optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
})

/** A tool call that needs no session. Throws on any failure, of the connection or of the tool. */
export async function callTool(
  agent: Agent,
  mcp: string,
  token: string,
  name: string,
  args: object,
): Promise<Record<string, unknown>> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, _meta: MODERN_META },
  })
  const answer = await send(agent, mcp, 'POST', modernHeaders(token, 'tools/call', name), body)
  const line = answer.text.startsWith('{') ? answer.text : (/^data: (\{.*)$/m.exec(answer.text)?.[1] ?? '{}')
  const { result, error } = Answer.parse(JSON.parse(line))
  if (result?.structuredContent === undefined || result.isError === true) {
    throw new Error(`${name} answered ${answer.status}: ${error?.message ?? answer.text.slice(0, 300)}`)
  }
  return result.structuredContent
}

export function modernHeaders(token: string, method: string, name?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: ACCEPT,
    authorization: `Bearer ${token}`,
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  }
}

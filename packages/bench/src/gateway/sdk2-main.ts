import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pathToFileURL } from 'node:url'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { ensurePeer } from '../../../../scripts/peers/ensure-peer.ts'
import { announce } from './announce.ts'
import { bodyOf } from './body.ts'

/** The official SDK 2.4, `createMcpHandler` of the modern era at its fastest: `node:http`, the body parsed before, JSON answers. */
type NodeHandler = (request: IncomingMessage, response: ServerResponse, body?: unknown) => Promise<void>

const handler = createMcpHandler(
  () => {
    const mcp = new McpServer({ name: 'sdk2', version: '1.0.0' })
    mcp.registerTool('echo', { description: 'Answers its text', inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
    return mcp
  },
  { legacy: 'reject', responseMode: 'json' },
)
const peer = await ensurePeer('server-2.4.0')
const adapter: unknown = await import(pathToFileURL(peer.resolve('@modelcontextprotocol/node')).href)
if (!hasNodeHandler(adapter)) throw new Error('the node adapter has no toNodeHandler')
const serve = adapter.toNodeHandler(handler)

const server = createServer((request, response) => {
  bodyOf(request)
    .then((text) => serve(request, response, JSON.parse(text)))
    .catch(() => response.destroy())
})
announce(server, '/mcp')

function hasNodeHandler(value: unknown): value is { toNodeHandler(handler: unknown): NodeHandler } {
  return typeof value === 'object' && value !== null && 'toNodeHandler' in value && typeof value.toNodeHandler === 'function'
}

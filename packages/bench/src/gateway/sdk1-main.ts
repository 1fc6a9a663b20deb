import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'
import { announce } from './announce.ts'
import { bodyOf } from './body.ts'

/** The official SDK 1.32, stateful, at its fastest: `node:http` with no framework, the body parsed before, JSON answers. */
const transports = new Map<string, StreamableHTTPServerTransport>()

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy())
})
announce(server, '/mcp')

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: unknown = JSON.parse(await bodyOf(request))
  const id = request.headers['mcp-session-id']
  const transport = (typeof id === 'string' ? transports.get(id) : undefined) ?? (await open())
  await transport.handleRequest(request, response, body)
}

async function open(): Promise<StreamableHTTPServerTransport> {
  const mcp = new McpServer({ name: 'sdk1', version: '1.0.0' })
  mcp.registerTool('echo', { description: 'Answers its text', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (session) => {
      transports.set(session, transport)
    },
  })
  const connected: unknown = transport
  if (!isTransport(connected)) throw new Error('not a transport')
  await mcp.connect(connected)
  return transport
}

/** The SDK's own types disagree about optional callbacks under exact optional properties. */
function isTransport(value: unknown): value is Parameters<McpServer['connect']>[0] {
  return value instanceof StreamableHTTPServerTransport
}

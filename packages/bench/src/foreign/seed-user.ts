import { once } from 'node:events'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { WebSocket } from 'ws'
import * as z from 'zod'

const INFO = { name: 'seed', version: '1' }

const Reply = z.looseObject({
  isError: z.boolean().optional(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  _meta: z.looseObject({ 'parley/error': z.unknown().optional() }).optional(),
})
const Frame = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: Reply.optional(),
  error: z.unknown().optional(),
})

export interface Told {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Somebody with a client that is not ours: calls tools, and keeps all that it is told, in order. */
export interface SeedUser extends AsyncDisposable {
  readonly told: Told[]
  /** What the tool answers; a failed call is thrown. */
  call(name: string, args: object): Promise<Readonly<Record<string, unknown>>>
}

/** What a tool says when it fails. */
export class Refused extends Error {
  readonly body: unknown
  constructor(name: string, body: unknown) {
    super(`${name} failed: ${JSON.stringify(body)}`)
    this.body = body
  }
}

function answerOf(name: string, result: unknown): Readonly<Record<string, unknown>> {
  const reply = Reply.parse(result)
  if (reply.isError === true) throw new Refused(name, reply._meta?.['parley/error'])
  if (reply.structuredContent === undefined) throw new Error(`${name} answered ${JSON.stringify(result)}`)
  return reply.structuredContent
}

/** The reference client: a bare WebSocket with its token in the query, one JSON-RPC object per frame, no `initialize`. */
export async function plainUser(ws: string, token: string): Promise<SeedUser> {
  const socket = new WebSocket(`${ws}?token=${encodeURIComponent(token)}`)
  const told: Told[] = []
  const waiting = new Map<number, (frame: z.infer<typeof Frame>) => void>()
  socket.on('message', (data: Buffer) => {
    const frame = Frame.parse(JSON.parse(data.toString('utf8')))
    if (frame.id !== undefined) waiting.get(frame.id)?.(frame)
    else if (frame.method !== undefined) told.push({ method: frame.method, params: frame.params ?? {} })
  })
  await once(socket, 'open')
  let id = 0
  return {
    told,
    call: async (name, args) => {
      id += 1
      const answer = new Promise<z.infer<typeof Frame>>((done) => waiting.set(id, done))
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }))
      const { result, error } = await answer
      if (result === undefined) throw new Refused(name, error)
      return answerOf(name, result)
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}

export interface SdkUser extends SeedUser {
  readonly client: Client
}

/** The official client 1.32 on a session of `/mcp`; what it is told comes on its GET stream. */
export async function sessionUser(mcp: string, token: string): Promise<SdkUser> {
  const client = new Client(INFO)
  const told: Told[] = []
  client.fallbackNotificationHandler = ({ method, params }) => {
    told.push({ method, params: { ...params } })
    return Promise.resolve()
  }
  const transport: unknown = new StreamableHTTPClientTransport(new URL(mcp), { requestInit: headersOf(token) })
  if (!isTransport(transport)) throw new Error('not a transport')
  await client.connect(transport)
  // Knowing the tools, it checks every answer against its output schema.
  await client.listTools()
  return {
    client,
    told,
    call: async (name, args) => answerOf(name, await client.callTool({ name, arguments: { ...args } })),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

export interface ModernUser extends SeedUser {
  readonly client: ModernClient
}

/** The official client 2.4 in the modern era: every request stands by itself, changes come by `subscriptions/listen`. */
export async function modernUser(mcp: string, token: string): Promise<ModernUser> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  const told: Told[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ method, params }) => {
    told.push({ method, params: { ...params } })
  })
  await client.connect(new ModernTransport(new URL(mcp), { requestInit: headersOf(token) }))
  await client.listTools()
  return {
    client,
    told,
    call: async (name, args) => answerOf(name, await client.callTool({ name, arguments: { ...args } })),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const headersOf = (token: string): { readonly headers: Record<string, string> } => ({
  headers: { Authorization: `Bearer ${token}` },
})

/** The SDK's own types disagree about optional callbacks under exact optional properties. */
function isTransport(value: unknown): value is Transport {
  return value instanceof StreamableHTTPClientTransport
}

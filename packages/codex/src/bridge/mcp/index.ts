import * as z from 'zod'
import type { JsonObject, JsonValue } from '@parley/protocol'
import { type LinePeer, PeerGone, RemoteFailure } from '@parley/rpc/line-peer'
import type { Dialect } from '../dialect.ts'
import { OldTalk } from '../v1/old-talk.ts'

const REVISION = '2025-06-18'

const Greeted = z.object({ serverInfo: z.object({ name: z.literal('codex-mcp-server'), user_agent: z.string() }) })

/** `codex mcp` of 0.42: the methods of the later app-server on an MCP server. */
export const mcpDialect: Dialect = {
  name: 'mcp',
  args: ['mcp'],
  jsonrpc: true,
  greet: async (peer, sink, client) => {
    const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { ...client, title: client.name } }
    const { serverInfo } = Greeted.parse(await peer.ask('initialize', params))
    peer.tell('notifications/initialized')
    const ask = (method: string, asked?: JsonObject): Promise<JsonValue> => askSilent(peer, method, asked)
    return new OldTalk({ userAgent: serverInfo.user_agent, sink, ask, mountable: 'commands' })
  },
}

/** This version says nothing at all to a request that it cannot read: the bound of the peer ends the wait. */
async function askSilent(peer: LinePeer, method: string, params: JsonObject | undefined): Promise<JsonValue> {
  try {
    return await peer.ask(method, params)
  } catch (error) {
    if (!(error instanceof PeerGone) || peer.isGone) throw error
    const words = `${method} was not answered: Codex 0.42 is silent about methods and parameters that it does not know`
    throw new RemoteFailure('invalid_request', words, { method })
  }
}

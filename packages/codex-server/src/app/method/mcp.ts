import { type JsonValue, isJsonObject } from '@parley/protocol'
import { RemoteFailure } from '@parley/rpc/line-peer'
import type { Asked, Method } from './method.ts'

/** A method of MCP, which 0.42 serves on the same wire. Calls of tools take long, so nobody waits for them. */
export const mcpMethod: Method = {
  dialects: ['0.42'],
  isDetached: true,
  run: (params, asked) => toMcp(asked, params),
}

/** `initialize` as MCP has it, under the name and the version of the dialect. */
export async function initializeMcp(params: JsonValue | undefined, asked: Asked): Promise<JsonValue> {
  const { dialect, handshake } = asked.app
  const answer = await toMcp(asked, params)
  const clientInfo = isJsonObject(params) && isJsonObject(params['clientInfo']) ? params['clientInfo'] : {}
  const { name, version } = clientInfo
  if (typeof name === 'string' && typeof version === 'string') handshake.begin({ name, version })
  if (!isJsonObject(answer) || !isJsonObject(answer['serverInfo'])) return answer
  const serverInfo = { ...answer['serverInfo'], version: dialect.version, user_agent: handshake.userAgent }
  return { ...answer, serverInfo }
}

async function toMcp({ app, id, method }: Asked, params: JsonValue | undefined): Promise<JsonValue> {
  if (app.mcp === undefined) throw new RemoteFailure('invalid_request', `${method} is not served here`)
  return (await app.mcp).request(id, method, params)
}

import { type Client, WireError, connectClient, httpTransport } from '@parley/rpc'
import { requireRole } from '../caller/require-role.ts'
import { type Target, withToken } from '../option/target.ts'
import { ownVersion } from '../version.ts'
import type { Admin } from './admin.ts'

const clientInfo = { name: 'parley', version: ownVersion() }

/** Through a gateway, anywhere, by token. */
export async function connectUrl(target: Target): Promise<Admin> {
  const client = await connectClient(httpTransport(withToken(target, 'admin')), { clientInfo })
  return adminOf(await requireRole(client, 'admin'))
}

/** Through the gateway of this data folder; `undefined` when the socket is a leftover that nobody listens on. */
export async function connectSocket(socketPath: string): Promise<Admin | undefined> {
  try {
    return adminOf(await connectClient(httpTransport({ url: 'http://localhost/mcp', socketPath }), { clientInfo }))
  } catch (error) {
    if (error instanceof WireError && error.code === 'unreachable') return undefined
    throw error
  }
}

function adminOf(client: Client): Admin {
  return { call: (name, input) => client.callTool(name, input), close: () => client.close() }
}

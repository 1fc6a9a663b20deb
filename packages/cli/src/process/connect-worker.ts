import type { Connect } from '@parley/client'
import type { ControlConnect } from '@parley/client/worker'
import { WireError, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import { ownVersion } from '../version.ts'
import { oneRole } from '../wording/one-role.ts'

/** A gateway that does not shake hands within this is not there. */
const HANDSHAKE_MS = 10_000
/** A connection that died without a word is found out within twice this, which is a lease; a slow one has time to carry a report. */
const KEEP_ALIVE_MS = 15_000

/** Who dials a gateway with a token of its own kind. */
type DiallingRole = 'judge' | 'host' | 'executor'

/** How a worker reaches its gateway. A WebSocket opens the legacy way, because only there can the gateway speak unasked. */
export function connectWorker(worker: DiallingRole, { url, token }: { readonly url: string; readonly token: string }): Connect {
  const isSocket = url.startsWith('ws')
  return async (heard, signal) => {
    const client = await connectClient(isSocket ? webSocketTransport({ url, token }) : httpTransport({ url, token }), {
      clientInfo: { name: `parley-${worker}`, version: ownVersion() },
      era: isSocket ? 'legacy' : 'auto',
      limits: { requestTimeoutMs: HANDSHAKE_MS, keepAliveMs: KEEP_ALIVE_MS },
      onNotification: (method, params) => heard(method, params),
      signal,
    })
    const { role } = client.server.info
    if (role === worker) return client
    await client.close()
    const who = typeof role === 'string' ? `for ${oneRole(role)}` : 'not for a gateway of ours'
    throw new WireError(
      'unauthorized',
      `this token is ${who}; ${oneRole(worker)} needs one of parley token create --role ${worker}`,
    )
  }
}

/** The same for one that holds a connection to each gateway, which it knows by `http://host:port`. */
export const connectAt =
  (worker: DiallingRole, token: string): ControlConnect =>
  (gateway) =>
    connectWorker(worker, { url: `${gateway.replace(/^http/, 'ws')}/api/mcp/ws`, token })

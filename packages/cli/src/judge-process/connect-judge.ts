import type { Connect } from '@parley/client'
import { WireError, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import { ownVersion } from '../version.ts'
import type { JudgePlan } from './plan.ts'

/** A gateway that does not shake hands within this is not there. */
const HANDSHAKE_MS = 10_000
/** A connection that died without a word is found out within twice this, which is a lease; a slow one has time to carry a report. */
const KEEP_ALIVE_MS = 15_000

/** How a judge reaches its gateway. A WebSocket opens the legacy way, because only there can the gateway speak unasked. */
export function connectJudge({ url, token }: Pick<JudgePlan, 'url' | 'token'>): Connect {
  const isSocket = url.startsWith('ws')
  return async (heard, signal) => {
    const client = await connectClient(isSocket ? webSocketTransport({ url, token }) : httpTransport({ url, token }), {
      clientInfo: { name: 'parley-judge', version: ownVersion() },
      era: isSocket ? 'legacy' : 'auto',
      limits: { requestTimeoutMs: HANDSHAKE_MS, keepAliveMs: KEEP_ALIVE_MS },
      onNotification: (method, params) => heard(method, params),
      signal,
    })
    const { role } = client.server.info
    if (role === 'judge') return client
    await client.close()
    const who = typeof role === 'string' ? `for a ${role}` : 'not for a gateway of ours'
    throw new WireError('unauthorized', `this token is ${who}; a judge needs one of parley token create --role judge`)
  }
}

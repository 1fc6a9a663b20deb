import { messageOf } from '@parley/protocol/wire'
import type { Agreement } from '../client/negotiate.ts'
import { type RelayParts, Upstream } from './upstream.ts'

/**
 * What a modern server is to legacy clients; `undefined` when it does not speak with them. The connection is not kept: a
 * child that nobody needs would run for nothing.
 */
export async function learnLegacy(parts: RelayParts): Promise<Agreement | undefined> {
  const probe = new Upstream(parts, {}, { notified: () => {} })
  const late = setTimeout(() => void probe.close().catch(() => {}), parts.limits.eraProbeMs)
  try {
    return (await probe.open()).server
  } catch (error) {
    parts.log('info', `legacy clients are served in the modern era: ${messageOf(error)}`)
    return undefined
  } finally {
    clearTimeout(late)
    await probe.close().catch(() => {})
  }
}

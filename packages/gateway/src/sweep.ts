import type { Store } from '@parley/store'
import type { Logger } from 'pino'

const SWEEP_MS = 10 * 60_000
const AUDIT_KEPT_MS = 90 * 86_400_000

/** Removes what is over: sign-ins and links that ended, audit lines older than ninety days. */
export function openSweeper(store: Pick<Store, 'signIns' | 'audit'>, log: Logger, now: () => number): { stop(): void } {
  const sweep = async (): Promise<void> => {
    try {
      await store.signIns.sweep()
      const removed = await store.audit.prune(now() - AUDIT_KEPT_MS)
      if (removed > 0) log.info({ removed }, 'old audit lines removed')
    } catch (error) {
      log.warn({ err: error }, 'nothing could be swept; trying again later')
    }
  }
  void sweep()
  const timer = setInterval(() => void sweep(), SWEEP_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import { HOLDER_PREFIX } from './job/inputs-share.ts'

const SWEEP_MS = 10 * 60_000
const AUDIT_KEPT_MS = 90 * 86_400_000
const UPLOAD_KEPT_MS = 86_400_000
/** Long after the list shows them no more: a judge that comes back is still told to drain. */
const JUDGE_KEPT_MS = 30 * 86_400_000
/** A blob that nobody refers to is somebody's who is just about to, for this long. */
const BLOB_GRACE_MS = 10 * 60_000

/** Removes what is over: sign-ins, links and jobs that ended, old audit lines, uploads of the day before, bytes that nobody has. */
export function openSweeper(
  store: Pick<Store, 'signIns' | 'audit' | 'jobs' | 'judges' | 'blobs'>,
  log: Logger,
  now: () => number,
): { stop(): void } {
  const sweep = async (): Promise<void> => {
    try {
      await store.signIns.sweep()
      const removed = await store.audit.prune(now() - AUDIT_KEPT_MS)
      if (removed > 0) log.info({ removed }, 'old audit lines removed')
      await store.judges.prune(now() - JUDGE_KEPT_MS)
      const jobs = await store.jobs.sweep()
      await store.blobs.dropStale(HOLDER_PREFIX, UPLOAD_KEPT_MS)
      const { blobs, uploads } = await store.blobs.collect(BLOB_GRACE_MS)
      if (jobs + blobs + uploads > 0) log.info({ jobs, blobs, uploads }, 'jobs and blobs that are over removed')
    } catch (error) {
      log.warn({ err: error }, 'nothing could be swept; trying again later')
    }
  }
  void sweep()
  const timer = setInterval(() => void sweep(), SWEEP_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

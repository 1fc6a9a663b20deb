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
/** No call of a model takes so long: whoever reserved it is dead. */
const RESERVATION_STALE_MS = 15 * 60_000
const SETTLE_MS = 60_000
/** How long a key is remembered after its claim: a judge may still tell what it used. */
const MODEL_KEY_KEPT_MS = 86_400_000
/** A year and a month, for whoever adds them up. */
const USAGE_KEPT_MS = 400 * 86_400_000

/** Removes what is over: sign-ins, links and jobs that ended, old audit lines, uploads of the day before, bytes that nobody has. */
export function openSweeper(
  store: Pick<Store, 'signIns' | 'audit' | 'jobs' | 'judges' | 'blobs' | 'modelKeys' | 'usages'>,
  log: Logger,
  now: () => number,
): { stop(): void } {
  const sweep = async (): Promise<void> => {
    try {
      await store.signIns.sweep()
      const removed = await store.audit.prune(now() - AUDIT_KEPT_MS)
      if (removed > 0) log.info({ removed }, 'old audit lines removed')
      await store.judges.prune(now() - JUDGE_KEPT_MS)
      await store.modelKeys.prune(now() - MODEL_KEY_KEPT_MS)
      await store.usages.prune(now() - USAGE_KEPT_MS)
      const jobs = await store.jobs.sweep()
      await store.blobs.dropStale(HOLDER_PREFIX, UPLOAD_KEPT_MS)
      const { blobs, uploads } = await store.blobs.collect(BLOB_GRACE_MS)
      if (jobs + blobs + uploads > 0) log.info({ jobs, blobs, uploads }, 'jobs and blobs that are over removed')
    } catch (error) {
      log.warn({ err: error }, 'nothing could be swept; trying again later')
    }
  }
  const settle = (): Promise<void> =>
    settleReservations(store.usages, log, now() - RESERVATION_STALE_MS).catch((error: unknown) =>
      log.warn({ err: error }, 'calls of models could not be settled; trying again later'),
    )
  void sweep()
  void settle()
  const timers = [setInterval(() => void sweep(), SWEEP_MS), setInterval(() => void settle(), SETTLE_MS)]
  for (const timer of timers) timer.unref()
  return { stop: () => timers.forEach((timer) => clearInterval(timer)) }
}

/** Books calls of models that were reserved before and that nobody settled: their gateway died in the middle. */
export async function settleReservations(usages: Store['usages'], log: Logger, before: number): Promise<void> {
  const settled = await usages.settleStale(before)
  if (settled > 0) log.warn({ settled }, 'calls of models whose gateway died were booked as estimated')
}

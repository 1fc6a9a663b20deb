import { AGENT_LIMITS, APPROVAL_LIMITS } from '@parley/protocol'
import { type LogChain, PERSON_HOLDERS, type Store, callsLog } from '@parley/store'
import type { Logger } from 'pino'

const SWEEP_MS = 10 * 60_000
const AUDIT_KEPT_MS = 90 * 86_400_000
const UPLOAD_KEPT_MS = 86_400_000
const JUDGE_KEPT_MS = 86_400_000
/** Longer than the others: a judge that comes back is still told to drain. */
const DRAINED_KEPT_MS = 30 * 86_400_000
/** A blob that nobody refers to is somebody's who is just about to, for this long. */
const BLOB_GRACE_MS = 10 * 60_000
/** No call of a model takes so long: whoever reserved it is dead. */
const RESERVATION_STALE_MS = 15 * 60_000
const SETTLE_MS = 60_000
const AGENTS_AT_ONCE = 100
const EXPIRED_AT_ONCE = 1_000
/** How long a key is remembered after its claim: a judge may still tell what it used. */
const MODEL_KEY_KEPT_MS = 86_400_000
/** What agents spent is added up when it is so old: of a day each of their calls is looked at anyhow. */
const FOLD_AFTER_MS = 86_400_000
/** A year and a month, for whoever adds them up. */
const USAGE_KEPT_MS = 400 * 86_400_000

export interface Sweeper {
  /** Settles when nothing is written any more. */
  stop(): Promise<void>
}

/**
 * Wakes agents whose time has come. Several gateways look, and one of them wakes; how much one finds at a time is bounded, and what is left
 * comes a second later.
 */
export function openTimers(news: Pick<Store['news'], 'wakeDue'>, log: Logger): Sweeper {
  let looking: Promise<unknown> = Promise.resolve()
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    try {
      await news.wakeDue(AGENT_LIMITS.timersAtOnce)
    } catch (error) {
      log.warn({ err: error }, 'agents whose time has come could not be looked for; trying again')
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void (looking = look()), AGENT_LIMITS.timersMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await looking
    },
  }
}

/** Removes what is over: sign-ins, links and jobs that ended, old audit lines, uploads of the day before, bytes that nobody has. */
export function openSweeper(
  store: Pick<Store, 'signIns' | 'audit' | 'judges' | 'workers' | 'gateways' | 'blobs' | 'modelKeys'> & {
    readonly agents: Pick<Store['agents'], 'deleting' | 'remove' | 'withOldCalls'>
    readonly logs: Pick<Store['logs'], 'trim'>
    readonly approvals: Pick<Store['approvals'], 'expire' | 'prune'>
    readonly jobs: Pick<Store['jobs'], 'sweep'>
    readonly usages: Pick<Store['usages'], 'fold' | 'prune' | 'settleStale'>
  },
  log: Logger,
  now: () => number,
  callChain: LogChain | null,
): Sweeper {
  let isStopped = false
  /** One after the other; none begins after the stop. */
  const steps: readonly (() => Promise<unknown>)[] = [
    () => store.signIns.sweep(),
    async () => {
      const removed = await store.audit.prune(now() - AUDIT_KEPT_MS)
      if (removed > 0) log.info({ removed }, 'old audit lines removed')
    },
    () => store.judges.prune(now() - JUDGE_KEPT_MS, now() - DRAINED_KEPT_MS),
    () => store.workers.prune(now() - JUDGE_KEPT_MS, now() - DRAINED_KEPT_MS),
    () => store.gateways.prune(now() - JUDGE_KEPT_MS),
    () => store.modelKeys.prune(now() - MODEL_KEY_KEPT_MS),
    () => store.usages.fold(now() - FOLD_AFTER_MS),
    () => store.usages.prune(now() - USAGE_KEPT_MS),
    () => store.approvals.prune(now() - APPROVAL_LIMITS.keptMs),
    () => removeAgents(store.agents),
    () => trimCalls(store, now() - AGENT_LIMITS.callsKeptMs, callChain),
    async () => {
      const jobs = await store.jobs.sweep()
      if (jobs > 0) log.info({ jobs }, 'jobs that are over removed')
    },
    () => store.blobs.dropStale(PERSON_HOLDERS, UPLOAD_KEPT_MS),
    async () => {
      const { blobs, uploads } = await store.blobs.collect(BLOB_GRACE_MS)
      if (blobs + uploads > 0) log.info({ blobs, uploads }, 'blobs that are over removed')
    },
  ]
  const sweep = async (): Promise<void> => {
    try {
      for (const step of steps) if (!isStopped) await step()
    } catch (error) {
      log.warn({ err: error }, 'nothing could be swept; trying again later')
    }
  }
  const settle = async (): Promise<void> => {
    try {
      await settleReservations(store.usages, log, now() - RESERVATION_STALE_MS)
      await store.approvals.expire(EXPIRED_AT_ONCE)
    } catch (error) {
      log.warn({ err: error }, 'what ran out could not be settled; trying again later')
    }
  }
  let [sweeping, settling] = [sweep(), settle()]
  const timers = [
    setInterval(() => void (sweeping = sweeping.then(sweep)), SWEEP_MS),
    setInterval(() => void (settling = settling.then(settle)), SETTLE_MS),
  ]
  for (const timer of timers) timer.unref()
  return {
    stop: async () => {
      isStopped = true
      for (const timer of timers) clearInterval(timer)
      await Promise.all([sweeping, settling])
    },
  }
}

/** Finishes what somebody began who deleted an agent, or the account that it belonged to. */
async function removeAgents(agents: Pick<Store['agents'], 'deleting' | 'remove'>): Promise<void> {
  for (const id of await agents.deleting(AGENTS_AT_ONCE)) await agents.remove(id)
}

/** Lets go of old lines in the logs of calls, of so many agents at a time. */
async function trimCalls(
  { agents, logs }: { readonly agents: Pick<Store['agents'], 'withOldCalls'>; readonly logs: Pick<Store['logs'], 'trim'> },
  before: number,
  chain: LogChain | null,
): Promise<void> {
  for (const id of await agents.withOldCalls(before, AGENTS_AT_ONCE))
    await logs.trim(callsLog(id), { before, ...(chain === null ? {} : { chain }) })
}

/** Books calls of models that were reserved before and that nobody settled: their gateway died in the middle. */
export async function settleReservations(
  usages: Pick<Store['usages'], 'settleStale'>,
  log: Logger,
  before: number,
): Promise<void> {
  const settled = await usages.settleStale(before)
  if (settled > 0) log.warn({ settled }, 'calls of models whose gateway died were booked as estimated')
}

import { type JobStatus, type Quota, ToolError, type UserId, iso } from '@parley/protocol'
import type { JobRecord, OwnBounds, SpendLimits, Store } from '@parley/store'

/** What people may use. */
export interface QuotaBook {
  of(ownerId: UserId | null): Promise<Quota>
  /**
   * Throws `ToolError` `quota_exceeded` that says which bound and when it starts anew. Answers what the start itself is held to
   * (`Jobs.start`): others may start at another gateway meanwhile.
   */
  checkStart(job: Pick<JobRecord, 'ownerId' | 'spec'>): Promise<{ readonly atOnce: number | null }>
  /** What the calls of a job or an agent are reserved against: its own bounds and its owner's. */
  limitsFor(spender: { readonly ownerId: UserId | null; readonly bounds: OwnBounds }): Promise<SpendLimits>
  /** The next midnight, UTC. */
  resetsAt(): number
}

export interface QuotaDefaults {
  readonly jobsAtOnce?: number
  readonly tokensPerDay?: number
  readonly microusdPerDay?: number
}

const DAY_MS = 86_400_000
const AT_ONCE: readonly JobStatus[] = ['queued', 'running_generate', 'running_test']
const JOBS_PAGE = 500

interface Bounds {
  readonly jobs: number | null
  readonly tokens: number | null
  readonly microusd: number | null
}

/**
 * What people may use: their own bounds, else the installation's. Days are those of UTC. What a start is held to between the look
 * at it and the start, the store is told with it; tokens and money are set aside before each call.
 */
export function openQuotaBook(options: {
  readonly store: Pick<Store, 'jobs' | 'usages' | 'quotas' | 'shares'>
  readonly defaults: QuotaDefaults
  readonly now: () => number
}): QuotaBook {
  const { store, defaults, now } = options
  const today = (): number => Math.floor(now() / DAY_MS) * DAY_MS
  const resetsAt = (): number => today() + DAY_MS
  const boundsOf = async (ownerId: UserId | null): Promise<Bounds> => {
    const own = ownerId === null ? undefined : await store.quotas.of(ownerId)
    return {
      jobs: own?.jobsAtOnce ?? defaults.jobsAtOnce ?? null,
      tokens: own?.tokensPerDay ?? defaults.tokensPerDay ?? null,
      microusd: own?.microusdPerDay ?? defaults.microusdPerDay ?? null,
    }
  }

  return {
    resetsAt,
    async of(ownerId) {
      const [bounds, jobs, spent, kept] = await Promise.all([
        boundsOf(ownerId),
        countAtOnce(store.jobs, ownerId),
        store.usages.spent(ownerId, today()),
        store.shares.of(ownerId),
      ])
      return {
        jobs_at_once: { used: jobs, limit: bounds.jobs },
        tokens_per_day: { used: spent.tokens, limit: bounds.tokens },
        microusd_per_day: { used: spent.microusd, limit: bounds.microusd },
        kept_bytes: kept.bytes,
        kept_jobs: kept.jobs,
        resets_at: iso(resetsAt()),
      }
    },
    async checkStart({ ownerId, spec }) {
      const bounds = await boundsOf(ownerId)
      if (bounds.jobs !== null) {
        const used = await countAtOnce(store.jobs, ownerId)
        if (used >= bounds.jobs) throw atOnceExceeded(used, bounds.jobs)
      }
      const start = { atOnce: bounds.jobs }
      if (spec.model === null || (bounds.tokens === null && bounds.microusd === null)) return start
      const spent = await store.usages.spent(ownerId, today())
      if (bounds.tokens !== null && spent.tokens >= bounds.tokens)
        throw dayExceeded('tokens_per_day', `${spent.tokens} of ${bounds.tokens} tokens`, resetsAt())
      if (bounds.microusd !== null && spent.microusd >= bounds.microusd)
        throw dayExceeded('microusd_per_day', `${spent.microusd} of ${bounds.microusd} micro-USD`, resetsAt())
      return start
    },
    async limitsFor({ ownerId, bounds }): Promise<SpendLimits> {
      const { tokens, microusd } = await boundsOf(ownerId)
      return { since: today(), owner: { tokens, microusd }, ...bounds }
    },
  }
}

/** Jobs that wait or run. How many there can be is bounded when they are made. */
async function countAtOnce(jobs: Store['jobs'], ownerId: UserId | null): Promise<number> {
  let count = 0
  let last: JobRecord | undefined
  for (;;) {
    const before = last === undefined ? {} : { beforeCreatedAt: last.createdAt, beforeId: last.id }
    const page = await jobs.list({ ownerId, statuses: AT_ONCE, limit: JOBS_PAGE, ...before })
    count += page.length
    last = page.at(-1)
    if (page.length < JOBS_PAGE) return count
  }
}

const HINT = 'usage.summary shows your quota; an admin can change it'

function atOnceExceeded(used: number, limit: number): ToolError {
  return new ToolError('quota_exceeded', `jobs_at_once: ${used} of ${limit} jobs wait or run; free again when one of them ends`, {
    hint: HINT,
  })
}

function dayExceeded(bound: keyof Quota, used: string, resetsAt: number): ToolError {
  return new ToolError('quota_exceeded', `${bound}: ${used} of this day are used; resets_at ${iso(resetsAt)}`, { hint: HINT })
}

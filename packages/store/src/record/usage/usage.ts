import type { JobId, ModelPrices, TokenUsage, UsageId, UsageTotal, UserId } from '@parley/protocol'

/** One call of a model. It outlives its job. `reserved` ones are under way: their tokens and cost are the most they may come to. */
export interface UsageRecord {
  readonly id: UsageId
  readonly status: 'reserved' | 'booked'
  readonly jobId: JobId | null
  readonly ownerId: UserId | null
  readonly claimId: string
  readonly claim: number
  readonly attempt: number
  readonly callId: string
  readonly channel: string | null
  readonly model: string
  readonly threadId: string | null
  /** Whether we counted it as it passed, a judge told it, or a script was played and no model asked. */
  readonly source: 'proxy' | 'judge' | 'script'
  readonly estimated: boolean
  readonly tokens: TokenUsage
  readonly prices: ModelPrices | null
  readonly costMicrousd: number | null
  readonly at: number
}

export type UsageGrouping = 'day' | 'model' | 'job' | 'user'

/** Bounds that a reservation is checked against; null: none. `since` is the start of the day they count from. */
export interface SpendLimits {
  readonly since: number
  readonly ownerTokens: number | null
  readonly ownerMicrousd: number | null
  readonly jobTokens: number | null
  readonly jobMicrousd: number | null
}

export interface SpentTotal {
  readonly tokens: number
  readonly microusd: number
}

/**
 * Calls of models, each counted once: (claim id, attempt, call id) is unique. Booking publishes `usage/OWNER` (`usage/-` without
 * one) and `job/ID`.
 */
export interface Usages {
  /**
   * Writes down a call before it is sent, unless what is booked and reserved already, together with it, passes a limit:
   * checked and written in one transaction, so that calls at once cannot pass it together. A call of that id again: `doubled`.
   * `at` stays the moment of the reservation. Throws `Conflict` when the job has made as many calls as any job may.
   */
  reserve(
    call: Omit<UsageRecord, 'id' | 'status' | 'at' | 'estimated' | 'source'> & { readonly isScript?: boolean },
    limits: SpendLimits,
  ): Promise<
    | { readonly kind: 'reserved'; readonly id: UsageId }
    | {
        readonly kind: 'refused'
        readonly limit: Exclude<keyof SpendLimits, 'since'>
        readonly used: number
        readonly most: number
      }
    | { readonly kind: 'doubled' }
  >
  /** Settles a reservation. Once: a settled one stays as it is, and the answer is false. */
  book(
    id: UsageId,
    usage: { readonly tokens: TokenUsage; readonly costMicrousd: number | null; readonly estimated: boolean },
  ): Promise<boolean>
  /** The call was never sent: as if it had not been reserved. */
  drop(id: UsageId): Promise<void>
  /** Books a call that a judge tells about; false when one of its id is there already. */
  add(call: Omit<UsageRecord, 'id' | 'status' | 'at' | 'source'>): Promise<boolean>
  byCall(claimId: string, attempt: number, callId: string): Promise<UsageRecord | undefined>
  /** Booked ones of a job, oldest first. */
  ofJob(id: JobId): Promise<readonly UsageRecord[]>
  totalOf(id: JobId): Promise<UsageTotal>
  /** Booked and reserved since. */
  spent(ownerId: UserId | null, since: number): Promise<SpentTotal>
  spentOnJob(id: JobId): Promise<SpentTotal>
  /** Booked ones, newest first. */
  list(page: {
    readonly ownerId?: UserId | null
    readonly jobId?: JobId
    readonly from?: number
    readonly to?: number
    readonly beforeId?: UsageId
    readonly limit: number
  }): Promise<readonly UsageRecord[]>
  /** Booked ones; groups by size of cost, days newest first. */
  summary(query: {
    readonly ownerId?: UserId | null
    readonly from?: number
    readonly to?: number
    readonly groupBy: UsageGrouping
    readonly limit: number
  }): Promise<{
    readonly total: UsageTotal
    readonly groups: readonly (UsageTotal & { readonly key: string | null })[]
  }>
  /**
   * Reservations from before: whoever made them is dead. Booked as estimated, with the input that was reserved and no
   * output. Answers how many.
   */
  settleStale(before: number): Promise<number>
  /** The same for whatever is still reserved for a job that ends: nobody waits for an answer any more. */
  settleJob(id: JobId): Promise<number>
  /** Forgets what is older. */
  prune(before: number): Promise<number>
}

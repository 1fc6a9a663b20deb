import type { AgentId, JobId, ModelPrices, TokenUsage, UsageId, UsageTotal, UserId } from '@parley/protocol'

/**
 * One call of a model, for an attempt of a job or for the turn of an agent's prompt. It outlives both. `reserved` ones are under way: their
 * tokens and cost are the most they may come to.
 */
export interface UsageRecord {
  readonly id: UsageId
  readonly status: 'reserved' | 'booked'
  readonly jobId: JobId | null
  readonly agentId: AgentId | null
  /** The number of the agent's prompt; null for a call of a job. */
  readonly prompt: number | null
  readonly ownerId: UserId | null
  /** Of an agent: its fence. */
  readonly claimId: string
  /** The job's claims up to then, and the attempt; 0 for a call of an agent. */
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

export type UsageGrouping = 'day' | 'model' | 'job' | 'agent' | 'user'

/**
 * What is added up to be held against a bound: the day of an owner, all of a job; of an agent all that it ever used, its day, one turn. In this
 * order they are looked at, so that of several that are used up the one is named that lasts longest.
 */
export const SPEND_SCOPES = ['owner', 'job', 'all', 'day', 'turn'] as const
export type SpendScope = (typeof SPEND_SCOPES)[number]

/** The most that may be spent; null: any. */
export interface SpendBound {
  readonly tokens: number | null
  readonly microusd: number | null
}

/** What a job or an agent may spend, whoever owns it. */
export type OwnBounds = { readonly [Scope in Exclude<SpendScope, 'owner'>]?: SpendBound }

/** Bounds that a reservation is checked against. `since` is the start of the day that days count from. */
export interface SpendLimits extends OwnBounds {
  readonly since: number
  readonly owner?: SpendBound
}

/** Whose spending is added up. */
export type Spender = Pick<UsageRecord, 'ownerId' | 'jobId' | 'agentId' | 'prompt'>

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
   * `at` stays the moment of the reservation. Throws `Conflict` when the job, or the turn of the agent, has made as many calls as any may.
   */
  reserve(
    call: Omit<UsageRecord, 'id' | 'status' | 'at' | 'estimated' | 'source'> & { readonly isScript?: boolean },
    limits: SpendLimits,
  ): Promise<
    | { readonly kind: 'reserved'; readonly id: UsageId }
    | {
        readonly kind: 'refused'
        readonly scope: SpendScope
        readonly unit: keyof SpendBound
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
  /** Booked and reserved; nothing where it is none of that scope. `since` is the start of the day. */
  spentIn(scope: SpendScope, spender: Spender, since: number): Promise<SpentTotal & { readonly calls: number }>
  /** As `spentIn`, of a person's day and of a job. */
  spent(ownerId: UserId | null, since: number): Promise<SpentTotal>
  spentOnJob(id: JobId): Promise<SpentTotal>
  /** Booked ones, newest first. */
  list(page: {
    readonly ownerId?: UserId | null
    readonly jobId?: JobId
    readonly agentId?: AgentId
    readonly from?: number
    readonly to?: number
    readonly beforeId?: UsageId
    readonly limit: number
  }): Promise<readonly UsageRecord[]>
  /** Booked ones; groups by size of cost, days newest first. */
  summary(query: {
    readonly ownerId?: UserId | null
    readonly agentId?: AgentId
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
  /** Adds up what agents spent before, as far as nothing of it is under way: what they spent in all is not added up anew each time. */
  fold(before: number): Promise<void>
  /** Forgets what is older. What agents spent in all stays. */
  prune(before: number): Promise<number>
}

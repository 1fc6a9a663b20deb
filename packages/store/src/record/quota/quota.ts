import type { UserId } from '@parley/protocol'

/** What a person may use; null: the installation's own bound holds. */
export interface QuotaRecord {
  readonly userId: UserId
  readonly jobsAtOnce: number | null
  readonly tokensPerDay: number | null
  readonly microusdPerDay: number | null
  /** Of their share: what they may have us keep. */
  readonly keptBytes: number | null
  readonly keptJobs: number | null
}

export interface Quotas {
  of(userId: UserId): Promise<QuotaRecord>
  /** Replaces all of them. Publishes `usage/OWNER`; throws `NotFound` when there is no such person. */
  set(quota: QuotaRecord): Promise<void>
}

import type { Budget, JobId, UserId } from '@parley/protocol'
import type { ClaimKey, JobRecord } from '../job/job.ts'

/** What one attempt of one claim may ask of one model. Works while the claim holds the job's lease. */
export interface ModelKeyRecord {
  readonly hash: string
  readonly jobId: JobId
  readonly ownerId: UserId | null
  readonly claimId: string
  readonly claim: number
  readonly attempt: number
  readonly channel: string
  readonly model: string
  readonly budget: Budget
  readonly createdAt: number
}

export interface ModelKeys {
  /** Under the claim's fence (`LeaseLost`). A second one for the same claim and attempt replaces the first. */
  add(
    key: ClaimKey,
    modelKey: {
      readonly hash: string
      readonly attempt: number
      readonly channel: string
      readonly model: string
      readonly budget: Budget
    },
  ): Promise<ModelKeyRecord>
  /**
   * The key with its job as it stands now. `leaseExpiresAt` is when the claim's lease ends unless renewed; null when the claim
   * does not hold it any more (released, taken by another, job gone).
   */
  find(
    hash: string,
  ): Promise<{ readonly key: ModelKeyRecord; readonly job: JobRecord; readonly leaseExpiresAt: number | null } | undefined>
  /** Whether the attempt of the claim ever got a key: then its calls passed the proxy. */
  has(claimId: string, attempt: number): Promise<boolean>
  /** Removes those that were made before, unless the lease of their claim ends later. */
  prune(before: number): Promise<number>
}

import type { AgentBudgets, AgentId, Budget, JobId, PromptId, PromptStatus, UserId } from '@parley/protocol'
import type { LeaseFence } from '../../lease/fence.ts'
import type { ClaimKey, JobRecord } from '../job/job.ts'

/** What may be asked with a key. */
export interface KeyTerms {
  readonly hash: string
  readonly channel: string
  readonly model: string
  readonly budget: Budget
}

interface OwnedKey extends KeyTerms {
  readonly ownerId: UserId | null
  readonly createdAt: number
}

/** What one attempt of one claim may ask of one model. Works while the claim holds the job's lease. */
export interface JobKeyRecord extends OwnedKey {
  readonly jobId: JobId
  readonly claimId: string
  readonly claim: number
  readonly attempt: number
}

/** What the turn of one prompt may ask of one model. Works while the host holds the agent under this fence and the prompt runs. */
export interface AgentKeyRecord extends OwnedKey {
  readonly agentId: AgentId
  readonly fence: number
  /** Its number. */
  readonly prompt: number
}

/**
 * A key with what it belongs to, as that stands now. `leaseExpiresAt` is when the lease that it was made under ends unless renewed; null
 * when that does not hold any more (released, taken by another, gone).
 */
export type FoundModelKey =
  | { readonly kind: 'job'; readonly key: JobKeyRecord; readonly job: JobRecord; readonly leaseExpiresAt: number | null }
  | {
      readonly kind: 'agent'
      readonly key: AgentKeyRecord
      readonly budgets: AgentBudgets
      /** Null: it ended so long ago that it is forgotten. */
      readonly status: PromptStatus | null
      /** Somebody wants the turn to end. */
      readonly aborting: boolean
      readonly leaseExpiresAt: number | null
    }

export interface ModelKeys {
  /** Under the claim's fence (`LeaseLost`). A second one for the same claim and attempt replaces the first. */
  add(key: ClaimKey, modelKey: KeyTerms & { readonly attempt: number }): Promise<JobKeyRecord>
  /**
   * Under the lease of the agent (`LeaseLost`). A second one for the same prompt replaces the first. Throws `Conflict` unless the prompt runs
   * under this lease and nobody wants it to end.
   */
  addForAgent(fence: LeaseFence, modelKey: KeyTerms & { readonly promptId: PromptId }): Promise<AgentKeyRecord>
  find(hash: string): Promise<FoundModelKey | undefined>
  /** Whether the attempt of the claim ever got a key: then its calls passed the proxy. */
  has(claimId: string, attempt: number): Promise<boolean>
  /** Removes those that were made before, unless the lease that they were made under ends later. */
  prune(before: number): Promise<number>
}

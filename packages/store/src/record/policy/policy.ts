import type { AgentId, Allowance, AllowanceId, PolicyStatus, PolicySubject } from '@parley/protocol'

/** One version of a policy. Its text never changes. */
export interface PolicyRecord {
  readonly subject: PolicySubject
  /** From 1 on, of each subject. */
  readonly version: number
  readonly status: PolicyStatus
  /** TOML, as it was written. */
  readonly text: string
  readonly sha256: string
  readonly note: string
  /** What somebody was shown of what it would change, by its digest, and the version that was active then; null where none was. */
  readonly review: { readonly digest: string; readonly base: number | null } | null
  readonly createdBy: string
  readonly createdAt: number
  readonly activatedBy: string | null
  readonly activatedAt: number | null
}

export interface NewPolicy {
  readonly text: string
  readonly note: string
  readonly by: string
}

export interface NewAllowance extends Omit<Allowance, 'id' | 'agent_id' | 'expires_at'> {
  readonly by: string
  readonly ttlMs: number
}

/** `stale`: another digest was shown, or another version has become active since. `ended`: a proposal that was refused or taken back. */
export type Activated =
  | { readonly kind: 'activated'; readonly policy: PolicyRecord }
  | { readonly kind: 'stale' | 'ended'; readonly policy: PolicyRecord }

/**
 * Policies of the installation, of people and of agents, in versions of which one at most is active. Publishes `policies` when the first two
 * change, and `agent/ID` with a new version of the agent when its own does, or what is allowed to it.
 */
export interface PolicyRecords {
  /** Writes a version down. The oldest beyond what is kept goes. Throws `NotFound` for a person or an agent that is not there. */
  add(subject: PolicySubject, policy: NewPolicy): Promise<PolicyRecord>
  /** Notes what somebody was shown about it. False when there is no such version. */
  reviewed(
    subject: PolicySubject,
    version: number,
    review: { readonly digest: string; readonly base: number | null },
  ): Promise<boolean>
  /** Makes it the active one, if what was shown is what is still so. `undefined` when there is none. */
  activate(
    subject: PolicySubject,
    version: number,
    by: { readonly digest: string; readonly by: string },
  ): Promise<Activated | undefined>
  /** Takes the active one away: the layer says nothing any more. False when there is none. */
  retire(subject: PolicySubject): Promise<boolean>
  byVersion(subject: PolicySubject, version: number): Promise<PolicyRecord | undefined>
  /** The active ones among these. */
  active(subjects: readonly PolicySubject[]): Promise<readonly PolicyRecord[]>
  /** Newest first. */
  list(
    subject: PolicySubject,
    page: { readonly beforeVersion?: number; readonly statuses?: readonly PolicyStatus[]; readonly limit: number },
  ): Promise<readonly PolicyRecord[]>
  /** What is allowed to an agent and has not run out, the newest first. */
  allowances(agentId: AgentId): Promise<readonly Allowance[]>
  /** Ends one. False when there is none. */
  disallow(agentId: AgentId, id: AllowanceId): Promise<boolean>
  /** Forgets those that have run out. */
  prune(): Promise<number>
}

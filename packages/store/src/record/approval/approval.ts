import type {
  AgentId,
  Allowance,
  ApprovalAnswer,
  ApprovalId,
  ApprovalKind,
  ApprovalStatus,
  Approvers,
  PolicyLayer,
  PolicySubject,
  UserId,
} from '@parley/protocol'
import type { LeaseFence } from '../../lease/fence.ts'
import type { NewAllowance, NewPolicy } from '../policy/policy.ts'

/** One exact call that somebody is asked about. What is sent is what was asked about: its digest binds both. */
export interface ApprovalRecord {
  readonly id: ApprovalId
  readonly agentId: AgentId
  readonly ownerId: UserId
  readonly kind: ApprovalKind
  /** Null for what is no mount's: an engine's own command, a change of a policy. */
  readonly mount: string | null
  readonly mountVersion: number | null
  readonly name: string
  /** Of the call that it is bound to: agent, caller, mount and its version, name, arguments. */
  readonly digest: string
  /** As JSON. */
  readonly arguments: string
  /** What people are shown of it, and the hash of that: whoever decides has decided about this. */
  readonly preview: string
  readonly previewSha256: string
  /** Who calls. */
  readonly caller: string
  /** Why a person is asked. */
  readonly reason: string
  /** The policies that asked, all that were active: under others it does not count. Which rule of which layer; whose questions it answers. */
  readonly policy: string
  readonly rule: string | null
  readonly layer: PolicyLayer | null
  readonly askers: Allowance['answers']
  /** Who may decide, of each policy that asks; empty: the agent's owner, or any admin. */
  readonly approvers: readonly Approvers[]
  /** Who has said yes so far, by name. */
  readonly votes: readonly string[]
  /** What somebody who approved made of the arguments, as JSON. */
  readonly edited: string | null
  readonly status: ApprovalStatus
  readonly createdAt: number
  readonly expiresAt: number
  /** Since when nobody waits for it any more, though it was not taken back. */
  readonly callerGoneAt: number | null
  readonly decided: {
    readonly by: string
    readonly decision: ApprovalAnswer
    readonly reason: string | null
    readonly at: number
  } | null
  readonly dispatchedAt: number | null
  readonly endedAt: number | null
}

export type NewApproval = Pick<
  ApprovalRecord,
  | 'kind'
  | 'mount'
  | 'mountVersion'
  | 'name'
  | 'digest'
  | 'arguments'
  | 'preview'
  | 'previewSha256'
  | 'caller'
  | 'reason'
  | 'policy'
  | 'rule'
  | 'layer'
  | 'askers'
  | 'approvers'
>

/** What a yes does beyond this one call, in one commit with it. */
export interface DecisionEffects {
  readonly allowance?: Omit<NewAllowance, 'by'>
  /** A version of a policy that becomes active with it, if `base` still is the active one. */
  readonly policy?: Omit<NewPolicy, 'by'> & { readonly subject: PolicySubject; readonly base: number | null }
}

export interface ApprovalBounds {
  readonly ttlMs: number
  readonly maxPerAgent: number
  readonly maxPerPerson: number
}

/** How a second decision is answered: the first one counts, whoever made it. */
export type Decided =
  /** `counted`: a yes of several that are needed. */
  | { readonly kind: 'decided' | 'repeated' | 'counted'; readonly approval: ApprovalRecord }
  /** It was decided otherwise, ran out or was taken back: `approval` says which, and by whom. */
  | { readonly kind: 'late'; readonly approval: ApprovalRecord }
  /** A yes to what was asked under policies that are not active any more: it is withdrawn with that. */
  | { readonly kind: 'stale'; readonly approval: ApprovalRecord }

/**
 * ApprovalRecords. Each step is one guarded statement; those of a host go under its fence. Publishes `approval/ID`, `agent/ID` of its agent,
 * `approvals/OWNER`, `approvers/NAME` of each who is named and `approvals` with each step.
 */
export interface ApprovalRecords {
  /**
   * Asks, or takes up what the same agent asked under the same digest while nobody waits for it (`isAdopted`): it is decided once. `isAgain`:
   * it is a call that was asked about under an earlier claim and has not heard what was said, so a denial is taken up as well. With `attended`,
   * those that the host waits for, any other of its own counts as such: the host asked twice and heard once. Throws `LeaseLost`, and
   * `ShareExceeded` (`approvals`) past what may wait of one agent or of one person.
   */
  ask(
    fence: LeaseFence,
    approval: NewApproval,
    bounds: ApprovalBounds & { readonly isAgain?: boolean; readonly attended?: readonly ApprovalId[] },
  ): Promise<{ readonly approval: ApprovalRecord; readonly isAdopted: boolean }>
  /**
   * Asks about a change of the agent's own policy, which is written down as a version with it: a yes makes it the active one. For the host
   * that holds the agent, or for its owner. Throws `LeaseLost`, `NotFound` and `ShareExceeded`.
   */
  propose(
    agent: LeaseFence | AgentId,
    policy: NewPolicy & { readonly review: { readonly digest: string; readonly base: number | null } },
    approval: Omit<NewApproval, 'kind' | 'mount' | 'mountVersion' | 'name' | 'arguments' | 'rule' | 'layer'>,
    bounds: ApprovalBounds,
  ): Promise<ApprovalRecord>
  byId(id: ApprovalId): Promise<ApprovalRecord | undefined>
  /** How many calls of an agent wait for a decision. */
  pending(agentId: AgentId): Promise<number>
  /** Newest first, of one owner or those that name them among its approvers, or of all; of one agent, in one of these statuses. */
  list(page: {
    readonly ownerId?: UserId
    readonly username?: string
    readonly agentId?: AgentId
    readonly statuses?: readonly ApprovalStatus[]
    /** A text in the call as it is shown, who called, why it was asked, who decided and why. Capitals of A to Z do not matter, any other does. */
    readonly search?: string
    /** When they were asked, in milliseconds. */
    readonly since?: number
    readonly beforeCreatedAt?: number
    readonly beforeId?: ApprovalId
    readonly limit: number
  }): Promise<readonly ApprovalRecord[]>
  /** `undefined` when there is none. One that has run out by now is expired, not decided. Throws `Conflict` where a policy has changed since. */
  decide(
    id: ApprovalId,
    decision: {
      readonly decision: ApprovalAnswer
      readonly by: string
      /** Who says so, whatever they came with: of several that are needed each counts once. Left out: `by`. */
      readonly person?: string
      readonly reason: string | null
      /** How many different people must say yes; left out: one. */
      readonly needed?: number
      readonly edited?: string
      readonly effects?: DecisionEffects
    },
  ): Promise<Decided | undefined>
  /**
   * It goes out now: approved → dispatched, once. `stale`: other policies are active than those that asked, and it is withdrawn. `refused`: it may
   * not. Throws `LeaseLost`.
   */
  dispatch(fence: LeaseFence, id: ApprovalId): Promise<'dispatched' | 'stale' | 'refused'>
  /** What came of one that was dispatched. The same again changes nothing; false: it had another end. Throws `LeaseLost`. */
  settle(fence: LeaseFence, id: ApprovalId, end: 'returned' | 'failed'): Promise<boolean>
  /** Its caller took it back. False: it was too late. Throws `LeaseLost`. */
  withdraw(fence: LeaseFence, id: ApprovalId): Promise<boolean>
  /** Its caller was cut off: the same call may take it up again. Throws `LeaseLost`. */
  leave(fence: LeaseFence, id: ApprovalId): Promise<void>
  /**
   * A host begins to hold the agent: what another one had dispatched has an `unknown` outcome, and nobody waits for what is open. Answers
   * those that became unknown. Throws `LeaseLost`.
   */
  takeOver(fence: LeaseFence): Promise<readonly ApprovalRecord[]>
  /** A person says what became of one that is unknown. False: it is not, or there is none. */
  resolve(id: ApprovalId, end: 'returned' | 'failed', by: string): Promise<boolean>
  /** Ends those that have run out. Answers how many. */
  expire(limit: number): Promise<number>
  /** Forgets those that ended before. */
  prune(before: number): Promise<number>
}

export const approvalTopic = (id: ApprovalId): string => `approval/${id}`
/** For somebody who is named as an approver. */
export const approversTopic = (username: string): string => `approvers/${username}`
export const approvalsTopic = (ownerId: UserId): string => `approvals/${ownerId}`

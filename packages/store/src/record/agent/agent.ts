import type { AgentId, AgentKind, AgentSettings, MountSettings, MountReport, UserId } from '@parley/protocol'
import type { LeaseFence } from '../../lease/fence.ts'

/** The queue of the leases under which hosts hold agents. One that is offered is to be awake; one that is held is. */
export const AGENT_QUEUE = 'agents'

/** An agent as it is kept. `version` grows with each change of it or of its mounts. */
export interface AgentRecord {
  readonly id: AgentId
  readonly ownerId: UserId
  readonly ownerName: string
  readonly name: string
  readonly kind: AgentKind
  readonly preset: string
  readonly settings: AgentSettings
  /** `deleting` from the moment somebody wants it gone: no token of it counts and no host takes it. */
  readonly status: 'active' | 'deleting'
  readonly version: number
  readonly mounts: number
  /** What the host that holds it said of its mounts; empty while none does. */
  readonly reported: readonly MountReport[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** One MCP server of an agent's. Its specification is sealed by whoever hands it in, because it holds secrets. */
export interface MountRecord {
  readonly agentId: AgentId
  readonly name: string
  readonly sealed: string
  /** The specification with its secrets masked, as JSON: what people are shown. */
  readonly shown: string
  readonly options: MountSettings
  /** The agent's at the time: it grows each time the mount of this name is attached, also after it was detached. */
  readonly version: number
  readonly attachedAt: number
}

export interface NewAgent {
  /** Left out: a new one. Given where something was sealed for it before. */
  readonly id?: AgentId
  readonly ownerId: UserId
  /** Left out: the first of `base`, `base-2`, … that the owner has not. */
  readonly name?: string
  readonly base: string
  readonly kind: AgentKind
  readonly preset: string
  readonly settings: AgentSettings
  readonly mounts: readonly NewMount[]
  /** Its transcript begins as that of another agent up to this byte, where a line ends, and the policy of that one holds it too. */
  readonly knows?: { readonly agentId: AgentId; readonly offset: number }
  /** What holds it from the start: the first version of its own policy. */
  readonly policy?: { readonly text: string; readonly note: string; readonly by: string }
  readonly maxAgents: number
}
export type NewMount = Pick<MountRecord, 'name' | 'sealed' | 'shown' | 'options'>

/**
 * Agents with their mounts and what they listen to. Publishes `agents/OWNER` and `agents` when a list changes, and `agent/ID` when one of
 * them does, its mounts and reports included.
 */
export interface Agents {
  /**
   * Throws `AlreadyExists` (field `name`), `ShareExceeded` past `maxAgents`, `NotFound` where the owner is gone or disabled, `Conflict` for
   * a second plain mount. Those that are being deleted count until they are removed.
   */
  add(agent: NewAgent): Promise<AgentRecord>
  byId(id: AgentId): Promise<AgentRecord | undefined>
  /** Newest first, of one owner or of all. */
  list(page: {
    readonly ownerId?: UserId
    readonly beforeCreatedAt?: number
    readonly beforeId?: AgentId
    readonly limit: number
  }): Promise<readonly AgentRecord[]>
  /** Changes what is given. Throws `NotFound`, also for one that is being deleted, and `AlreadyExists` for a name that is taken. */
  update(id: AgentId, changes: { readonly name?: string; readonly settings?: Partial<AgentSettings> }): Promise<AgentRecord>
  /**
   * Begins to end it: revokes its tokens (publishing `token/ID` of each), withdraws its lease, and refuses all but `remove` from then on.
   * Idempotent; `undefined` when there is none.
   */
  markDeleting(id: AgentId): Promise<AgentRecord | undefined>
  /** Takes away all that is left of one that was marked: mounts, what it listens to, tokens, its logs. False when there is none. */
  remove(id: AgentId): Promise<boolean>
  /** Those that were marked and are still there, for who finishes what another began. */
  deleting(limit: number): Promise<readonly AgentId[]>
  /** Those whose log of calls begins before a time. */
  withOldCalls(before: number, limit: number): Promise<readonly AgentId[]>

  /** Puts it in the queue of those that are to be awake, in the lane of its owner. False when it is there already. Throws `NotFound`, also when its owner is disabled. */
  wake(id: AgentId): Promise<boolean>
  /** Whether a host holds it and which, or it waits for one, or neither. */
  held(
    id: AgentId,
  ): Promise<{ readonly kind: 'asleep' | 'waking' } | { readonly kind: 'awake'; readonly host: string; readonly fence: number }>
  /**
   * The lease is given up and with it the place in the queue: it sleeps, unless it was told something meanwhile; then the next host takes it.
   * Its host’s reports are forgotten. Throws `LeaseLost`.
   */
  sleep(fence: LeaseFence): Promise<void>
  /** What the host that holds it says of its mounts. Throws `LeaseLost`. */
  report(fence: LeaseFence, mounts: readonly MountReport[]): Promise<void>

  /** Replaces the mount of that name. Throws `NotFound`, `ShareExceeded` past `maxMounts`, `Conflict` for a second plain one. */
  attach(id: AgentId, mount: NewMount, maxMounts: number): Promise<MountRecord>
  /** False when there is none, or its agent is being deleted. */
  detach(id: AgentId, name: string): Promise<boolean>
  mounts(id: AgentId): Promise<readonly MountRecord[]>
  /** The host that holds it has another secret for a mount, which is the same otherwise: nothing is published. False when that version is gone. Throws `LeaseLost`. */
  reseal(fence: LeaseFence, mount: Pick<MountRecord, 'name' | 'version' | 'sealed'>): Promise<boolean>

  /**
   * What the agent listens to by itself, from the content of this digest on; null where that is not known. One that it listens to already stays as it is.
   * Throws `LeaseLost`, and `ShareExceeded` past `max`.
   */
  listen(fence: LeaseFence, uri: string, max: number, digest?: string | null): Promise<void>
  unlisten(fence: LeaseFence, uri: string): Promise<void>
  subscriptions(id: AgentId): Promise<readonly string[]>
}

/** Topics and logs by the names that all rooms use. */
export const agentTopic = (id: AgentId): string => `agent/${id}`
export const agentsTopic = (ownerId: UserId): string => `agents/${ownerId}`
export const transcriptLog = (id: AgentId): string => `agent/${id}/transcript`
/** There is something that it is to be told. */
export const newsTopic = (id: AgentId): string => `agent/${id}/news`
/** A host says that nothing of an agent that is being deleted runs there any more. */
export const drainedTopic = (id: AgentId): string => `agent/${id}/drained`
export const callsLog = (id: AgentId): string => `agent/${id}/calls`

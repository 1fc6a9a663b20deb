import type { TokenId, WorkerFacts, WorkerLabels, WorkerLoad } from '@parley/protocol'

/** Workers that are reached by tunnels. Judges have a record of their own: they claim jobs. */
export type WorkerKind = 'host' | 'executor'

/** What a worker says of itself. */
export interface WorkerHeartbeat {
  readonly kind: WorkerKind
  readonly name: string
  /** The token it came with; null for the one that is set for all workers of its kind. */
  readonly tokenId: TokenId | null
  /** One start of it. */
  readonly instance: string
  readonly slots: number
  readonly labels: WorkerLabels
  readonly facts: WorkerFacts
  readonly load: WorkerLoad
}

export interface WorkerRecord extends WorkerHeartbeat {
  readonly drain: boolean
  readonly firstSeenAt: number
  readonly lastSeenAt: number
  /** When its last connection ended; null while it has one, as far as is known. */
  readonly leftAt: number | null
}

/**
 * Hosts and executors. A name belongs to the token that first came with it, for as long as that can be shown, and to one instance
 * at a time. Publishes `executors` or `hosts` when one comes or leaves, changes what it tells, or is told to drain.
 */
export interface Workers {
  /** Writes down that it is there. Throws `Conflict` when its name is another token's, or another instance of it is here. */
  seen(beat: WorkerHeartbeat): Promise<WorkerRecord>
  /** A connection of this instance ended. It has come back when it is seen again. */
  left(worker: Pick<WorkerHeartbeat, 'kind' | 'name' | 'instance'>): Promise<void>
  setDrain(kind: WorkerKind, name: string, drain: boolean): Promise<WorkerRecord | undefined>
  byName(kind: WorkerKind, name: string): Promise<WorkerRecord | undefined>
  list(kind: WorkerKind, sinceMs: number): Promise<readonly WorkerRecord[]>
  /** Forgets those that were last seen before; those that drain only if that was before `drainedBefore`. */
  prune(before: number, drainedBefore: number): Promise<number>
}

/** The topic that says that workers of a kind have changed. */
export const workersTopic = (kind: WorkerKind): string => `${kind}s`

import type { JudgeFacts, TokenId } from '@parley/protocol'

export interface JudgeRecord {
  readonly machineId: string
  /** What people call it. */
  readonly name: string
  /** The token it came with; null for the one that is set for all judges. */
  readonly tokenId: TokenId | null
  readonly drain: boolean
  readonly firstSeenAt: number
  readonly lastSeenAt: number
  /** When it stopped asking for work, though it may finish what it holds; null while it does. */
  readonly leftAt: number | null
  readonly facts: JudgeFacts | null
}

/**
 * The judges that asked for work. Publishes `judges` when one comes or leaves, changes what it tells, or is told to drain. They
 * are forgotten with their token.
 */
export interface Judges {
  /** Writes down that it is there. `facts` left out: what it told before stays. */
  seen(judge: {
    readonly machineId: string
    readonly name: string
    readonly tokenId?: TokenId | null
    readonly facts?: JudgeFacts
  }): Promise<JudgeRecord>
  /** It asks for no more work. It has come back when it is seen again. */
  left(machineId: string): Promise<void>
  /** Only the time; called often, told to nobody. */
  alive(machineIds: readonly string[], at: number): Promise<void>
  setDrain(machineId: string, drain: boolean): Promise<JudgeRecord | undefined>
  byId(machineId: string): Promise<JudgeRecord | undefined>
  list(sinceMs: number): Promise<readonly JudgeRecord[]>
  /** Forgets those that were last seen before; those that drain only if that was before `drainedBefore`. */
  prune(before: number, drainedBefore?: number): Promise<number>
}

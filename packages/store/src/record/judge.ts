import type { JudgeFacts } from '@parley/protocol'

export interface JudgeRecord {
  readonly machineId: string
  /** The name of the token it came with. */
  readonly name: string
  readonly drain: boolean
  readonly firstSeenAt: number
  readonly lastSeenAt: number
  readonly facts: JudgeFacts | null
}

/** The judges that asked for work. Publishes `judges` when one comes, changes what it tells, or is told to drain. */
export interface Judges {
  /** Writes down that it is there. `facts` left out: what it told before stays. */
  seen(judge: { readonly machineId: string; readonly name: string; readonly facts?: JudgeFacts }): Promise<JudgeRecord>
  /** Only the time; called often, told to nobody. */
  alive(machineIds: readonly string[], at: number): Promise<void>
  setDrain(machineId: string, drain: boolean): Promise<JudgeRecord | undefined>
  byId(machineId: string): Promise<JudgeRecord | undefined>
  list(sinceMs: number): Promise<readonly JudgeRecord[]>
  /** Forgets those that were last seen before. */
  prune(before: number): Promise<number>
}

import { createHash } from 'node:crypto'
import type { JudgeFacts, TokenId } from '@parley/protocol'

export interface JudgeRecord {
  /** Tells it from all others: as it said, or `ownMachineId` where another token's judge has that. */
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

/** What a judge says of itself when it asks for work. */
export interface SeenJudge {
  readonly machineId: string
  readonly tokenId: TokenId | null
}

/** What tells a judge from all others where one of another token has the machine that it said. No longer than what may be said. */
export function ownMachineId({ machineId, tokenId }: SeenJudge): string {
  const mark = createHash('sha256')
    .update(`${tokenId ?? ''} ${machineId}`)
    .digest('hex')
    .slice(0, MARK_CHARS)
  return `${machineId.slice(0, MACHINE_MAX_CHARS - MARK_CHARS - 1).toWellFormed()}#${mark}`
}
const MARK_CHARS = 10
/** As `MachineId` of `protocol` has it. */
const MACHINE_MAX_CHARS = 128

/**
 * The judges that asked for work. Publishes `judges` when one comes or leaves, changes what it tells, or is told to drain. They
 * are forgotten with their token. An entry belongs to the token that it came with: what another one says of the same machine
 * makes an entry beside it, unless the first can never be shown again.
 */
export interface Judges {
  /**
   * Writes down that it is there. `facts` left out: what it told before stays. `nameBeside`: what people call it where its
   * machine is another token's, too. Throws `Conflict` where somebody has even its own name for it.
   */
  seen(judge: {
    readonly machineId: string
    readonly name: string
    readonly nameBeside?: string
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

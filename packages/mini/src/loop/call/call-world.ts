import type { ApprovalMode, EngineEvent, Gate, Reach } from '@parley/agent'
import type { Toolbox } from '../../tool/toolbox.ts'
import type { Stopper } from '../stopper.ts'
import type { ConversationLog } from '../transcript/conversation-log.ts'
import type { ApprovalDesk } from './approval-desk.ts'
import type { SentCalls } from './sent-calls.ts'
import type { TurnDiff } from './turn-diff.ts'

/** What the calls of one turn share. */
export interface CallWorld {
  readonly conversation: string
  readonly toolbox: Toolbox
  readonly gate: Gate | undefined
  readonly mode: ApprovalMode
  readonly reach: Reach
  readonly network: boolean
  readonly desk: ApprovalDesk
  readonly diff: TurnDiff
  readonly stopper: Stopper
  readonly log: ConversationLog
  readonly sent: SentCalls
  /** The calls are those that an earlier process left. */
  readonly isAgain: boolean
  readonly emit: (event: EngineEvent) => void
  readonly now: () => number
}

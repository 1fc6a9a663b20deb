import type { ConversationOptions, EngineEvent, Spending } from '@parley/agent'
import type { ApprovalDesk } from './call/approval-desk.ts'
import type { ContextSize } from './context-size.ts'
import type { History } from './history.ts'
import type { MiniLimits, MiniOptions, ModelFacts } from './mini-options.ts'
import type { ConversationLog } from './transcript/conversation-log.ts'

/** What one conversation is made of, for everything that happens in its turns. */
export interface ConversationState {
  readonly id: string
  readonly options: ConversationOptions
  readonly mini: MiniOptions
  readonly limits: MiniLimits
  readonly facts: ModelFacts
  readonly history: History
  readonly log: ConversationLog
  readonly spending: Spending
  readonly context: ContextSize
  readonly desk: ApprovalDesk
  readonly emit: (event: EngineEvent) => void
  /** Tells and logs. */
  readonly warn: (message: string) => void
  /** A number for the next answer of the model. */
  readonly nextAnswer: () => number
}

/** A time as the log has it. Many lines are of the same moment. */
export function iso(ms: number): string {
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() }
  return latest.text
}
let latest = { ms: 0, text: new Date(0).toISOString() }

/** How many tokens the context of this conversation's model holds. */
export const contextTokens = ({ facts, limits }: ConversationState): number => facts.contextTokens ?? limits.contextTokens

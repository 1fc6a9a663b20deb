import type { InputPart, Turn } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import type { TurnOrder } from './order.ts'

/** One event in Codex's own words (`msg` of `codex/event`): snake_case, told apart by `type`. */
export interface EventMessage extends JsonObject {
  readonly type: string
}

/** By id, or by the file it is kept in. */
export type ConversationRef = { readonly id: string } | { readonly path: string }

/** One conversation, as a server of old clients needs it. Everything else is as the engine port has it. */
export interface BackedConversation {
  /** A UUID. */
  readonly id: string
  readonly model: string
  readonly effort: string | null
  /** The file it is kept in. */
  readonly rolloutPath: string
  /** Where it works, if the backend knows: paths that its engine tells may be below it. */
  readonly folder?: string
  /** What was said before, for a resumed one, in Codex's words: `user_message`, `agent_message`, `agent_reasoning`. */
  readonly initialMessages: readonly EventMessage[]
  readonly contextWindow: number | null
  /** Whether something was added to a turn that ended without reading it. The next turn begins with it, also one without input of its own. */
  readonly hasUnread?: boolean
  /** One turn at a time: throws `ConversationBusy`, `ConversationClosed`. */
  submit(order: TurnOrder): Turn
  steer(input: readonly InputPart[]): boolean
  interrupt(): Promise<void>
  close(): Promise<void>
}

import type { EngineEvent } from '@parley/agent'
import type { EventMessage, OpenOrder } from '@parley/codex/port'

/** Whose events are told: those of 0.42 to 0.45, or those of 0.100 to 0.153. */
export type EventDialect = '0.44' | '0.153'

/** Says in Codex's words what an engine tells. One for each conversation: it remembers what a later event repeats. */
export interface EventTranslator {
  /** The first event of every conversation. */
  configured(): EventMessage
  /** What a person said, where the dialect tells it. Right after `turn_started`. */
  said(text: string): readonly EventMessage[]
  translate(event: EngineEvent): readonly EventMessage[]
}

export interface TranslatorOptions {
  /** How the conversation was opened: the newer dialect repeats it. */
  readonly order?: OpenOrder
  readonly now?: () => number
  /**
   * Engines say that a command begins and ask whether it may afterwards; Codex has it the other way round. So a beginning
   * waits a moment for a question, and goes here when none came. Left out: it waits for the next event of its call.
   */
  readonly later?: (messages: readonly EventMessage[]) => void
}

import type { Gate, Transcripts } from '@parley/agent'
import type { ModelPrices } from '@parley/protocol'
import type { ModelClient } from '../model/model.ts'
import { TOOL_LIMITS, type ToolLimits, type ToolPorts } from '../tool/tool-options.ts'

/** What is known about a model; null where nobody knows. */
export interface ModelFacts {
  readonly contextTokens: number | null
  readonly maxOutputTokens: number | null
  /** For the budget of money. */
  readonly prices: ModelPrices | null
}

/** What the own engine needs from outside. */
export interface MiniOptions extends ToolPorts {
  readonly model: ModelClient
  readonly facts: (model: string) => ModelFacts
  /** Left out: the approval mode alone decides. */
  readonly gate?: Gate
  readonly transcripts: Transcripts
  readonly now: () => number
  readonly limits?: Partial<MiniLimits>
}

/** Bounds of a conversation. */
export interface MiniLimits extends ToolLimits {
  /** Requests to the model in one turn. */
  readonly requestsPerTurn: number
  /** Calls of one answer that run side by side. */
  readonly callsAtOnce: number
  /** Of the context, after which older parts are summed up. */
  readonly compactAt: number
  /** The context of a model that nobody knows the size of. */
  readonly contextTokens: number
  /** The newest items that a compaction leaves as they are. */
  readonly keptItems: number
  /** How long what runs may take to end after an interrupt. */
  readonly interruptMs: number
}

export const MINI_LIMITS: MiniLimits = {
  ...TOOL_LIMITS,
  requestsPerTurn: 100,
  callsAtOnce: 8,
  compactAt: 0.8,
  contextTokens: 128_000,
  keptItems: 10,
  interruptMs: 500,
}

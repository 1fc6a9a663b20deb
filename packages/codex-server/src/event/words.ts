import type { ActStatus, ApprovalRequest, EngineEvent, FileChange } from '@parley/agent'
import type { JsonObject, JsonValue, TokenUsage } from '@parley/protocol'
import type { BackedConversation, EventMessage, OpenOrder } from '@parley/codex/port'

export interface Speaker {
  readonly conversation: BackedConversation
  readonly order: OpenOrder
  readonly now: () => number
}

export interface Counted {
  readonly last: TokenUsage
  readonly total: TokenUsage
}

export interface CommandAct {
  readonly call: string
  readonly argv: readonly string[]
  readonly folder: string
  readonly startedAt: number
}
export interface CommandOutcome {
  readonly status: ActStatus
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly output: string
  readonly durationMs: number
}
export interface PatchAct {
  readonly call: string
  readonly changes: readonly FileChange[]
  readonly startedAt: number
}
export interface PatchOutcome {
  readonly status: ActStatus
  readonly stdout: string
  readonly stderr: string
}
export interface ToolAct {
  readonly call: string
  readonly server: string
  readonly tool: string
  readonly arguments: JsonValue
  readonly startedAt: number
}

type Out = EventMessage[]
type EventOf<T extends EngineEvent['type']> = Extract<EngineEvent, { type: T }>

/** How one dialect says each thing. When it is said, and whether at all, is the translator's business. */
export interface Words {
  /** Tokens are counted when an answer begins, too. */
  readonly countsAtStart: boolean
  /** They are counted when a turn fails or is stopped as well. */
  readonly countsAtBreak: boolean
  /** A patch begins before anybody is asked about it, and one that was declined has ended. */
  readonly patchBeginsBeforeQuestion: boolean
  configured(): EventMessage
  started(turn: string, out: Out): void
  said(text: string, out: Out): void
  delta(item: string, delta: string, out: Out): void
  message(item: string, text: string, out: Out): void
  reasoningPart(event: EventOf<'reasoning_part'>, out: Out): void
  reasoningDelta(event: EventOf<'reasoning_delta'>, out: Out): void
  reasoning(item: string, told: { readonly summary: readonly string[]; readonly raw: string }, out: Out): void
  commandAsked(request: Extract<ApprovalRequest, { kind: 'command' }>, out: Out): void
  commandBegan(act: CommandAct, out: Out): void
  commandSaid(event: EventOf<'command_output'>, out: Out): void
  commandEnded(act: CommandAct, outcome: CommandOutcome, out: Out): void
  patchAsked(request: Extract<ApprovalRequest, { kind: 'patch' }>, out: Out): void
  patchBegan(act: PatchAct, wasAsked: boolean, out: Out): void
  patchEnded(act: PatchAct, outcome: PatchOutcome, out: Out): void
  toolBegan(act: ToolAct, out: Out): void
  toolEnded(act: ToolAct, event: EventOf<'tool_end'>, out: Out): void
  /** The model has answered, whatever comes of it. */
  answered(call: string, counted: Counted, out: Out): void
  counted(counted: Counted | null, out: Out): void
  retry(event: EventOf<'retry'>, out: Out): void
  compacted(event: EventOf<'compacted'>, out: Out): void
  warning(message: string, out: Out): void
  ended(event: EventOf<'turn_ended'>, out: Out): void
}

export const durationOf = (ms: number): JsonObject => {
  const secs = Math.floor(ms / 1_000)
  return { secs, nanos: Math.round((ms - secs * 1_000) * 1_000_000) }
}

/** As Rust's `Result` is written in JSON. */
export function toolResult({ result, error, status }: EventOf<'tool_end'>): JsonObject {
  if (result === null) return { Err: error ?? status }
  // What newer servers say beside it is about the talk with them, and clients of Codex never saw it.
  const { _meta: _, resultType: __, ...told }: JsonObject = result
  return { Ok: told }
}

export const planOf = ({ explanation, steps }: EventOf<'plan'>): EventMessage => ({
  type: 'plan_update',
  explanation,
  plan: steps.map(({ step, status }) => ({ step, status })),
})

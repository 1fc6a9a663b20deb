import type { EngineEvent, PlanStep, TurnEnd } from '@parley/agent'
import type { JsonObject, TokenUsage } from '@parley/protocol'
import { numberOrNull, objectOf, objectOrNull, objectsIn, textOf, textOrNull } from './fields.ts'
import { itemCompleted, itemStarted } from './item-events.ts'
import type { Thread, TurnNotes } from './thread.ts'
import { turnFailureOf } from './turn-failure.ts'

/** What a notification of a running turn means for whoever listens. */
export function turnEvents(method: string, params: JsonObject, thread: Thread, turn: TurnNotes): EngineEvent[] {
  const item = textOf(params, 'itemId')
  const delta = textOf(params, 'delta')
  switch (method) {
    case 'item/started':
      return itemStarted(objectOf(params, 'item'), turn)
    case 'item/completed':
      return completed(objectOf(params, 'item'), thread, turn)
    case 'item/agentMessage/delta':
      turn.tell(item, delta)
      return [{ type: 'message_delta', item, delta }]
    case 'item/reasoning/summaryTextDelta':
      turn.tell(item, delta)
      return [{ type: 'reasoning_delta', item, part: numberOrNull(params, 'summaryIndex') ?? 0, delta, raw: false }]
    case 'item/reasoning/textDelta':
      turn.tell(item, delta)
      return [{ type: 'reasoning_delta', item, part: numberOrNull(params, 'contentIndex') ?? 0, delta, raw: true }]
    case 'item/reasoning/summaryPartAdded':
      return [{ type: 'reasoning_part', item, part: numberOrNull(params, 'summaryIndex') ?? 0 }]
    case 'item/commandExecution/outputDelta':
      turn.tell(item, delta)
      return [{ type: 'command_output', call: item, stream: 'stdout', bytes: Buffer.from(delta) }]
    case 'item/mcpToolCall/progress':
      return [{ type: 'tool_output', call: item, text: textOf(params, 'message') }]
    case 'turn/plan/updated':
      return [{ type: 'plan', explanation: textOrNull(params, 'explanation'), steps: objectsIn(params, 'plan').map(stepOf) }]
    case 'turn/diff/updated':
      return diffEvents(textOf(params, 'diff'), turn)
    case 'thread/tokenUsage/updated':
      return usageEvents(objectOf(params, 'tokenUsage'), thread, turn)
    case 'thread/compacted':
      return summedUp(thread, turn)
    case 'error':
      return params['willRetry'] === true ? [retryOf(objectOf(params, 'error'), turn)] : []
    case 'model/rerouted':
      return [
        { type: 'warning', message: `the model was changed from ${textOf(params, 'fromModel')} to ${textOf(params, 'toModel')}` },
      ]
    default:
      return []
  }
}

/** How the turn ended. */
export function turnEndOf(turn: JsonObject, notes: TurnNotes): TurnEnd {
  switch (textOf(turn, 'status')) {
    case 'interrupted':
      return { kind: 'interrupted' }
    case 'failed':
      return turnFailureOf(objectOrNull(turn, 'error') ?? {})
    default:
      // Codex drops a refusal: all that is left of it is a message that began.
      if (notes.lastMessage === undefined && notes.unfinished.size > 0)
        return { kind: 'failed', code: 'model_refusal', message: 'the model declined to answer; Codex does not tell its words' }
      return { kind: 'completed', message: notes.lastMessage ?? '' }
  }
}

function completed(item: JsonObject, thread: Thread, turn: TurnNotes): EngineEvent[] {
  return textOf(item, 'type') === 'contextCompaction' ? summedUp(thread, turn) : itemCompleted(item, turn)
}

/** How much is left is known after the next request alone. */
function summedUp(thread: Thread, turn: TurnNotes): EngineEvent[] {
  turn.summedUpFrom ??= thread.contextTokens
  return []
}

function usageEvents(told: JsonObject, thread: Thread, turn: TurnNotes): EngineEvent[] {
  turn.usages += 1
  const last = objectOf(told, 'last')
  thread.contextTokens = numberOrNull(last, 'totalTokens') ?? 0
  thread.contextWindow = numberOrNull(told, 'modelContextWindow') ?? thread.contextWindow
  const before = turn.summedUpFrom
  turn.summedUpFrom = undefined
  const usage: EngineEvent = {
    type: 'usage',
    call: `${turn.id}/${turn.usages}`,
    last: tokensOf(last),
    total: tokensOf(objectOf(told, 'total')),
    estimated: false,
    contextTokens: thread.contextTokens,
  }
  return before === undefined ? [usage] : [{ type: 'compacted', before, after: thread.contextTokens }, usage]
}

const tokensOf = (told: JsonObject): TokenUsage => ({
  input_tokens: numberOrNull(told, 'inputTokens') ?? 0,
  cached_input_tokens: numberOrNull(told, 'cachedInputTokens') ?? 0,
  output_tokens: numberOrNull(told, 'outputTokens') ?? 0,
  cached_output_tokens: 0,
  reasoning_output_tokens: numberOrNull(told, 'reasoningOutputTokens') ?? 0,
})

/** Codex tells the same diff again and again. */
function diffEvents(diff: string, turn: TurnNotes): EngineEvent[] {
  if (diff === turn.lastDiff) return []
  turn.lastDiff = diff
  return [{ type: 'diff', diff }]
}

function retryOf(error: JsonObject, turn: TurnNotes): EngineEvent {
  turn.retries += 1
  const details = textOrNull(error, 'additionalDetails')
  const message = textOf(error, 'message')
  // Codex does not say how long it waits.
  return { type: 'retry', attempt: turn.retries, waitMs: 0, reason: details === null ? message : `${message}: ${details}` }
}

function stepOf(told: JsonObject): PlanStep {
  const status = textOf(told, 'status')
  return {
    step: textOf(told, 'step'),
    status: status === 'completed' ? 'completed' : status === 'inProgress' ? 'in_progress' : 'pending',
  }
}

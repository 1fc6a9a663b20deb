import type { NextTry } from '@parley/agent'
import { type TokenUsage, totalTokens } from '@parley/protocol'
import type { ModelAnswer, ModelListener, ModelRequest } from '../model/model.ts'
import { type ConversationState, iso } from './conversation-state.ts'
import type { Stopper } from './stopper.ts'

export interface ModelQuestion {
  readonly purpose: 'turn' | 'compaction'
  readonly toolsSha256: string | null
  /** What a compaction hands over; of a turn it is everything. */
  readonly handedOver?: { readonly seqs: number[]; readonly characters: number; readonly instructions: string }
  readonly stopper: Stopper
}

/** `usage` is that of the answer itself; the tries before it are counted, too. */
export interface ModelReply {
  readonly answer: ModelAnswer
  readonly usage: TokenUsage | undefined
  /** The ids under which pieces of the answer were told, in order: not every wire gives its items one. */
  readonly toldMessages: readonly string[]
  readonly toldReasoning: readonly string[]
}

/** Makes one request to the model: everything before it is on the disk first, everything it says is told and counted. */
export async function askModel(
  state: ConversationState,
  request: ModelRequest,
  { purpose, toolsSha256, handedOver, stopper }: ModelQuestion,
): Promise<ModelReply> {
  const { log, spending, mini } = state
  spending.addRequest()
  log.add({
    type: 'request',
    at: iso(mini.now()),
    purpose,
    model: request.model,
    items: request.input.length,
    tools_sha256: toolsSha256,
    effort: request.effort ?? null,
    handed_over: handedOver ?? null,
  })
  const flushed = await stopper.wait(log.flush())
  if (flushed.kind === 'stopped' || stopper.end !== undefined) return ABORTED
  const ear = new Ear(state, purpose)
  try {
    const waited = await stopper.wait(mini.model.sample(request, ear, stopper.signal))
    if (waited.kind === 'stopped') return ABORTED
    const { usageOfAnswer: usage, toldMessages, toldReasoning } = ear
    return { answer: waited.value, usage, toldMessages, toldReasoning }
  } finally {
    ear.close()
  }
}

const ABORTED: ModelReply = { answer: { kind: 'aborted' }, usage: undefined, toldMessages: [], toldReasoning: [] }

/** Hears one request. After its end nothing is told any more: one that was abandoned may go on talking. */
class Ear implements ModelListener {
  readonly #state: ConversationState
  readonly #isTurn: boolean
  #isOpen = true
  usageOfAnswer: TokenUsage | undefined
  toldMessages: string[] = []
  toldReasoning: string[] = []

  constructor(state: ConversationState, purpose: ModelQuestion['purpose']) {
    this.#state = state
    this.#isTurn = purpose === 'turn'
  }

  close(): void {
    this.#isOpen = false
  }

  messageDelta(item: string, delta: string): void {
    if (!this.#isOpen || !this.#isTurn) return
    if (this.toldMessages.at(-1) !== item) this.toldMessages.push(item)
    this.#state.emit({ type: 'message_delta', item, delta })
  }
  reasoningDelta(item: string, part: number, delta: string, raw: boolean): void {
    if (!this.#isOpen || !this.#isTurn) return
    if (this.toldReasoning.at(-1) !== item) this.toldReasoning.push(item)
    this.#state.emit({ type: 'reasoning_delta', item, part, delta, raw })
  }
  reasoningPart(item: string, part: number): void {
    if (this.#isOpen && this.#isTurn) this.#state.emit({ type: 'reasoning_part', item, part })
  }
  retry(next: NextTry): void {
    this.toldMessages = []
    this.toldReasoning = []
    if (this.#isOpen) this.#state.emit({ type: 'retry', ...next })
  }
  exchanged(exchange: Parameters<ModelListener['exchanged']>[0]): void {
    if (this.#isOpen) this.#state.log.add({ type: 'exchange', exchange: { ...exchange, leftOut: [...exchange.leftOut] } })
  }
  usage(call: string, usage: TokenUsage, estimated: boolean): void {
    const { spending, log, emit } = this.#state
    // Counted also when it comes too late to be told: it was used up all the same.
    const microusd = spending.addUsage(usage)
    log.add({ type: 'usage', call, usage, estimated, microusd })
    if (!this.#isOpen) return
    this.usageOfAnswer = estimated ? undefined : usage
    const contextTokens = this.#isTurn && !estimated ? totalTokens(usage) : null
    emit({ type: 'usage', call, last: usage, total: spending.total, estimated, contextTokens })
  }
}

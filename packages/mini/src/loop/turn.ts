import type { TurnEnd, TurnFailure, TurnInput } from '@parley/agent'
import type { ModelAnswer, ModelItem, ModelRequest } from '../model/model.ts'
import { MountFailed } from '../tool/mount/mount-failed.ts'
import { addInput } from './add-input.ts'
import { type ModelReply, askModel } from './ask-model.ts'
import { runCalls, settleOpenCalls } from './call/run-calls.ts'
import type { SentCalls } from './call/sent-calls.ts'
import { TurnDiff } from './call/turn-diff.ts'
import { compact } from './compaction/compact.ts'
import { type ConversationState, contextTokens } from './conversation-state.ts'
import type { AdmittedCall } from './history.ts'
import { callOf, messageText, reasoningText } from './item.ts'
import type { Stopper } from './stopper.ts'
import type { Steering } from './steering.ts'
import type { OpenedToolbox, ToolboxHolder } from './toolbox-holder.ts'

export interface TurnWorld {
  readonly state: ConversationState
  readonly stopper: Stopper
  readonly steering: Steering
  readonly toolbox: ToolboxHolder
  readonly input: Pick<TurnInput, 'outputSchema'>
  readonly sent: SentCalls
}

/** Of the context, what nobody needs to ask the provider about. */
const HOPELESS = 1.5

type Answered = Extract<ModelAnswer, { kind: 'answered' }>

/** The loop: ask the model, make its calls, ask again, until an answer has none. */
export async function runTurn(world: TurnWorld): Promise<TurnEnd> {
  const { state, stopper, toolbox: holder } = world
  const { spending } = state
  if (spending.isUnenforced()) state.warn(`${state.options.model} has no price: the budget of money is not enforced`)
  let opened: OpenedToolbox
  try {
    const waited = await holder.get(state, stopper)
    if (waited.kind === 'stopped') return endOf(stopper)
    opened = waited.value
  } catch (error) {
    if (stopper.end !== undefined) return stopper.end
    if (error instanceof MountFailed) return failed('mount_failed', error.message)
    throw error
  }
  return new Loop(world, opened).run()
}

class Loop {
  readonly #world: TurnWorld
  readonly #opened: OpenedToolbox
  readonly #diff = new TurnDiff()
  #lastMessage = ''
  #newest: Omit<ModelReply, 'answer'> | undefined
  /** Set when a compaction brought nothing: it would not the next time either. */
  #compactsNoMore = false

  constructor(world: TurnWorld, opened: OpenedToolbox) {
    this.#world = world
    this.#opened = opened
  }

  async run(): Promise<TurnEnd> {
    const { state, stopper, steering } = this.#world
    const left = state.history.open.map((call) => ({ call, repeated: false }))
    const unmade = left.length === 0 ? undefined : await this.#make(left, true)
    if (unmade !== undefined) return unmade
    for (;;) {
      steering.take(state)
      const untold = await this.#takeNews()
      if (untold !== undefined) return untold
      const answer = await this.#answer()
      if (answer.kind !== 'answered') return answer
      const calls = this.#takeIn(answer)
      if (stopper.end !== undefined) return stopper.end
      if (answer.refusal !== null) return failed('model_refusal', answer.refusal)
      if (calls.length === 0) {
        if (steering.closeIfEmpty()) return { kind: 'completed', message: this.#lastMessage }
        continue
      }
      const end = await this.#make(calls, false)
      if (end !== undefined) return end
      if (state.options.isOver?.() === true && steering.closeIfEmpty()) return { kind: 'completed', message: this.#lastMessage }
    }
  }

  /** What is new for the model goes with its next request. One that is not told of it is not asked. */
  async #takeNews(): Promise<TurnEnd | undefined> {
    const { state, stopper } = this.#world
    const { news } = state.options
    if (news === undefined || !news.mayHaveNews) return undefined
    const waited = await stopper.wait(state.log.flush().then(() => news.take()))
    if (waited.kind === 'stopped') return endOf(stopper)
    if (waited.value !== undefined) addInput(state, waited.value)
    return undefined
  }

  /** Makes the calls of an answer, or those of one that an earlier process left. Answers how the turn ends, if it does. */
  async #make(calls: readonly AdmittedCall[], isAgain: boolean): Promise<TurnEnd | undefined> {
    const { state, stopper } = this.#world
    const spent = this.#spent()
    if (spent !== undefined) return this.#leaveCalls(spent)
    const flushed = await stopper.wait(state.log.flush())
    const world = { ...this.#callWorld(), isAgain }
    if (flushed.kind === 'settled') await runCalls(calls, { world, history: state.history, atOnce: state.limits.callsAtOnce })
    return stopper.end
  }

  /** One answer of the model, with room made for it where there is none. */
  async #answer(): Promise<Answered | TurnEnd> {
    const full = await this.#compactIfFull()
    if (full !== undefined) return full
    const first = await this.#sample()
    if (first.kind !== 'failed' || first.code !== 'context_overflow') return first
    const { state, stopper } = this.#world
    const compacted = this.#spent() ?? (await compact(state, stopper))
    if (compacted.kind === 'ended') return compacted.end
    if (compacted.kind === 'failed') return compacted
    return compacted.kind === 'useless' ? first : this.#sample()
  }

  async #compactIfFull(): Promise<TurnEnd | undefined> {
    const { state, stopper } = this.#world
    const size = contextTokens(state)
    const { context, history, limits, facts } = state
    if (this.#compactsNoMore || !context.isFull(history.weight, size * limits.compactAt)) return undefined
    const spent = this.#spent()
    if (spent !== undefined) return spent
    const compacted = await compact(state, stopper)
    if (compacted.kind === 'ended') return compacted.end
    this.#compactsNoMore = compacted.kind === 'useless'
    if (compacted.kind === 'useless') state.warn(`the conversation could not be summed up: ${compacted.why}`)
    // An estimate is no reason to give up, unless it is far beyond what the model is known to hold.
    if (facts.contextTokens === null || context.tokens(history.weight) <= size * HOPELESS) return undefined
    return failed('context_overflow', `the conversation does not fit into the ${size} tokens of the context, even summed up`)
  }

  async #sample(): Promise<Answered | TurnEnd> {
    const { state, stopper } = this.#world
    const spent = this.#spent()
    if (spent !== undefined) return spent
    const asking = { purpose: 'turn', toolsSha256: this.#opened.sha256, stopper } as const
    const { answer, ...newest } = await askModel(state, this.#request(), asking)
    if (answer.kind === 'aborted') return endOf(stopper)
    if (answer.kind === 'failed') return stopper.end ?? failed(answer.code, answer.message)
    this.#newest = newest
    return answer
  }

  #request(): ModelRequest {
    const { options, history, id } = this.#world.state
    const outputSchema = this.#world.input.outputSchema ?? options.outputSchema
    return {
      model: options.model,
      instructions: options.instructions,
      input: history.items(),
      tools: this.#opened.specs,
      parallelToolCalls: true,
      cacheKey: id,
      ...(options.effort === undefined ? {} : { effort: options.effort }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
    }
  }

  /** Puts an answer into the conversation and tells what it says. */
  #takeIn({ items: given }: Answered) {
    const { history, log, emit, context, nextAnswer } = this.#world.state
    const group = nextAnswer()
    const { items, looseEnd, calls } = history.admit(given, group)
    const repeated = new Set(calls.flatMap((each) => (each.repeated ? [each.call.id] : [])))
    for (const item of items) {
      const isRepeated = repeated.has(callOf(item)?.id ?? '')
      const line = { type: 'item', group, item, ...(isRepeated ? { repeated: true as const } : {}) } as const
      history.addItem(log.add(line), item, group)
    }
    if (looseEnd.length > 0) log.add({ type: 'unkept', items: looseEnd })
    const told = { message: this.#newest?.toldMessages.values(), reasoning: this.#newest?.toldReasoning.values() }
    for (const [index, item] of given.entries()) {
      const { type } = item
      if (type !== 'message' && type !== 'reasoning') continue
      const id = idOf(item, told[type]?.next().value ?? `item_${group}_${index}`)
      if (type === 'reasoning') emit({ type, item: id, text: reasoningText(item) })
      else emit({ type, item: id, text: (this.#lastMessage = messageText(item)) })
    }
    // Now that its own items are in: what it used is all that the next request repeats.
    if (this.#newest?.usage !== undefined) context.measure(this.#newest.usage, history.weight)
    return calls
  }

  #leaveCalls(end: Extract<TurnEnd, { kind: 'failed' }>): TurnEnd {
    settleOpenCalls(this.#world.state, `The call was not made: ${end.message}.`)
    return end
  }

  #spent(): Extract<TurnEnd, { kind: 'failed' }> | undefined {
    const spent = this.#world.state.spending.spent()
    return spent === undefined ? undefined : failed(spent.code, spent.message)
  }

  #callWorld() {
    const { state, stopper, sent } = this.#world
    const { options, mini, desk, log, emit } = state
    return {
      conversation: state.id,
      toolbox: this.#opened.toolbox,
      gate: mini.gate,
      mode: options.approvals,
      reach: options.reach,
      network: options.network,
      desk,
      diff: this.#diff,
      stopper,
      log,
      sent,
      emit,
      now: mini.now,
    }
  }
}

const failed = (code: TurnFailure, message: string) => ({ kind: 'failed', code, message }) as const
const endOf = (stopper: Stopper): TurnEnd => stopper.end ?? { kind: 'interrupted' }
const idOf = (item: ModelItem, otherwise: string): string => (typeof item['id'] === 'string' ? item['id'] : otherwise)

import {
  type ApprovalReply,
  type ApprovalRequest,
  type Conversation,
  type ConversationListener,
  type ConversationOptions,
  type EngineEvent,
  type InputPart,
  type Spent,
  Spending,
  type Turn,
  type TurnEnd,
  type TurnInput,
  checkInput,
} from '@parley/agent'
import type { ModelPrices } from '@parley/protocol'
import type { BackedConversation } from '../port/backed-conversation.ts'
import { BackendError } from '../port/backend-error.ts'

/**
 * After a request that used up the budget and called for nothing, the turn is probably over: so long it may say so by
 * itself before it is interrupted.
 */
const LAST_WORD_MS = 250
/** The longest that a timer can be set. */
const TIMER_MS = 2 ** 31 - 1

export interface EngineConversationOptions {
  readonly options: ConversationOptions
  readonly listener: ConversationListener
  readonly prices: ModelPrices | null
  readonly now: () => number
  readonly closed: () => void
}

/** A conversation of the bridge as the engine port has it: with budgets, which Codex knows nothing of. */
export class EngineConversation implements Conversation, ConversationListener {
  readonly #options: ConversationOptions
  readonly #listener: ConversationListener
  readonly #now: () => number
  readonly #closed: () => void
  readonly #spending: Spending
  #backed: BackedConversation | undefined
  /** Why the turn under way may not go on. */
  #spent: Spent | undefined
  /** Whether the request under way called for something. */
  #acted = false
  #lastWord: NodeJS.Timeout | undefined

  constructor({ options, listener, prices, now, closed }: EngineConversationOptions) {
    this.#options = options
    this.#listener = listener
    this.#now = now
    this.#closed = closed
    this.#spending = new Spending({ budget: options.budget, prices })
  }

  /** Its listener comes before it. */
  attach(backed: BackedConversation): void {
    this.#backed = backed
  }

  get id(): string {
    return this.#conversation.id
  }
  get model(): string {
    return this.#conversation.model
  }

  submit(input: TurnInput): Turn {
    checkInput(input.input)
    const outputSchema = input.outputSchema ?? this.#options.outputSchema
    const order = { input: input.input, ...(outputSchema === undefined ? {} : { outputSchema }) }
    const turn = this.#conversation.submit(order)
    this.#spent = undefined
    this.#acted = false
    this.#spending.startTurn(input.budget)
    return { id: turn.id, ended: this.#watched(turn.ended) }
  }

  steer(input: readonly InputPart[]): boolean {
    checkInput(input)
    return this.#spent === undefined && this.#conversation.steer(input)
  }

  interrupt(): Promise<void> {
    return this.#conversation.interrupt()
  }

  async close(): Promise<void> {
    await this.#conversation.close()
    this.#closed()
  }

  event(event: EngineEvent): void {
    const { type } = event
    if (type === 'turn_ended') return this.#listener.event({ ...event, end: this.#endOf(event.end) })
    if (type === 'usage' || type === 'retry') this.#spending.addRequest()
    if (type === 'usage') this.#spending.addUsage(event.last, event.total)
    if (type.endsWith('_begin') || type === 'plan') this.#acted = true
    // Something new after the budget was used up: the turn is not over.
    if (this.#lastWord !== undefined && isNews(event)) this.#stop()
    this.#listener.event(event)
    if (type === 'turn_started') this.#started()
    if (type === 'usage' || type === 'retry') this.#check()
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalReply> {
    return this.#listener.approve(request, signal)
  }

  get #conversation(): BackedConversation {
    if (this.#backed === undefined) throw new BackendError('failed', 'the conversation is not open yet')
    return this.#backed
  }

  #started(): void {
    const spent = this.#spending.spent()
    if (spent !== undefined) {
      this.#spent = spent
      return this.#stop()
    }
    if (!this.#spending.isUnenforced()) return
    this.#listener.event({ type: 'warning', message: `${this.model} has no price: the budget of money is not enforced` })
  }

  async #watched(ended: Promise<TurnEnd>): Promise<TurnEnd> {
    const startedAt = this.#now()
    const { wallMs } = this.#spending
    const timer = wallMs === null ? undefined : setTimeout(() => this.#outOfTime(wallMs), Math.min(wallMs, TIMER_MS))
    const end = await ended
    clearTimeout(timer)
    clearTimeout(this.#lastWord)
    this.#lastWord = undefined
    this.#spending.endTurn(Math.max(0, this.#now() - startedAt))
    return this.#endOf(end)
  }

  #outOfTime(wallMs: number): void {
    this.#spent = { code: 'budget_time', message: `the turn has used its ${wallMs} ms` }
    this.#stop()
  }

  /** After each request: whether there may be another. */
  #check(): void {
    const acted = this.#acted
    this.#acted = false
    this.#spent ??= this.#spending.spent()
    if (this.#spent === undefined) return
    if (acted) return this.#stop()
    this.#lastWord ??= setTimeout(() => this.#stop(), LAST_WORD_MS)
  }

  #stop(): void {
    clearTimeout(this.#lastWord)
    this.#lastWord = undefined
    void this.#conversation.interrupt()
  }

  #endOf(end: TurnEnd): TurnEnd {
    return end.kind === 'interrupted' && this.#spent !== undefined ? { kind: 'failed', ...this.#spent } : end
  }
}

const isNews = (event: EngineEvent): boolean => event.type.endsWith('_begin') || event.type.endsWith('_delta')

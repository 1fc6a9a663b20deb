import {
  type Budget,
  type ModelPrices,
  NO_BUDGET,
  NO_TOKENS,
  type TokenUsage,
  addTokens,
  costOf,
  totalTokens,
} from '@parley/protocol'
import type { TurnFailure } from './event.ts'

/** What a conversation or a turn has used up so far. */
export interface Used {
  readonly requests: number
  readonly usage: TokenUsage
  readonly microusd: number
  readonly wallMs: number
}

export const NOTHING_USED: Used = { requests: 0, usage: NO_TOKENS, microusd: 0, wallMs: 0 }

export interface SpendingOptions {
  /** What an earlier part of the conversation used up. */
  readonly used?: Used
  readonly budget: Budget | undefined
  readonly prices: ModelPrices | null
  readonly requestsPerTurn?: number
}

/** Why a turn may not go on. */
export interface Spent {
  readonly code: Extract<TurnFailure, `budget_${string}`>
  readonly message: string
}

/** Counts what a conversation and its turn use up, and says which bound is reached first. */
export class Spending {
  readonly #prices: ModelPrices | null
  readonly #conversationBudget: Budget
  readonly #requestsPerTurn: number
  #conversation: Used
  #turn: Used = NOTHING_USED
  #turnBudget: Budget = NO_BUDGET

  constructor({ used = NOTHING_USED, budget = NO_BUDGET, prices, requestsPerTurn = Infinity }: SpendingOptions) {
    this.#conversation = used
    this.#conversationBudget = budget
    this.#prices = prices
    this.#requestsPerTurn = requestsPerTurn
  }

  get total(): TokenUsage {
    return this.#conversation.usage
  }
  /** True once: there is a bound on money, and nothing to count it with. */
  isUnenforced(): boolean {
    const isUnpriced = this.#prices === null || costOf(NO_TOKENS, this.#prices) === null
    const isBounded = this.#conversationBudget.microusd !== null || this.#turnBudget.microusd !== null
    if (!isUnpriced || !isBounded || this.#saidUnenforced) return false
    this.#saidUnenforced = true
    return true
  }
  #saidUnenforced = false

  startTurn(budget: Budget | undefined): void {
    this.#turn = NOTHING_USED
    this.#turnBudget = budget ?? NO_BUDGET
  }
  /** How long the turn may take; null where nothing bounds it. */
  get wallMs(): number | null {
    const conversation = this.#conversationBudget.wall_ms
    const turn = this.#turnBudget.wall_ms
    const left = conversation === null ? null : Math.max(0, conversation - this.#conversation.wallMs)
    return turn === null || left === null ? (turn ?? left) : Math.min(turn, left)
  }
  endTurn(wallMs: number): void {
    this.#conversation = { ...this.#conversation, wallMs: this.#conversation.wallMs + wallMs }
  }

  addRequest(): void {
    this.#conversation = { ...this.#conversation, requests: this.#conversation.requests + 1 }
    this.#turn = { ...this.#turn, requests: this.#turn.requests + 1 }
  }
  /**
   * Answers what it cost in micro-USD; null where there is no price. An engine that knows the total of the conversation, also of a
   * part before it was resumed, says so.
   */
  addUsage(usage: TokenUsage, total?: TokenUsage): number | null {
    const microusd = this.#prices === null ? null : costOf(usage, this.#prices)
    const plus = (used: Used): Used => ({
      ...used,
      usage: addTokens(used.usage, usage),
      microusd: used.microusd + (microusd ?? 0),
    })
    const conversation = plus(this.#conversation)
    this.#conversation = total === undefined ? conversation : { ...conversation, usage: total }
    this.#turn = plus(this.#turn)
    return microusd
  }

  /** The first bound that another request would break. */
  spent(): Spent | undefined {
    if (this.#turn.requests >= this.#requestsPerTurn)
      return { code: 'budget_requests', message: `a turn may make ${this.#requestsPerTurn} requests to the model` }
    return over(this.#turn, this.#turnBudget, 'turn') ?? over(this.#conversation, this.#conversationBudget, 'conversation')
  }
}

function over(used: Used, budget: Budget, whose: string): Spent | undefined {
  const { requests, tokens, microusd } = budget
  if (requests !== null && used.requests >= requests)
    return { code: 'budget_requests', message: `the ${whose} has used its ${requests} requests to the model` }
  const total = totalTokens(used.usage)
  if (tokens !== null && total >= tokens)
    return { code: 'budget_tokens', message: `the ${whose} has used ${total} of its ${tokens} tokens` }
  if (microusd !== null && used.microusd >= microusd)
    return { code: 'budget_money', message: `the ${whose} has cost ${used.microusd} of its ${microusd} micro-USD` }
  return undefined
}

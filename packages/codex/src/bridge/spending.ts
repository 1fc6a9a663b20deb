import type { TurnFailure } from '@parley/agent'
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

export interface Spent {
  readonly code: Extract<TurnFailure, `budget_${string}`>
  readonly message: string
}

interface Used {
  readonly requests: number
  readonly usage: TokenUsage
  readonly microusd: number
}

const NOTHING: Used = { requests: 0, usage: NO_TOKENS, microusd: 0 }

/** Counts what a conversation and its turn use up. Codex has no budgets of its own. */
export class Spending {
  readonly #prices: ModelPrices | null
  readonly #conversationBudget: Budget
  #conversation = NOTHING
  #conversationMs = 0
  #turn = NOTHING
  #turnBudget = NO_BUDGET

  constructor(budget: Budget | undefined, prices: ModelPrices | null) {
    this.#conversationBudget = budget ?? NO_BUDGET
    this.#prices = prices
  }

  /** There is a bound on money, and nothing to count it with. */
  get isUnenforced(): boolean {
    const isBounded = this.#conversationBudget.microusd !== null || this.#turnBudget.microusd !== null
    return isBounded && (this.#prices === null || costOf(NO_TOKENS, this.#prices) === null)
  }

  startTurn(budget: Budget | undefined): void {
    this.#turn = NOTHING
    this.#turnBudget = budget ?? NO_BUDGET
  }
  endTurn(wallMs: number): void {
    this.#conversationMs += wallMs
  }

  /** How long the turn may take; null where nothing bounds it. */
  get wallMs(): number | null {
    const { wall_ms: conversation } = this.#conversationBudget
    const { wall_ms: turn } = this.#turnBudget
    const left = conversation === null ? null : Math.max(0, conversation - this.#conversationMs)
    return turn === null || left === null ? (turn ?? left) : Math.min(turn, left)
  }

  /** One request to the model. `total` is that of the conversation, also of the part before it was resumed. */
  add(last: TokenUsage, total: TokenUsage): void {
    const microusd = (this.#prices === null ? null : costOf(last, this.#prices)) ?? 0
    const plus = (used: Used): Used => ({
      requests: used.requests + 1,
      usage: addTokens(used.usage, last),
      microusd: used.microusd + microusd,
    })
    this.#turn = plus(this.#turn)
    this.#conversation = { ...plus(this.#conversation), usage: total }
  }
  /** One that failed and is made again. */
  addRetry(): void {
    this.#turn = { ...this.#turn, requests: this.#turn.requests + 1 }
    this.#conversation = { ...this.#conversation, requests: this.#conversation.requests + 1 }
  }

  /** The first bound that another request would break. */
  spent(): Spent | undefined {
    return over(this.#turn, this.#turnBudget, 'turn') ?? over(this.#conversation, this.#conversationBudget, 'conversation')
  }
}

function over(used: Used, { requests, tokens, microusd }: Budget, whose: string): Spent | undefined {
  if (requests !== null && used.requests >= requests)
    return { code: 'budget_requests', message: `the ${whose} has used its ${requests} requests to the model` }
  const total = totalTokens(used.usage)
  if (tokens !== null && total >= tokens)
    return { code: 'budget_tokens', message: `the ${whose} has used ${total} of its ${tokens} tokens` }
  if (microusd !== null && used.microusd >= microusd)
    return { code: 'budget_money', message: `the ${whose} has cost ${used.microusd} of its ${microusd} micro-USD` }
  return undefined
}

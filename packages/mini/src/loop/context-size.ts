import { type TokenUsage, totalTokens } from '@parley/protocol'

/** How far an estimate may be off before it is not believed to be a matter of the tokeniser. */
const RATIO_LEAST = 0.25
const RATIO_MOST = 4
/** What a conversation must have grown by since the last compaction before another one is worth its request. */
const GROWTH = 1.25

/** How full the context is: measured by the last answer's usage, estimated from there on. */
export class ContextSize {
  /** Tokens of instructions and tools, estimated. */
  #fixed = 0
  /** True tokens for one that was estimated. */
  #ratio = 1
  #measured: { readonly tokens: number; readonly weight: number } | undefined
  /** What the last compaction left. */
  #floor = 0

  setFixed(weight: number): void {
    this.#fixed = weight
  }

  /** After an answer: what it used, and what the items then weigh, its own included. */
  measure(usage: TokenUsage, weight: number): void {
    const tokens = totalTokens(usage)
    if (tokens === 0) return
    this.#measured = { tokens, weight }
    this.#ratio = Math.min(RATIO_MOST, Math.max(RATIO_LEAST, tokens / (weight + this.#fixed)))
  }

  /** After a compaction the measure says nothing any more; what it taught about the tokeniser stays. */
  compacted(weight: number): void {
    this.#measured = undefined
    this.#floor = this.estimate(weight)
  }

  /** Whether so many tokens are reached, and the last compaction was not just before. */
  isFull(weight: number, limit: number): boolean {
    return this.tokens(weight) >= Math.max(limit, this.#floor * GROWTH)
  }

  tokens(weight: number): number {
    const measured = this.#measured
    if (measured !== undefined) return Math.round(measured.tokens + Math.max(0, weight - measured.weight) * this.#ratio)
    return this.estimate(weight)
  }

  /** Of items that were never sent like this. */
  estimate(weight: number): number {
    return Math.round((weight + this.#fixed) * this.#ratio)
  }
}

import * as z from 'zod'
import type { TokenUsage } from './usage.ts'

const MICROUSD_MAX = 1_000_000_000_000
const Price = z.int('must be a whole number').min(0, 'must not be negative').max(MICROUSD_MAX).nullable()

/** Prices in micro-USD per million tokens. Null: there is no price of its own. Input and output make a model priced. */
export const ModelPrices = z.object({
  input_microusd_per_1m_tokens: Price,
  cached_input_microusd_per_1m_tokens: Price,
  output_microusd_per_1m_tokens: Price,
  cached_output_microusd_per_1m_tokens: Price,
  reasoning_microusd_per_1m_tokens: Price,
})
export type ModelPrices = z.infer<typeof ModelPrices>

export const NO_PRICES: ModelPrices = {
  input_microusd_per_1m_tokens: null,
  cached_input_microusd_per_1m_tokens: null,
  output_microusd_per_1m_tokens: null,
  cached_output_microusd_per_1m_tokens: null,
  reasoning_microusd_per_1m_tokens: null,
}

export const isPriced = (prices: ModelPrices): boolean =>
  prices.input_microusd_per_1m_tokens !== null && prices.output_microusd_per_1m_tokens !== null

const MILLION = 1_000_000n

/**
 * What a call costs in micro-USD; null where there is no price, which is not the same as nothing. Each token is charged
 * once: a cached one at the cached price, or at the full one where there is no other.
 */
export function costOf(usage: TokenUsage, prices: ModelPrices): number | null {
  const input = prices.input_microusd_per_1m_tokens
  const output = prices.output_microusd_per_1m_tokens
  if (input === null || output === null) return null
  const reasoning = prices.reasoning_microusd_per_1m_tokens
  const reasoningTokens = reasoning === null ? 0 : Math.min(usage.reasoning_output_tokens, usage.output_tokens)
  const cachedOutput = Math.min(usage.cached_output_tokens, usage.output_tokens - reasoningTokens)
  const cost =
    times(usage.input_tokens - usage.cached_input_tokens, input) +
    times(usage.cached_input_tokens, prices.cached_input_microusd_per_1m_tokens ?? input) +
    times(usage.output_tokens - cachedOutput - reasoningTokens, output) +
    times(cachedOutput, prices.cached_output_microusd_per_1m_tokens ?? output) +
    times(reasoningTokens, reasoning ?? output)
  return Number(cost / MILLION)
}

const times = (tokens: number, price: number): bigint => BigInt(Math.max(0, tokens)) * BigInt(price)

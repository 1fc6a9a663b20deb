import * as z from 'zod'
import { isJsonObject } from '../json.ts'

/** How a model is spoken to: OpenAI's Responses API or its Chat Completions, both streaming. */
export const ModelWire = z.enum(['responses', 'chat'])
export type ModelWire = z.infer<typeof ModelWire>

const Count = z.int('must be a whole number').min(0, 'must not be negative')

/** Tokens of one or more calls of a model. Cached and reasoning tokens are parts of the others, never beside them. */
export const TokenUsage = z.object({
  input_tokens: Count,
  cached_input_tokens: Count,
  output_tokens: Count,
  cached_output_tokens: Count,
  reasoning_output_tokens: Count,
})
export type TokenUsage = z.infer<typeof TokenUsage>

export const NO_TOKENS: TokenUsage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  cached_output_tokens: 0,
  reasoning_output_tokens: 0,
}

export const addTokens = (one: TokenUsage, other: TokenUsage): TokenUsage => ({
  input_tokens: one.input_tokens + other.input_tokens,
  cached_input_tokens: one.cached_input_tokens + other.cached_input_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  cached_output_tokens: one.cached_output_tokens + other.cached_output_tokens,
  reasoning_output_tokens: one.reasoning_output_tokens + other.reasoning_output_tokens,
})

/** What counts against a budget: cached and reasoning tokens are in these two already. */
export const totalTokens = ({ input_tokens, output_tokens }: TokenUsage): number => input_tokens + output_tokens

/** No call of a model comes to more; a provider that says so is not believed. */
const CALL_TOKENS_MAX = 1_000_000_000

/**
 * Reads a provider's `usage` of either wire; a part that claims to be larger than its whole is cut to it. `undefined`: there is
 * none, or none that can be true: taken for nothing, it would be a call without a price.
 */
export function readTokens(usage: unknown, wire: ModelWire): TokenUsage | undefined {
  if (!isJsonObject(usage)) return undefined
  const [input, output, inputDetails, outputDetails] =
    wire === 'responses'
      ? [usage['input_tokens'], usage['output_tokens'], usage['input_tokens_details'], usage['output_tokens_details']]
      : [usage['prompt_tokens'], usage['completion_tokens'], usage['prompt_tokens_details'], usage['completion_tokens_details']]
  const inputTokens = countOf(input)
  const outputTokens = countOf(output)
  if (inputTokens === undefined || inputTokens > CALL_TOKENS_MAX) return undefined
  if (outputTokens === undefined || outputTokens > CALL_TOKENS_MAX) return undefined
  return {
    input_tokens: inputTokens,
    cached_input_tokens: Math.min(inputTokens, partOf(inputDetails, 'cached_tokens')),
    output_tokens: outputTokens,
    cached_output_tokens: Math.min(outputTokens, partOf(outputDetails, 'cached_tokens')),
    reasoning_output_tokens: Math.min(outputTokens, partOf(outputDetails, 'reasoning_tokens')),
  }
}

const partOf = (details: unknown, name: string): number => (isJsonObject(details) ? (countOf(details[name]) ?? 0) : 0)

/** What `Count` takes, checked by hand: every answer of a model comes through here. */
const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

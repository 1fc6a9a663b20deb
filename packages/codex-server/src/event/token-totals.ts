import type { JsonObject, TokenUsage } from '@parley/protocol'

/** Tokens as Codex counts them. */
export function totalOf({ input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens }: TokenUsage): JsonObject {
  return {
    input_tokens,
    cached_input_tokens,
    output_tokens,
    reasoning_output_tokens,
    total_tokens: input_tokens + output_tokens,
  }
}

/** The same with what the newer dialect counts beside. */
export function newerTotalOf(usage: TokenUsage): JsonObject {
  const { input_tokens, cached_input_tokens, ...rest } = totalOf(usage)
  return { input_tokens, cached_input_tokens, cache_write_input_tokens: 0, ...rest }
}

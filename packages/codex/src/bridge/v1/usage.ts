import * as z from 'zod'
import { NO_TOKENS, type TokenUsage, addTokens, totalTokens } from '@parley/protocol'
import type { EventMessage } from '../../port/backed-conversation.ts'

const Tokens = z.object({
  input_tokens: z.number(),
  cached_input_tokens: z.number().default(0),
  output_tokens: z.number(),
  reasoning_output_tokens: z.number().default(0),
})

/** `info` of `token_count`; null before the first answer of the model. */
export const TokenInfo = z.object({ total_token_usage: Tokens, last_token_usage: Tokens })
export type TokenInfo = z.infer<typeof TokenInfo>

const Counted = z.object({ type: z.literal('token_count'), info: TokenInfo })

export interface Counts {
  readonly last: TokenUsage
  readonly total: TokenUsage
}

/** Codex repeats its counts with every limit that it hears of: only what has changed is a request. */
export class UsageReader {
  /** What the conversation had used when it was resumed. */
  readonly #before: TokenUsage
  #codexTotal: TokenUsage = NO_TOKENS
  #offset: TokenUsage | undefined

  constructor(initialMessages: readonly EventMessage[] = []) {
    const counted = initialMessages.map((message) => Counted.safeParse(message)).filter(({ success }) => success)
    const last = counted.at(-1)?.data
    this.#before = last === undefined ? NO_TOKENS : tokensOf(last.info.total_token_usage)
  }

  read(info: TokenInfo): Counts | undefined {
    const total = tokensOf(info.total_token_usage)
    if (totalTokens(total) === totalTokens(this.#codexTotal)) return undefined
    this.#codexTotal = total
    // A resumed Codex may count from nothing again, or from where it was.
    this.#offset ??= totalTokens(total) <= totalTokens(this.#before) ? this.#before : NO_TOKENS
    return { last: tokensOf(info.last_token_usage), total: addTokens(this.#offset, total) }
  }
}

const tokensOf = (tokens: z.infer<typeof Tokens>): TokenUsage => ({ ...tokens, cached_output_tokens: 0 })

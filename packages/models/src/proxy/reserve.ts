import { type ModelPrices, NO_TOKENS, type TokenUsage, type UsageId, costOf, totalTokens } from '@parley/protocol'
import { type FoundModelKey, SPEND_SCOPES, type SpendLimits, type Spender, type Store } from '@parley/store'
import type { ReachableModel } from '../channel/directory.ts'
import { type ReachedBound, boundWords, payable, unpricedWords } from '../quota/bounds.ts'
import type { QuotaBook } from '../quota/quota-book.ts'
import type { Asked } from './asked/asked.ts'
import { holderOf } from './key-holder.ts'
import { ModelRefusal } from './refusal.ts'

/** What a request that sets no bound is taken to write at most: a model writes more in one answer seldom. */
export const OUTPUT_TOKENS = 16_384
/** Below this an answer is not worth asking for. */
const OUTPUT_TOKENS_MIN = 256
/** Each limit may shrink the bound once: those of an agent are tokens and money of four scopes. */
const TRIES_MAX = 9
const MILLION = 1_000_000

export interface Reservation {
  readonly id: UsageId
  /** What the answer was taken to come to at most. */
  readonly outputTokens: number
  /** Past so many tokens the answer is cut, whatever the client asked for: budgets leave no more. `undefined`: there are none. */
  readonly outputTokensMax: number | undefined
}

/** Sets aside the most that a call may come to. Throws `ModelRefusal` that says which bound stands in the way. */
export async function reserveCall(
  { store, quotas }: { readonly store: Store; readonly quotas: QuotaBook },
  found: FoundModelKey,
  call: { readonly id: string; readonly asked: Asked; readonly reachable: ReachableModel; readonly now: number },
): Promise<Reservation> {
  const { asked, reachable } = call
  const { prices } = reachable
  const { key } = found
  const { call: of, bounds } = holderOf(found)
  const limits = payable(await quotas.limitsFor({ ownerId: key.ownerId, bounds }), reachable)
  const unpriced = unpricedWords(limits, reachable)
  if (unpriced !== undefined) throw new ModelRefusal(403, 'model_unpriced', unpriced, { param: 'model' })
  let output = asked.outputTokens ?? OUTPUT_TOKENS
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const tokens = { ...NO_TOKENS, input_tokens: asked.inputTokens, output_tokens: output }
    const answer = await store.usages.reserve(
      {
        ...of,
        callId: call.id,
        channel: key.channel,
        model: key.model,
        threadId: null,
        tokens,
        prices,
        costMicrousd: mostOf(tokens, prices),
        isScript: reachable.script !== null,
      },
      limits,
    )
    if (answer.kind === 'reserved')
      return {
        id: answer.id,
        outputTokens: output,
        outputTokensMax: bounded(output + (await tokensBeyond(store, { spender: of, prices, limits }))),
      }
    if (answer.kind === 'doubled') throw new ModelRefusal(409, 'conflict', 'this call was made already')
    const fits = asked.outputTokens === undefined ? fitting(answer, asked.inputTokens, prices) : 0
    if (fits < OUTPUT_TOKENS_MIN || fits >= output) throw refusalOf(answer, tokens, quotas.resetsAt(), call.now)
    output = fits
  }
  throw new ModelRefusal(429, 'rate_limited', 'the budget is being used by other calls right now', { retryAfterSeconds: 1 })
}

const bounded = (tokens: number): number | undefined => (tokens === Infinity ? undefined : tokens)

/**
 * What budgets leave beyond all that is set aside: an upstream may write more than it was asked for, and more than a request
 * without a bound was taken to write. Calls at once may share it, so the most that they pass a budget by is three times that.
 */
async function tokensBeyond(
  { usages }: Pick<Store, 'usages'>,
  { spender, prices, limits }: { readonly spender: Spender; readonly prices: ModelPrices; readonly limits: SpendLimits },
): Promise<number> {
  const left = (most: number | null, used: number): number => (most === null ? Infinity : Math.max(0, most - used))
  let least = Infinity
  for (const scope of SPEND_SCOPES) {
    const { tokens, microusd } = limits[scope] ?? UNBOUNDED
    if (tokens === null && microusd === null) continue
    const used = await usages.spentIn(scope, spender, limits.since)
    least = Math.min(least, left(tokens, used.tokens), tokensFor(left(microusd, used.microusd), prices))
  }
  return least
}
const UNBOUNDED = { tokens: null, microusd: null }

/** Tokens of output that so much money buys. */
function tokensFor(microusd: number, prices: ModelPrices): number {
  const price = Math.max(prices.output_microusd_per_1m_tokens ?? 0, prices.reasoning_microusd_per_1m_tokens ?? 0)
  return price === 0 || mostOf(NO_TOKENS, prices) === null ? Infinity : Math.floor((microusd * MILLION) / price)
}

/** The dearest that so many tokens can be: reasoning may have a price of its own. */
function mostOf(tokens: TokenUsage, prices: ModelPrices): number | null {
  const plain = costOf(tokens, prices)
  const reasoned = costOf({ ...tokens, reasoning_output_tokens: tokens.output_tokens }, prices)
  return plain === null || reasoned === null ? null : Math.max(plain, reasoned)
}

/** How many tokens of output the limit in the way leaves. */
function fitting({ unit, used, most }: ReachedBound, inputTokens: number, prices: ModelPrices): number {
  const left = most - used
  if (unit === 'tokens') return left - inputTokens
  const input = mostOf({ ...NO_TOKENS, input_tokens: inputTokens }, prices) ?? 0
  const output = tokensFor(left - input, prices)
  return output === Infinity ? 0 : output
}

function refusalOf(refused: ReachedBound, tokens: TokenUsage, resetsAt: number, now: number): ModelRefusal {
  const { code, message, resets } = boundWords(refused, resetsAt)
  const retryAfterSeconds = Math.max(1, Math.ceil((resetsAt - now) / 1_000))
  return new ModelRefusal(
    429,
    code,
    `too little is left for this call of up to ${totalTokens(tokens)} tokens: ${message}`,
    resets ? { retryAfterSeconds } : {},
  )
}

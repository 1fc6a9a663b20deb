import { type ModelPrices, NO_TOKENS, type TokenUsage, type UsageId, costOf, isPriced, iso, totalTokens } from '@parley/protocol'
import type { SpendLimits, SpentTotal, Store } from '@parley/store'
import type { ReachableModel } from '../channel/directory.ts'
import type { QuotaBook } from '../quota/quota-book.ts'
import type { Asked } from './asked/asked.ts'
import type { FoundKey } from './model-key.ts'
import { ModelRefusal } from './refusal.ts'

/** What a request that sets no bound is taken to write at most: a model writes more in one answer seldom. */
export const OUTPUT_TOKENS = 16_384
/** Below this an answer is not worth asking for. */
const OUTPUT_TOKENS_MIN = 256
/** Each limit may shrink the bound once. */
const TRIES_MAX = 5
const MILLION = 1_000_000

type Refused = Extract<Awaited<ReturnType<Store['usages']['reserve']>>, { readonly kind: 'refused' }>

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
  { key, job }: FoundKey,
  call: { readonly id: string; readonly asked: Asked; readonly reachable: ReachableModel; readonly now: number },
): Promise<Reservation> {
  const { asked, reachable } = call
  const { prices } = reachable
  const limits = payable(await quotas.limitsFor(job), reachable)
  const unpriced = unpricedWords(limits, reachable)
  if (unpriced !== undefined) throw new ModelRefusal(403, 'model_unpriced', unpriced, { param: 'model' })
  let output = asked.outputTokens ?? OUTPUT_TOKENS
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const tokens = { ...NO_TOKENS, input_tokens: asked.inputTokens, output_tokens: output }
    const answer = await store.usages.reserve(
      {
        jobId: key.jobId,
        ownerId: key.ownerId,
        claimId: key.claimId,
        claim: key.claim,
        attempt: key.attempt,
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
        outputTokensMax: bounded(output + (await tokensBeyond(store, { key, prices, limits }))),
      }
    if (answer.kind === 'doubled') throw new ModelRefusal(409, 'conflict', 'this call was made already')
    const fits = asked.outputTokens === undefined ? fitting(answer, asked.inputTokens, prices) : 0
    if (fits < OUTPUT_TOKENS_MIN || fits >= output) throw refusalOf(answer, tokens, quotas.resetsAt(), call.now)
    output = fits
  }
  throw new ModelRefusal(429, 'rate_limited', 'the budget is being used by other calls right now', { retryAfterSeconds: 1 })
}

/** Bounds on money are no affair of a script. */
export const payable = (limits: SpendLimits, { script }: Pick<ReachableModel, 'script'>): SpendLimits =>
  script === null ? limits : { ...limits, ownerMicrousd: null, jobMicrousd: null }

/** Why a model that has no price is not served where money is bounded: it would pass every bound. */
export function unpricedWords(limits: SpendLimits, { channel, model, prices }: ReachableModel): string | undefined {
  const bound = (['jobMicrousd', 'ownerMicrousd'] as const).find((limit) => limits[limit] !== null)
  if (bound === undefined || isPriced(prices)) return undefined
  const { name } = BOUNDS[bound]
  return `${model} of channel ${channel.name} has no price, and ${name} bounds what it may cost: an admin sets one by pricing.set`
}

const bounded = (tokens: number): number | undefined => (tokens === Infinity ? undefined : tokens)

/**
 * What budgets leave beyond all that is set aside: an upstream may write more than it was asked for, and more than a request
 * without a bound was taken to write. Calls at once may share it, so the most that they pass a budget by is three times that.
 */
async function tokensBeyond(
  { usages }: Pick<Store, 'usages'>,
  { key, prices, limits }: { readonly key: FoundKey['key']; readonly prices: ModelPrices; readonly limits: SpendLimits },
): Promise<number> {
  const { since, ownerTokens, ownerMicrousd, jobTokens, jobMicrousd } = limits
  const left = (most: number | null, used: number): number => (most === null ? Infinity : Math.max(0, most - used))
  const leftBy = async (tokens: number | null, microusd: number | null, spent: () => Promise<SpentTotal>): Promise<number> => {
    if (tokens === null && microusd === null) return Infinity
    const used = await spent()
    return Math.min(left(tokens, used.tokens), tokensFor(left(microusd, used.microusd), prices))
  }
  return Math.min(
    await leftBy(ownerTokens, ownerMicrousd, () => usages.spent(key.ownerId, since)),
    await leftBy(jobTokens, jobMicrousd, () => usages.spentOnJob(key.jobId)),
  )
}

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
function fitting({ limit, used, most }: Refused, inputTokens: number, prices: ModelPrices): number {
  const left = most - used
  if (limit === 'ownerTokens' || limit === 'jobTokens') return left - inputTokens
  const input = mostOf({ ...NO_TOKENS, input_tokens: inputTokens }, prices) ?? 0
  const output = tokensFor(left - input, prices)
  return output === Infinity ? 0 : output
}

const BOUNDS = {
  ownerTokens: { code: 'quota_exceeded', name: 'tokens_per_day', unit: 'tokens of the owner’s day' },
  ownerMicrousd: { code: 'quota_exceeded', name: 'microusd_per_day', unit: 'micro-USD of the owner’s day' },
  jobTokens: { code: 'budget_exceeded', name: 'budget.tokens', unit: 'tokens of the job' },
  jobMicrousd: { code: 'budget_exceeded', name: 'budget.microusd', unit: 'micro-USD of the job' },
} as const satisfies Record<Exclude<keyof SpendLimits, 'since'>, object>

/** The words for a limit that is used up, and whether waiting helps. */
export function boundWords(
  { limit, used, most }: Pick<Refused, 'limit' | 'used' | 'most'>,
  resetsAt: number,
): { readonly code: 'quota_exceeded' | 'budget_exceeded'; readonly message: string; readonly resets: boolean } {
  const { code, name, unit } = BOUNDS[limit]
  const resets = code === 'quota_exceeded'
  const end = resets ? `; resets_at ${iso(resetsAt)}` : ''
  return { code, message: `${name}: ${used} of ${most} ${unit} are used or set aside${end}`, resets }
}

function refusalOf(refused: Refused, tokens: TokenUsage, resetsAt: number, now: number): ModelRefusal {
  const { code, message, resets } = boundWords(refused, resetsAt)
  const retryAfterSeconds = Math.max(1, Math.ceil((resetsAt - now) / 1_000))
  return new ModelRefusal(
    429,
    code,
    `too little is left for this call of up to ${totalTokens(tokens)} tokens: ${message}`,
    resets ? { retryAfterSeconds } : {},
  )
}

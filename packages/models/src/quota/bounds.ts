import { type AgentBudgets, type JobBudget, isPriced, iso } from '@parley/protocol'
import { type OwnBounds, SPEND_SCOPES, type SpendBound, type SpendLimits, type SpendScope } from '@parley/store'
import type { ReachableModel } from '../channel/directory.ts'

/** What its budget leaves a job. */
export const jobBounds = ({ tokens, microusd }: JobBudget): OwnBounds => ({ job: { tokens, microusd } })

/** What its budgets leave an agent. */
export const agentBounds = ({ turn, day, all }: AgentBudgets): OwnBounds => ({
  turn: { tokens: turn.tokens, microusd: turn.microusd },
  day,
  all,
})

/** Bounds on money are no affair of a script. */
export function payable(limits: SpendLimits, { script }: Pick<ReachableModel, 'script'>): SpendLimits {
  if (script === null) return limits
  const bounds = SPEND_SCOPES.flatMap((scope) => {
    const bound = limits[scope]
    return bound === undefined ? [] : [[scope, { ...bound, microusd: null }] as const]
  })
  return { since: limits.since, ...Object.fromEntries(bounds) }
}

/** Why a model that has no price is not served where money is bounded: it would pass every bound. */
export function unpricedWords(limits: SpendLimits, { channel, model, prices }: ReachableModel): string | undefined {
  const scope = OWN_FIRST.find((each) => (limits[each]?.microusd ?? null) !== null)
  if (scope === undefined || isPriced(prices)) return undefined
  const name = SCOPES[scope].name('microusd')
  return `${model} of channel ${channel.name} has no price, and ${name} bounds what it may cost: an admin sets one by pricing.set`
}
/** What somebody set for this job or agent is nearer to them than what holds for all of theirs. */
const OWN_FIRST: readonly SpendScope[] = ['job', 'turn', 'day', 'all', 'owner']

/** A bound that is in the way. */
export interface ReachedBound {
  readonly scope: SpendScope
  readonly unit: keyof SpendBound
  readonly used: number
  readonly most: number
}

interface ScopeWords {
  readonly code: 'quota_exceeded' | 'budget_exceeded'
  readonly name: (unit: keyof SpendBound) => string
  readonly of: string
  /** It starts anew at midnight. */
  readonly resets: boolean
}

const SCOPES: Readonly<Record<SpendScope, ScopeWords>> = {
  owner: { code: 'quota_exceeded', name: (unit) => `${unit}_per_day`, of: 'the owner’s day', resets: true },
  job: { code: 'budget_exceeded', name: (unit) => `budget.${unit}`, of: 'the job', resets: false },
  all: { code: 'budget_exceeded', name: (unit) => `budgets.all.${unit}`, of: 'all that the agent may use', resets: false },
  day: { code: 'budget_exceeded', name: (unit) => `budgets.day.${unit}`, of: 'the agent’s day', resets: true },
  turn: { code: 'budget_exceeded', name: (unit) => `budgets.turn.${unit}`, of: 'the turn', resets: false },
}
const UNITS = { tokens: 'tokens', microusd: 'micro-USD' } as const

/** The words for a bound that is used up, and whether waiting helps. */
export function boundWords(
  { scope, unit, used, most }: ReachedBound,
  resetsAt: number,
): Pick<ScopeWords, 'code' | 'resets'> & { readonly message: string } {
  const { code, name, of, resets } = SCOPES[scope]
  const end = resets ? `; resets_at ${iso(resetsAt)}` : ''
  return { code, message: `${name(unit)}: ${used} of ${most} ${UNITS[unit]} of ${of} are used or set aside${end}`, resets }
}

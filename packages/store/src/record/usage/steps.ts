import { JobId, totalTokens } from '@parley/protocol'
import { type Queries, type Row, type Transaction, Conflict, integer, textOrNull } from '@parley/database'
import { checkInteger } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { announceJob } from '../job/steps.ts'
import { costValue, tokenValues } from './row.ts'
import { BOOK, FOLD, LOCK_AGENT, LOCK_FOLD, LOCK_JOB, LOCK_OWNER, spentQuery } from './statements.ts'
import {
  SPEND_SCOPES,
  type SpendBound,
  type SpendLimits,
  type SpendScope,
  type Spender,
  type UsageRecord,
  type Usages,
} from './usage.ts'

/** Calls of models that one job, or one turn of an agent, may make. */
export const MAX_CALLS = 10_000

type Call = Spender & Pick<UsageRecord, 'tokens' | 'costMicrousd'>
type Refused = Extract<Awaited<ReturnType<Usages['reserve']>>, { readonly kind: 'refused' }>
interface Sums {
  readonly tokens: number
  readonly microusd: number
  readonly calls: number
}

/** In these the calls are bounded in number, whatever else is, and so they are named where that is said. */
const COUNTED: Readonly<Partial<Record<SpendScope, (spender: Spender) => string>>> = {
  job: ({ jobId }) => `job ${jobId}`,
  turn: ({ agentId, prompt }) => `turn ${prompt} of agent ${agentId}`,
}
const UNITS = ['tokens', 'microusd'] as const
const isBounded = (bound: SpendBound | undefined): bound is SpendBound =>
  bound !== undefined && (bound.tokens !== null || bound.microusd !== null)

export function checkLimits({ since, ...bounds }: SpendLimits): void {
  checkInteger('limits.since', since, 0)
  for (const scope of SPEND_SCOPES) {
    for (const unit of UNITS) {
      const most = bounds[scope]?.[unit] ?? null
      if (most !== null) checkInteger(`limits.${scope}.${unit}`, most, 0)
    }
  }
}

/** Those who reserve against the same bounds go one after the other until the commit. */
export async function lockBounds(tx: Transaction, call: Call, limits: SpendLimits): Promise<void> {
  if (isBounded(limits.owner)) await tx.get(LOCK_OWNER, [call.ownerId ?? '-'])
  await lockCalls(tx, call)
}

/** The calls of a job or a turn are bounded in number, whatever else is. */
export async function lockCalls(tx: Transaction, { jobId, agentId }: Spender): Promise<void> {
  if (jobId !== null) await tx.get(LOCK_JOB, [jobId])
  if (agentId !== null) await tx.get(LOCK_AGENT, [agentId])
}

/** The first bound that a call would pass, with what is booked and reserved already. */
export async function passedLimit(tx: Transaction, call: Call, limits: SpendLimits): Promise<Refused | undefined> {
  const asked = { tokens: totalTokens(call.tokens), microusd: call.costMicrousd ?? 0 }
  for (const scope of SPEND_SCOPES) {
    const bound = limits[scope]
    if (!isBounded(bound) && COUNTED[scope] === undefined) continue
    const spent = await spentIn(tx, scope, call, limits.since)
    if (spent === undefined) continue
    checkCalls(scope, call, spent.calls)
    for (const unit of UNITS) {
      const most = bound?.[unit] ?? null
      if (most !== null && spent[unit] + asked[unit] > most) return { kind: 'refused', scope, unit, used: spent[unit], most }
    }
  }
  return undefined
}

export function checkCalls(scope: SpendScope, spender: Spender, calls: number): void {
  const whose = COUNTED[scope]?.(spender)
  if (whose !== undefined && calls >= MAX_CALLS) throw new Conflict(`${whose} has made ${MAX_CALLS} calls of models already`)
}

/** What is booked and reserved; `undefined` where the spender has no part in that scope. */
export async function spentIn(queries: Queries, scope: SpendScope, spender: Spender, since: number): Promise<Sums | undefined> {
  const query = spentQuery(scope, spender, since)
  return query && toSums(await queries.get(...query))
}

/** Brings the sums of agents up to a moment. The sums are locked before anything is read, so that no call is added twice. */
export async function foldSpending(tx: Transaction, before: number): Promise<void> {
  await tx.get(LOCK_FOLD, [])
  await tx.run(FOLD, [before])
}

/** Settles a reservation, once. */
export async function bookReserved(tx: Transaction, id: string, usage: Parameters<Usages['book']>[1]): Promise<boolean> {
  const { tokens, costMicrousd, estimated } = usage
  const row = await tx.get(BOOK, [id, ...tokenValues(tokens), costValue(costMicrousd), estimated ? 1 : 0])
  if (row === undefined) return false
  const jobId = textOrNull(row, 'job_id')
  tx.signal(usageSignal(textOrNull(row, 'owner_id')))
  if (jobId !== null) announceJob(tx, { id: JobId.parse(jobId) })
  return true
}

/** Tells those who look at what somebody's calls came to. */
export const usageSignal = (ownerId: string | null): string => topicSignal(`usage/${ownerId ?? '-'}`)

function toSums(row: Row | undefined): Sums {
  if (row === undefined) return { tokens: 0, microusd: 0, calls: 0 }
  return { tokens: integer(row, 'tokens'), microusd: integer(row, 'microusd'), calls: integer(row, 'calls') }
}

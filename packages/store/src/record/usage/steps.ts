import { JobId, type UserId, totalTokens } from '@parley/protocol'
import { integer, textOrNull } from '../../database/column.ts'
import type { Queries, Row, Transaction } from '../../database/database.ts'
import { Conflict } from '../../errors.ts'
import { checkInteger } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { announceJob } from '../job/steps.ts'
import { costValue, tokenValues } from './row.ts'
import { BOOK, LOCK_JOB, LOCK_OWNER, SPENT_ON_JOB, spentSql } from './statements.ts'
import type { SpendLimits, UsageRecord, Usages } from './usage.ts'

/** Calls of models that one job may make. */
export const MAX_JOB_CALLS = 10_000

type Call = Pick<UsageRecord, 'jobId' | 'ownerId' | 'tokens' | 'costMicrousd'>
type Refused = Extract<Awaited<ReturnType<Usages['reserve']>>, { readonly kind: 'refused' }>
interface Sums {
  readonly tokens: number
  readonly microusd: number
  readonly calls: number
}

export function checkLimits({ since, ownerTokens, ownerMicrousd, jobTokens, jobMicrousd }: SpendLimits): void {
  for (const [field, value] of Object.entries({ since, ownerTokens, ownerMicrousd, jobTokens, jobMicrousd })) {
    if (value !== null) checkInteger(`limits.${field}`, value, 0)
  }
}

/** Those who reserve against the same bounds go one after the other until the commit. */
export async function lockBounds(tx: Transaction, { jobId, ownerId }: Call, limits: SpendLimits): Promise<void> {
  if (limits.ownerTokens !== null || limits.ownerMicrousd !== null) await tx.get(LOCK_OWNER, [ownerId ?? '-'])
  await lockCalls(tx, jobId)
}

/** A job's calls are bounded in number, whatever else is. */
export async function lockCalls(tx: Transaction, jobId: JobId | null): Promise<void> {
  if (jobId !== null) await tx.get(LOCK_JOB, [jobId])
}

/** The first bound that a call would pass, with what is booked and reserved already. */
export async function passedLimit(tx: Transaction, call: Call, limits: SpendLimits): Promise<Refused | undefined> {
  const { ownerTokens, ownerMicrousd, jobTokens, jobMicrousd, since } = limits
  const tokens = totalTokens(call.tokens)
  const cost = call.costMicrousd ?? 0
  const passed = (limit: Refused['limit'], used: number, asked: number, most: number | null): Refused | undefined =>
    most !== null && used + asked > most ? { kind: 'refused', limit, used, most } : undefined
  if (ownerTokens !== null || ownerMicrousd !== null) {
    const owner = await spentBy(tx, call.ownerId, since)
    const refused =
      passed('ownerTokens', owner.tokens, tokens, ownerTokens) ?? passed('ownerMicrousd', owner.microusd, cost, ownerMicrousd)
    if (refused !== undefined) return refused
  }
  if (call.jobId === null) return undefined
  const job = await spentOn(tx, call.jobId)
  checkCalls(call.jobId, job.calls)
  return passed('jobTokens', job.tokens, tokens, jobTokens) ?? passed('jobMicrousd', job.microusd, cost, jobMicrousd)
}

export function checkCalls(jobId: JobId, calls: number): void {
  if (calls >= MAX_JOB_CALLS) throw new Conflict(`job ${jobId} has made ${MAX_JOB_CALLS} calls of models already`)
}

export async function spentBy(queries: Queries, ownerId: UserId | null, since: number): Promise<Sums> {
  return toSums(await queries.get(spentSql(ownerId), ownerId === null ? [since] : [since, ownerId]))
}

export async function spentOn(queries: Queries, jobId: JobId): Promise<Sums> {
  return toSums(await queries.get(SPENT_ON_JOB, [jobId]))
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

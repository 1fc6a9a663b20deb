import { type JobId, UsageId, type UsageTotal, type UserId, costOf, makeId } from '@parley/protocol'
import { type Database, type Row, type Transaction, textOrNull } from '@parley/database'
import { MAX_LIST, checkInteger } from '../../limits.ts'
import { announceJob } from '../job/steps.ts'
import { toTotal, toUsage, usageValues } from './row.ts'
import * as sql from './statements.ts'
import {
  MAX_CALLS,
  bookReserved,
  checkCalls,
  checkLimits,
  foldSpending,
  lockBounds,
  lockCalls,
  passedLimit,
  spentIn,
  usageSignal,
} from './steps.ts'
import type { SpendScope, Spender, SpentTotal, UsageRecord, Usages } from './usage.ts'

/** Reservations that are settled in one transaction. */
const STALE_PER_STEP = 100

/** Calls of models as rows; each is counted once, whoever tells about it how often. */
export class SqlUsages implements Usages {
  readonly #db: Database
  readonly #now: () => number
  readonly #random: (size: number) => Uint8Array

  constructor(db: Database, now: () => number, random: (size: number) => Uint8Array) {
    this.#db = db
    this.#now = now
    this.#random = random
  }

  async reserve(call: Parameters<Usages['reserve']>[0], limits: Parameters<Usages['reserve']>[1]): ReturnType<Usages['reserve']> {
    checkLimits(limits)
    const id = this.#newId()
    const source = call.isScript === true ? 'script' : 'proxy'
    const values = usageValues({ ...call, status: 'reserved', source, estimated: false }, id, this.#now())
    return this.#db.transaction(async (tx) => {
      await lockBounds(tx, call, limits)
      if ((await tx.get(sql.BY_CALL, [call.claimId, call.attempt, call.callId])) !== undefined) return { kind: 'doubled' }
      const refused = await passedLimit(tx, call, limits)
      if (refused !== undefined) return refused
      return (await tx.run(sql.ADD, values)) === 0 ? { kind: 'doubled' } : { kind: 'reserved', id }
    })
  }

  async book(id: UsageId, usage: Parameters<Usages['book']>[1]): Promise<boolean> {
    return this.#db.transaction((tx) => bookReserved(tx, id, usage))
  }

  async drop(id: UsageId): Promise<void> {
    await this.#db.run(sql.DROP, [id])
  }

  async add(call: Parameters<Usages['add']>[0]): Promise<boolean> {
    const { jobId, ownerId } = call
    const values = usageValues({ ...call, status: 'booked', source: 'judge' }, this.#newId(), this.#now())
    return this.#db.transaction(async (tx) => {
      await lockCalls(tx, call)
      if ((await tx.run(sql.ADD, values)) === 0) return false
      tx.signal(usageSignal(ownerId))
      if (jobId === null) return true
      checkCalls('job', call, ((await spentIn(tx, 'job', call, 0))?.calls ?? 0) - 1)
      announceJob(tx, { id: jobId })
      return true
    })
  }

  async byCall(claimId: string, attempt: number, callId: string): Promise<UsageRecord | undefined> {
    return toUsage(await this.#db.get(sql.BY_CALL, [claimId, attempt, callId]))
  }

  async ofJob(id: JobId): Promise<readonly UsageRecord[]> {
    return toUsages(await this.#db.all(sql.OF_JOB, [id, MAX_CALLS]))
  }

  async totalOf(id: JobId): Promise<UsageTotal> {
    return totalIn(await this.#db.get(sql.TOTAL_OF_JOB, [id]))
  }

  async spentIn(scope: SpendScope, spender: Spender, since: number): ReturnType<Usages['spentIn']> {
    checkTimes({ since })
    return (await spentIn(this.#db, scope, spender, since)) ?? { tokens: 0, microusd: 0, calls: 0 }
  }

  async spent(ownerId: UserId | null, since: number): Promise<SpentTotal> {
    const { tokens, microusd } = await this.spentIn('owner', { ...NOBODY, ownerId }, since)
    return { tokens, microusd }
  }

  async spentOnJob(jobId: JobId): Promise<SpentTotal> {
    const { tokens, microusd } = await this.spentIn('job', { ...NOBODY, jobId }, 0)
    return { tokens, microusd }
  }

  async list(page: Parameters<Usages['list']>[0]): Promise<readonly UsageRecord[]> {
    const { from = 0, to = Number.MAX_SAFE_INTEGER, beforeId, limit } = page
    checkInteger('limit', limit, 1, MAX_LIST)
    checkTimes({ from, to })
    const rows =
      beforeId === undefined
        ? this.#db.all(sql.listSql(page), [from, to, limit, ...sql.selectionValues(page)])
        : this.#db.all(sql.listBeforeSql(page), [from, to, limit, beforeId, ...sql.selectionValues(page)])
    return toUsages(await rows)
  }

  async summary(query: Parameters<Usages['summary']>[0]): ReturnType<Usages['summary']> {
    const { from = 0, to = Number.MAX_SAFE_INTEGER, groupBy, limit } = query
    checkInteger('limit', limit, 1, MAX_LIST)
    checkTimes({ from, to })
    const values = [from, to, limit, ...sql.selectionValues(query)]
    const [total, ...groups] = await this.#db.all(sql.summarySql(query, groupBy), values)
    return { total: totalIn(total), groups: groups.map((row) => ({ ...toTotal(row), key: textOrNull(row, 'key') })) }
  }

  async settleStale(before: number): Promise<number> {
    checkTimes({ before })
    return this.#settleAll(() => this.#db.all(sql.STALE, [before, STALE_PER_STEP]))
  }

  async settleJob(id: JobId): Promise<number> {
    return this.#settleAll(() => this.#db.all(sql.RESERVED_FOR, [id, STALE_PER_STEP]))
  }

  async fold(before: number): Promise<void> {
    checkTimes({ before })
    await this.#db.transaction((tx) => this.#fold(tx, before))
  }

  async prune(before: number): Promise<number> {
    checkTimes({ before })
    return this.#db.transaction(async (tx) => {
      await this.#fold(tx, before)
      return tx.run(sql.PRUNE, [before])
    })
  }

  /** Never beyond the present: what is called later would be in no sum. */
  async #fold(tx: Transaction, before: number): Promise<void> {
    await foldSpending(tx, Math.min(before, this.#now()))
  }

  async #settleAll(next: () => Promise<readonly Row[]>): Promise<number> {
    let settled = 0
    for (;;) {
      const reserved = toUsages(await next())
      if (reserved.length === 0) return settled
      settled += await this.#settle(reserved)
    }
  }

  /** The input was sent and is charged. How much output would have come is unknown, so none is. */
  async #settle(stale: readonly UsageRecord[]): Promise<number> {
    return this.#db.transaction(async (tx) => {
      let settled = 0
      for (const { id, tokens, prices, costMicrousd: most } of stale) {
        const sent = { ...tokens, output_tokens: 0, cached_output_tokens: 0, reasoning_output_tokens: 0 }
        const cost = prices === null || most === null ? null : costOf(sent, prices)
        const costMicrousd = cost === null || most === null ? null : Math.min(cost, most)
        if (await bookReserved(tx, id, { tokens: sent, costMicrousd, estimated: true })) settled += 1
      }
      return settled
    })
  }

  #newId(): UsageId {
    return makeId(UsageId, 'usg', this.#random)
  }
}

const NOBODY: Spender = { ownerId: null, jobId: null, agentId: null, prompt: null }

/** Any whole number is a time, also one before 1970. */
function checkTimes(times: Readonly<Record<string, number>>): void {
  for (const [field, value] of Object.entries(times)) checkInteger(field, value, Number.MIN_SAFE_INTEGER)
}

const toUsages = (rows: readonly Row[]): readonly UsageRecord[] => rows.flatMap((row) => toUsage(row) ?? [])

function totalIn(row: Row | undefined): UsageTotal {
  if (row === undefined) throw new TypeError('a sum was answered with no row')
  return toTotal(row)
}

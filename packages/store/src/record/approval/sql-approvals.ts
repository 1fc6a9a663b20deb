import { AgentId, ApprovalId, ApprovalStatus, makeId } from '@parley/protocol'
import { integer, text } from '../../database/column.ts'
import type { Database, Row, Sql, Transaction } from '../../database/database.ts'
import { LeaseLost, ShareExceeded } from '../../errors.ts'
import type { LeaseFence } from '../../lease/fence.ts'
import { MAX_LIST, checkInteger, checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { lockUser } from '../access/enabled.ts'
import { ownerOf } from '../agent/row.ts'
import { OWNER_OF } from '../agent/statements.ts'
import { announceAgent, lockHeld } from '../agent/steps.ts'
import { type ApprovalRecord, type ApprovalRecords, type Decided, approvalTopic, approvalsTopic } from './approval.ts'
import { approvalValues, checkReason, toApproval } from './row.ts'
import * as sql from './statements.ts'

/** ApprovalRecords as rows. Whoever asks locks the owner, then the agent and its lease, so that nobody passes a bound together. */
export class SqlApprovals implements ApprovalRecords {
  readonly #db: Database
  readonly #now: () => number
  readonly #random: (size: number) => Uint8Array

  constructor(db: Database, now: () => number, random: (size: number) => Uint8Array) {
    this.#db = db
    this.#now = now
    this.#random = random
  }

  async ask(
    fence: LeaseFence,
    asked: Parameters<ApprovalRecords['ask']>[1],
    bounds: Parameters<ApprovalRecords['ask']>[2],
  ): ReturnType<ApprovalRecords['ask']> {
    const values = approvalValues(asked)
    checkInteger('ttlMs', bounds.ttlMs, 1)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const agentId = agentIn(fence)
      const owner = await tx.get(OWNER_OF, [agentId])
      if (owner === undefined) throw new LeaseLost(fence)
      const ownerId = ownerOf(owner)
      await lockUser(tx, ownerId)
      await lockHeld(tx, fence, now)
      const adopted = await tx.get(sql.ADOPT, [agentId, asked.digest, fence.fence, now])
      if (adopted !== undefined) return { approval: told(tx, adopted), isAdopted: true }
      await checkOpen(tx, sql.COUNT_OF_AGENT, agentId, bounds.maxPerAgent)
      await checkOpen(tx, sql.COUNT_OF_OWNER, ownerId, bounds.maxPerPerson)
      const id = makeId(ApprovalId, 'apr', this.#random)
      const row = await tx.get(sql.ADD, [id, agentId, ownerId, ...values, fence.fence, now, now + bounds.ttlMs])
      if (row === undefined) throw new TypeError('an approval vanished inside a transaction')
      return { approval: told(tx, row), isAdopted: false }
    })
  }

  async byId(id: ApprovalId): Promise<ApprovalRecord | undefined> {
    const row = await this.#db.get(sql.BY_ID, [id])
    return row && toApproval(row)
  }

  async list(page: Parameters<ApprovalRecords['list']>[0]): Promise<readonly ApprovalRecord[]> {
    const { ownerId = null, agentId = null, statuses = ApprovalStatus.options, limit } = page
    const { beforeCreatedAt = Number.MAX_SAFE_INTEGER, beforeId = '' } = page
    checkInteger('limit', limit, 1, MAX_LIST)
    if (statuses.length === 0) return []
    return (await this.#db.all(sql.listSql(statuses), [beforeCreatedAt, beforeId, limit, ownerId, agentId])).map(toApproval)
  }

  async decide(id: ApprovalId, said: Parameters<ApprovalRecords['decide']>[1]): Promise<Decided | undefined> {
    const { decision, by, reason } = said
    checkName('by', by)
    checkReason(reason)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const row = await tx.get(decision === 'approve' ? sql.APPROVE : sql.DENY, [id, decision, by, reason, now])
      if (row !== undefined) return { kind: 'decided', approval: told(tx, row) }
      const expired = await tx.get(sql.EXPIRE, [id, now])
      const found = expired ?? (await tx.get(sql.BY_ID, [id]))
      if (found === undefined) return undefined
      const approval = expired === undefined ? toApproval(found) : told(tx, found)
      return { kind: approval.decided?.decision === decision ? 'repeated' : 'late', approval }
    })
  }

  dispatch(fence: LeaseFence, id: ApprovalId): Promise<boolean> {
    return this.#step(fence, (tx, agentId, now) => tx.get(sql.DISPATCH, [id, fence.fence, now, agentId]))
  }

  async settle(fence: LeaseFence, id: ApprovalId, end: 'returned' | 'failed'): Promise<boolean> {
    if (await this.#step(fence, (tx, agentId, now) => tx.get(sql.SETTLE, [id, agentId, end, now]))) return true
    return (await this.byId(id))?.status === end
  }

  withdraw(fence: LeaseFence, id: ApprovalId): Promise<boolean> {
    return this.#step(fence, (tx, agentId, now) => tx.get(sql.WITHDRAW, [id, agentId, now]))
  }

  async leave(fence: LeaseFence, id: ApprovalId): Promise<void> {
    await this.#step(fence, (tx, agentId, now) => tx.get(sql.LEAVE, [id, agentId, now]))
  }

  async takeOver(fence: LeaseFence): Promise<readonly ApprovalRecord[]> {
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      await lockHeld(tx, fence, now)
      const values = [agentIn(fence), fence.fence, now]
      for (const row of await tx.all(sql.ORPHAN, values)) told(tx, row)
      return (await tx.all(sql.LOSE, values)).map((row) => told(tx, row))
    })
  }

  async resolve(id: ApprovalId, end: 'returned' | 'failed', by: string): Promise<boolean> {
    checkName('by', by)
    return this.#db.transaction(async (tx) => {
      const row = await tx.get(sql.RESOLVE, [id, end, by, this.#now()])
      if (row !== undefined) told(tx, row)
      return row !== undefined
    })
  }

  async expire(limit: number): Promise<number> {
    checkInteger('limit', limit, 1, MAX_LIST)
    const now = this.#now()
    let expired = 0
    for (const due of await this.#db.all(sql.EXPIRED, [now, limit]))
      expired += await this.#db.transaction(async (tx) => {
        const row = await tx.get(sql.EXPIRE, [text(due, 'id'), now])
        if (row !== undefined) told(tx, row)
        return row === undefined ? 0 : 1
      })
    return expired
  }

  prune(before: number): Promise<number> {
    return this.#db.run(sql.PRUNE, [before])
  }

  /** One step of a host, in one commit with the look at its fence. */
  #step(fence: LeaseFence, work: (tx: Transaction, agentId: AgentId, now: number) => Promise<Row | undefined>): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      await lockHeld(tx, fence, now)
      const row = await work(tx, agentIn(fence), now)
      if (row !== undefined) told(tx, row)
      return row !== undefined
    })
  }
}

/** The key of an agent's lease is its id; nothing is held under any other. */
function agentIn(fence: LeaseFence): AgentId {
  const { data } = AgentId.safeParse(fence.key)
  if (data === undefined) throw new LeaseLost(fence)
  return data
}

async function checkOpen(tx: Transaction, count: Sql, of: string, most: number): Promise<void> {
  const row = await tx.get(count, [of])
  if (row !== undefined && integer(row, 'open') >= most) throw new ShareExceeded('approvals', most)
}

/** Tells all who look at it: those who wait for it, its agent's host, and whoever decides. */
function told(tx: Transaction, row: Row): ApprovalRecord {
  const approval = toApproval(row)
  for (const topic of [approvalTopic(approval.id), approvalsTopic(approval.ownerId), 'approvals']) tx.signal(topicSignal(topic))
  announceAgent(tx, approval.agentId)
  return approval
}

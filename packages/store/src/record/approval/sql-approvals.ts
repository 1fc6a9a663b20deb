import { AgentId, ApprovalId, ApprovalStatus, type PolicySubject, type UserId, isYes, makeId } from '@parley/protocol'
import {
  type Database,
  type Row,
  type Sql,
  type Transaction,
  type Value,
  LeaseLost,
  NotFound,
  ShareExceeded,
  integer,
  text,
} from '@parley/database'
import type { LeaseFence } from '../../lease/fence.ts'
import { MAX_LIST, checkInteger, checkName } from '../../limits.ts'
import { lockUser } from '../access/enabled.ts'
import { ownerOf } from '../agent/row.ts'
import { OWNER_OF } from '../agent/statements.ts'
import { lockHeld } from '../agent/steps.ts'
import { activeName, lockPolicies } from '../policy/active-name.ts'
import { REVIEWED } from '../policy/statements.ts'
import { addVersion, lockSubject } from '../policy/steps.ts'
import type { ApprovalBounds, ApprovalRecord, ApprovalRecords, Decided, DecisionEffects } from './approval.ts'
import { approvalValues, checkReason, editedValue, nameAmong, searchedFor, toApproval, votesValue } from './row.ts'
import * as sql from './statements.ts'
import { PROPOSAL, decideProposal, endProposal, standingVotes, takeEffect, told, tooLate, withdrawStale } from './steps.ts'

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
    const { isAgain, attended } = bounds
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const agentId = agentIn(fence)
      const owner = await tx.get(OWNER_OF, [agentId])
      if (owner === undefined) throw new LeaseLost(fence)
      const ownerId = ownerOf(owner)
      await lockUser(tx, ownerId)
      await lockHeld(tx, fence, now)
      const same = (await tx.all(sql.SAME_CALL, [agentId, asked.digest, fence.fence, now, asked.policy])).map(toApproval)
      const left = same.find(({ id, callerGoneAt }) => callerGoneAt !== null || attended?.includes(id) === false)
      const open = left && (await tx.get(sql.ADOPT, [left.id, fence.fence]))
      const denied = [agentId, asked.digest, fence.fence, asked.policy]
      const adopted =
        open ??
        (await tx.get(sql.ADOPT_UNHEARD, denied)) ??
        (isAgain === true ? await tx.get(sql.ADOPT_DENIED, denied) : undefined)
      if (adopted !== undefined) return { approval: told(tx, adopted), isAdopted: true }
      return { approval: await this.#add(tx, { agentId, ownerId, values, fence: fence.fence, now }, bounds), isAdopted: false }
    })
  }

  async #add(
    tx: Transaction,
    asked: { agentId: AgentId; ownerId: UserId; values: readonly Value[]; fence: number; now: number },
    { ttlMs, maxPerAgent, maxPerPerson }: ApprovalBounds,
  ): Promise<ApprovalRecord> {
    const { agentId, ownerId, values, fence, now } = asked
    await checkOpen(tx, sql.COUNT_OF_AGENT, agentId, maxPerAgent)
    await checkOpen(tx, sql.COUNT_OF_OWNER, ownerId, maxPerPerson)
    const id = makeId(ApprovalId, 'apr', this.#random)
    const row = await tx.get(sql.ADD, [id, agentId, ownerId, ...values, fence, now, now + ttlMs])
    if (row === undefined) throw new TypeError('an approval vanished inside a transaction')
    return told(tx, row)
  }

  async propose(...[agent, policy, asked, bounds]: Parameters<ApprovalRecords['propose']>): Promise<ApprovalRecord> {
    checkInteger('ttlMs', bounds.ttlMs, 1)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const fence = typeof agent === 'string' ? undefined : agent
      const agentId = typeof agent === 'string' ? agent : agentIn(agent)
      const owner = await tx.get(OWNER_OF, [agentId])
      if (owner === undefined) throw fence === undefined ? new NotFound(`agent ${agentId}`) : new LeaseLost(fence)
      const ownerId = ownerOf(owner)
      await lockUser(tx, ownerId)
      if (fence !== undefined) await lockHeld(tx, fence, now)
      const subject: PolicySubject = { layer: 'agent', agentId }
      const name = await lockSubject(tx, subject)
      const { version } = await addVersion(tx, subject, { ...policy, status: 'proposed', now })
      await tx.run(REVIEWED, [name, version, policy.review.digest, policy.review.base])
      const values = approvalValues({ ...asked, ...PROPOSAL, arguments: JSON.stringify({ version }) })
      return this.#add(tx, { agentId, ownerId, values, fence: fence?.fence ?? 0, now }, bounds)
    })
  }

  async byId(id: ApprovalId): Promise<ApprovalRecord | undefined> {
    const row = await this.#db.get(sql.BY_ID, [id])
    return row && toApproval(row)
  }

  async pending(agentId: AgentId): Promise<number> {
    const row = await this.#db.get(sql.COUNT_OF_AGENT, [agentId])
    return row === undefined ? 0 : integer(row, 'open')
  }

  async list(page: Parameters<ApprovalRecords['list']>[0]): Promise<readonly ApprovalRecord[]> {
    const { ownerId = null, username, agentId = null, statuses = ApprovalStatus.options, limit } = page
    const { beforeCreatedAt = Number.MAX_SAFE_INTEGER, beforeId = '', search, since = 0 } = page
    checkInteger('limit', limit, 1, MAX_LIST)
    if (statuses.length === 0) return []
    const asked = [ownerId, agentId, nameAmong(username), searchedFor(search), since]
    return (await this.#db.all(sql.listSql(statuses), [beforeCreatedAt, beforeId, limit, ...asked])).map(toApproval)
  }

  async decide(id: ApprovalId, said: Parameters<ApprovalRecords['decide']>[1]): Promise<Decided | undefined> {
    const { decision, by, reason, person = by, needed = 1 } = said
    checkName('by', by)
    checkName('person', person)
    checkReason(reason)
    const edited = editedValue(said.edited)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const agent = await this.#lockEffects(tx, id, said.effects)
      const pending = await tx.get(sql.LOCK_PENDING, [id, now])
      if (pending === undefined) return tooLate(tx, { id, decision, edited, now })
      const before = toApproval(pending)
      const stale = isYes(decision) ? await withdrawStale(tx, before, now) : undefined
      if (stale !== undefined) return { kind: 'stale', approval: stale }
      const votes = isYes(decision) ? [...new Set([...(await standingVotes(tx, before.votes)), person])] : before.votes
      if (isYes(decision)) {
        const voted = await tx.get(sql.VOTED, [id, votesValue(votes), edited])
        if (votes.length < needed && voted !== undefined)
          return { kind: before.votes.includes(person) ? 'repeated' : 'counted', approval: told(tx, voted) }
      }
      const row = await tx.get(isYes(decision) ? sql.APPROVE : sql.DENY, [id, decision, by, reason, now])
      if (row === undefined) throw new TypeError('an approval vanished inside a transaction')
      if (agent !== undefined) await takeEffect(tx, agent, { effects: said.effects ?? {}, by, now, random: this.#random })
      const approval = toApproval(row)
      if (approval.kind !== 'proposal') {
        const bound = said.effects?.policy && (await tx.get(sql.REBIND, [id, await activeName(tx, approval)]))
        return { kind: 'decided', approval: told(tx, bound ?? row) }
      }
      return { kind: 'decided', approval: told(tx, await decideProposal(tx, approval, { by, now })) }
    })
  }

  /** What a decision changes beyond its approval is locked before it, as whoever asks does. */
  async #lockEffects(tx: Transaction, id: ApprovalId, effects: DecisionEffects | undefined): Promise<AgentId | undefined> {
    const row = await tx.get(sql.BY_ID, [id])
    if (row === undefined) return undefined
    const approval = toApproval(row)
    await lockPolicies(tx, approval)
    return effects === undefined && approval.kind !== 'proposal' ? undefined : approval.agentId
  }

  async dispatch(fence: LeaseFence, id: ApprovalId): Promise<'dispatched' | 'stale' | 'refused'> {
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const found = await tx.get(sql.BY_ID, [id])
      const approval = found && toApproval(found)
      // In the order of whoever decides.
      if (approval !== undefined) await lockPolicies(tx, approval)
      await lockHeld(tx, fence, now)
      if (approval?.agentId !== agentIn(fence)) return 'refused'
      if (approval.status === 'approved' && (await withdrawStale(tx, approval, now)) !== undefined) return 'stale'
      const row = await tx.get(sql.DISPATCH, [id, fence.fence, now, approval.agentId])
      if (row === undefined) return 'refused'
      told(tx, row)
      return 'dispatched'
    })
  }

  async settle(fence: LeaseFence, id: ApprovalId, end: 'returned' | 'failed'): Promise<boolean> {
    if (await this.#step(fence, (tx, agentId, now) => tx.get(sql.SETTLE, [id, agentId, end, now]))) return true
    return (await this.byId(id))?.status === end
  }

  withdraw(fence: LeaseFence, id: ApprovalId): Promise<boolean> {
    return this.#step(fence, async (tx, agentId, now) => {
      const row = await tx.get(sql.WITHDRAW, [id, agentId, now])
      if (row !== undefined) await endProposal(tx, toApproval(row), 'withdrawn')
      return row
    })
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
        if (row !== undefined) await endProposal(tx, told(tx, row), 'withdrawn')
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

import {
  type AgentId,
  type Allowance,
  type AllowanceId,
  POLICY_LIMITS,
  PolicyStatus,
  type PolicySubject,
  policySubjectText,
} from '@parley/protocol'
import { type Database, InvalidArgument } from '@parley/database'
import { MAX_LIST, checkInteger } from '../../limits.ts'
import type { Activated, NewPolicy, PolicyRecord, PolicyRecords } from './policy.ts'
import { toAllowance, toPolicy } from './row.ts'
import * as sql from './statements.ts'
import { activateVersion, addVersion, announcePolicy, endAnswers, lockSubject } from './steps.ts'

const SHA256 = /^[0-9a-f]{64}$/

/** PolicyRecords as rows. Whoever changes a policy locks its subject first. */
export class SqlPolicies implements PolicyRecords {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  add(subject: PolicySubject, policy: NewPolicy): Promise<PolicyRecord> {
    return this.#db.transaction(async (tx) => {
      await lockSubject(tx, subject)
      return addVersion(tx, subject, { ...policy, status: 'draft', now: this.#now() })
    })
  }

  async reviewed(...[subject, version, { digest, base }]: Parameters<PolicyRecords['reviewed']>): Promise<boolean> {
    if (!SHA256.test(digest)) throw new InvalidArgument('digest', 'must be a SHA-256 in hex')
    return (await this.#db.run(sql.REVIEWED, [policySubjectText(subject), version, digest, base])) > 0
  }

  activate(...[subject, version, said]: Parameters<PolicyRecords['activate']>): Promise<Activated | undefined> {
    return this.#db.transaction(async (tx) => {
      const name = await lockSubject(tx, subject)
      const row = await tx.get(sql.BY_VERSION, [name, version])
      if (row === undefined) return undefined
      const policy = toPolicy(row)
      if (policy.status === 'refused' || policy.status === 'withdrawn') return { kind: 'ended', policy }
      const active = await tx.get(sql.ACTIVE, [name])
      const base = active === undefined ? null : toPolicy(active).version
      const { review } = policy
      if (review === null || review.digest !== said.digest || review.base !== base) return { kind: 'stale', policy }
      return { kind: 'activated', policy: await activateVersion(tx, subject, { version, by: said.by, now: this.#now() }) }
    })
  }

  retire(subject: PolicySubject): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const name = await lockSubject(tx, subject)
      if ((await tx.run(sql.RETIRE, [name])) === 0) return false
      await endAnswers(tx, subject)
      await announcePolicy(tx, subject, this.#now())
      return true
    })
  }

  async byVersion(subject: PolicySubject, version: number): Promise<PolicyRecord | undefined> {
    const row = await this.#db.get(sql.BY_VERSION, [policySubjectText(subject), version])
    return row && toPolicy(row)
  }

  async active(subjects: readonly PolicySubject[]): Promise<readonly PolicyRecord[]> {
    const found = await Promise.all(subjects.map((subject) => this.#db.get(sql.ACTIVE, [policySubjectText(subject)])))
    return found.flatMap((row) => (row === undefined ? [] : [toPolicy(row)]))
  }

  async list(subject: PolicySubject, page: Parameters<PolicyRecords['list']>[1]): Promise<readonly PolicyRecord[]> {
    const { beforeVersion = Number.MAX_SAFE_INTEGER, statuses = PolicyStatus.options, limit } = page
    checkInteger('limit', limit, 1, MAX_LIST)
    if (statuses.length === 0) return []
    return (await this.#db.all(sql.listSql(statuses), [policySubjectText(subject), beforeVersion, limit])).map(toPolicy)
  }

  async allowances(agentId: AgentId): Promise<readonly Allowance[]> {
    return (await this.#db.all(sql.ALLOWANCES, [agentId, this.#now(), POLICY_LIMITS.allowances])).map(toAllowance)
  }

  disallow(agentId: AgentId, id: AllowanceId): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      if ((await tx.run(sql.DISALLOW, [agentId, id])) === 0) return false
      await announcePolicy(tx, { layer: 'agent', agentId }, this.#now())
      return true
    })
  }

  prune(): Promise<number> {
    return this.#db.run(sql.PRUNE, [this.#now()])
  }
}

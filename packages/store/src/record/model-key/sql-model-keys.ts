import { Budget, parseJson } from '@parley/protocol'
import { integer, integerOrNull, text } from '../../database/column.ts'
import type { Database, Row, Sql } from '../../database/database.ts'
import { toJson } from '../../database/json-column.ts'
import { sameFence } from '../../lease/fence.ts'
import { checkInteger, checkName } from '../../limits.ts'
import { type ClaimKey, JOB_QUEUE, type JobRecord } from '../job/job.ts'
import { toJob } from '../job/row.ts'
import { selectJobs } from '../job/statements.ts'
import { lockHeld } from '../job/steps.ts'
import type { ModelKeyRecord, ModelKeys } from './model-key.ts'

/** Keys to models by their hash. They go with their job. */
export class SqlModelKeys implements ModelKeys {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async add(key: ClaimKey, modelKey: Parameters<ModelKeys['add']>[1]): Promise<ModelKeyRecord> {
    const { hash, attempt, channel, model, budget } = modelKey
    checkName('hash', hash)
    checkInteger('attempt', attempt, 0)
    checkName('channel', channel)
    checkName('model', model)
    const budgetColumn = toJson('budget', Budget, budget)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const job = await lockHeld(tx, key, now)
      await tx.run(PUT, [hash, job.id, key.claimId, job.claims, attempt, channel, model, budgetColumn, now])
      const of = { jobId: job.id, ownerId: job.ownerId, claimId: key.claimId, claim: job.claims }
      return { hash, ...of, attempt, channel, model, budget: readBudget(budgetColumn), createdAt: now }
    })
  }

  async find(hash: string): ReturnType<ModelKeys['find']> {
    const row = await this.#db.get(FIND, [hash])
    if (row === undefined) return undefined
    const job = toJob(row)
    return { key: toKey(row, job), job, leaseExpiresAt: integerOrNull(row, 'lease_until') }
  }

  async has(claimId: string, attempt: number): Promise<boolean> {
    return (
      (await this.#db.get('SELECT 1 AS one FROM model_keys WHERE claim_id = $1 AND attempt = $2', [claimId, attempt])) !==
      undefined
    )
  }

  async prune(before: number): Promise<number> {
    return this.#db.run(PRUNE, [before])
  }
}

const PUT: Sql = `INSERT INTO model_keys (hash, job_id, claim_id, claim, attempt, channel, model, budget, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (claim_id, attempt) DO UPDATE SET hash = excluded.hash, job_id = excluded.job_id, claim = excluded.claim,
    channel = excluded.channel, model = excluded.model, budget = excluded.budget, created_at = excluded.created_at`

/** The lease of the job `j`, if nobody else took it since the claim of the key `k` did, and it was not given back. */
const OWN_LEASE = `l.queue = '${JOB_QUEUE}' AND l.key = j.id AND j.claim_id = k.claim_id AND ${sameFence('l', 'j.fence')}
  AND l.holder IS NOT NULL`
const FIND: Sql = selectJobs(
  `FROM model_keys k JOIN jobs j ON j.id = k.job_id LEFT JOIN leases l ON ${OWN_LEASE} WHERE k.hash = $1`,
  {
    more: `, k.hash AS key_hash, k.claim_id AS key_claim_id, k.claim AS key_claim, k.attempt AS key_attempt,
    k.channel AS key_channel, k.model AS key_model, k.budget AS key_budget, k.created_at AS key_created_at,
    l.available_at AS lease_until`,
  },
)
/** A lease that ran out lately may come back to its claim, by a gateway's grace: its keys stay. */
const PRUNE: Sql = `DELETE FROM model_keys AS k WHERE k.created_at < $1
  AND NOT EXISTS (SELECT 1 FROM jobs j JOIN leases l ON ${OWN_LEASE} WHERE j.id = k.job_id AND l.available_at >= $1)`

const readBudget = (column: string): Budget => Budget.parse(parseJson(column))

function toKey(row: Row, { id, ownerId }: JobRecord): ModelKeyRecord {
  return { jobId: id, ownerId, ...toOwnKey(row, 'key_') }
}

/** What stands in its own row, whose columns may have names that begin with something. */
export function toOwnKey(row: Row, prefix = ''): Omit<ModelKeyRecord, 'jobId' | 'ownerId'> {
  return {
    hash: text(row, `${prefix}hash`),
    claimId: text(row, `${prefix}claim_id`),
    claim: integer(row, `${prefix}claim`),
    attempt: integer(row, `${prefix}attempt`),
    channel: text(row, `${prefix}channel`),
    model: text(row, `${prefix}model`),
    budget: readBudget(text(row, `${prefix}budget`)),
    createdAt: integer(row, `${prefix}created_at`),
  }
}

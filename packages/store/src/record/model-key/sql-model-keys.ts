import { AgentId } from '@parley/protocol'
import { type Database, type Sql, Conflict, integer, text } from '@parley/database'
import { type LeaseFence, sameFence } from '../../lease/fence.ts'
import { checkInteger } from '../../limits.ts'
import { AGENT_QUEUE } from '../agent/agent.ts'
import { ownerOf } from '../agent/row.ts'
import { lockHeld as lockHeldAgent } from '../agent/steps.ts'
import { type ClaimKey, JOB_QUEUE } from '../job/job.ts'
import { selectJobs } from '../job/statements.ts'
import { lockHeld as lockHeldJob } from '../job/steps.ts'
import type { AgentKeyRecord, FoundModelKey, JobKeyRecord, ModelKeys } from './model-key.ts'
import { readBudget, termValues, toFound } from './row.ts'

/** Keys to models by their hash. They go with their job or their agent. */
export class SqlModelKeys implements ModelKeys {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async add(claim: ClaimKey, { attempt, ...terms }: Parameters<ModelKeys['add']>[1]): Promise<JobKeyRecord> {
    checkInteger('attempt', attempt, 0)
    const values = termValues(terms)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const job = await lockHeldJob(tx, claim, now)
      await tx.run(PUT, [...values, now, job.id, claim.claimId, job.claims, attempt])
      const of = { jobId: job.id, ownerId: job.ownerId, claimId: claim.claimId, claim: job.claims, attempt }
      return { ...terms, ...of, budget: readBudget(values[3]), createdAt: now }
    })
  }

  async addForAgent(fence: LeaseFence, { promptId, ...terms }: Parameters<ModelKeys['addForAgent']>[1]): Promise<AgentKeyRecord> {
    const values = termValues(terms)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const agent = await lockHeldAgent(tx, fence, now)
      const agentId = AgentId.parse(text(agent, 'id'))
      const put = await tx.get(PUT_FOR_AGENT, [...values, now, agentId, fence.fence, promptId])
      if (put === undefined) throw new Conflict(`prompt ${promptId} does not run under this claim, or is to end`)
      const of = { agentId, ownerId: ownerOf(agent), fence: fence.fence, prompt: integer(put, 'prompt') }
      return { ...terms, ...of, budget: readBudget(values[3]), createdAt: now }
    })
  }

  async find(hash: string): Promise<FoundModelKey | undefined> {
    const row = await this.#db.get(FIND, [hash])
    return row && toFound(row)
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

const TERMS = 'hash, channel, model, budget, created_at'
const RENEWED = `hash = excluded.hash, channel = excluded.channel, model = excluded.model, budget = excluded.budget,
    created_at = excluded.created_at`
const PUT: Sql = `INSERT INTO model_keys (${TERMS}, job_id, claim_id, claim, attempt) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (claim_id, attempt) DO UPDATE SET ${RENEWED}, job_id = excluded.job_id, claim = excluded.claim`
/** $1 to $5 the terms, $6 agent, $7 fence, $8 prompt. */
const PUT_FOR_AGENT: Sql = `INSERT INTO model_keys (${TERMS}, agent_id, fence, prompt)
  SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), agent_id, fence, number FROM prompts
  WHERE agent_id = $6 AND fence = $7 AND id = $8 AND status = 'running' AND aborted_at IS NULL
  ON CONFLICT (agent_id, prompt) DO UPDATE SET ${RENEWED}, fence = excluded.fence RETURNING prompt`

/** The lease that the key `k` was made under, if nobody else took it since and it was not given back: of its job `j`, or of its agent. */
const OF_JOB = `l.queue = '${JOB_QUEUE}' AND l.key = j.id AND j.claim_id = k.claim_id AND ${sameFence('l', 'j.fence')}
  AND l.holder IS NOT NULL`
const OF_AGENT = `h.queue = '${AGENT_QUEUE}' AND h.key = k.agent_id AND ${sameFence('h', 'k.fence')} AND h.holder IS NOT NULL`
const OWN_COLUMNS = `${TERMS}, job_id, claim_id, claim, attempt, agent_id, fence, prompt`
const FIND: Sql = selectJobs(
  `FROM model_keys k
    LEFT JOIN jobs j ON j.id = k.job_id LEFT JOIN leases l ON ${OF_JOB}
    LEFT JOIN agents a ON a.id = k.agent_id LEFT JOIN leases h ON ${OF_AGENT}
    LEFT JOIN prompts p ON p.agent_id = k.agent_id AND p.number = k.prompt
  WHERE k.hash = $1`,
  {
    more: `, ${OWN_COLUMNS.split(', ')
      .map((column) => `k.${column} AS key_${column}`)
      .join(
        ', ',
      )}, coalesce(l.available_at, h.available_at) AS lease_until, a.owner_id AS agent_owner, a.settings AS agent_settings,
      p.status AS prompt_status, p.aborted_at AS prompt_aborted_at`,
  },
)
/** A lease that ran out lately may come back to whoever held it, by a gateway's grace: its keys stay. */
const PRUNE: Sql = `DELETE FROM model_keys AS k WHERE k.created_at < $1
  AND NOT EXISTS (SELECT 1 FROM jobs j JOIN leases l ON ${OF_JOB} WHERE j.id = k.job_id AND l.available_at >= $1)
  AND NOT EXISTS (SELECT 1 FROM leases h WHERE ${OF_AGENT} AND h.available_at >= $1)`

import type { UserId } from '@parley/protocol'
import { type Database, type Sql, NotFound, integerOrNull } from '@parley/database'
import { checkInteger } from '../../limits.ts'
import { usageSignal } from '../usage/steps.ts'
import type { QuotaRecord, Quotas } from './quota.ts'

/** What people may use. Nobody has a row until a bound of theirs is set. */
export class SqlQuotas implements Quotas {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async of(userId: UserId): Promise<QuotaRecord> {
    const row = await this.#db.get('SELECT * FROM quotas WHERE user_id = $1', [userId])
    if (row === undefined) return { userId, ...NO_BOUNDS }
    return {
      userId,
      jobsAtOnce: integerOrNull(row, 'jobs_at_once'),
      tokensPerDay: integerOrNull(row, 'tokens_per_day'),
      microusdPerDay: integerOrNull(row, 'microusd_per_day'),
      keptBytes: integerOrNull(row, 'kept_bytes'),
      keptJobs: integerOrNull(row, 'kept_jobs'),
    }
  }

  async set({ userId, ...bounds }: QuotaRecord): Promise<void> {
    for (const [field, value] of Object.entries(bounds)) {
      if (value !== null) checkInteger(field, value, 0)
    }
    const { jobsAtOnce, tokensPerDay, microusdPerDay, keptBytes, keptJobs } = bounds
    const values = [userId, jobsAtOnce, tokensPerDay, microusdPerDay, keptBytes, keptJobs]
    if ((await this.#db.change(SET, values, usageSignal(userId))) === 0) throw new NotFound(`user ${userId}`)
  }
}

const NO_BOUNDS = { jobsAtOnce: null, tokensPerDay: null, microusdPerDay: null, keptBytes: null, keptJobs: null }

const SET: Sql = `INSERT INTO quotas (user_id, jobs_at_once, tokens_per_day, microusd_per_day, kept_bytes, kept_jobs)
  SELECT id, CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT) FROM users WHERE id = $1
  ON CONFLICT (user_id) DO UPDATE SET jobs_at_once = excluded.jobs_at_once, tokens_per_day = excluded.tokens_per_day,
    microusd_per_day = excluded.microusd_per_day, kept_bytes = excluded.kept_bytes, kept_jobs = excluded.kept_jobs`

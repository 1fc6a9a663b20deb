import type { AgentId, JobId, UserId } from '@parley/protocol'
import { type Sql, type Value, lockAll, lockNamed } from '@parley/database'
import type { SpendScope, Spender, UsageGrouping } from './usage.ts'

const COLUMNS = `id, status, job_id, owner_id, claim_id, claim, attempt, call_id, channel, model, thread_id, source, estimated,
  input_tokens, cached_input_tokens, output_tokens, cached_output_tokens, reasoning_output_tokens, prices, cost_microusd, at, agent_id, prompt`
/** In the order of `COLUMNS`. */
export const ADD: Sql = `INSERT INTO usage (${COLUMNS})
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
  ON CONFLICT (claim_id, attempt, call_id) DO NOTHING`
export const BY_CALL: Sql = 'SELECT * FROM usage WHERE claim_id = $1 AND attempt = $2 AND call_id = $3'
/** $1 id, $2 to $6 tokens, $7 cost, $8 estimated. */
export const BOOK: Sql = `UPDATE usage SET status = 'booked', input_tokens = $2, cached_input_tokens = $3, output_tokens = $4,
  cached_output_tokens = $5, reasoning_output_tokens = $6, cost_microusd = $7, estimated = $8
  WHERE id = $1 AND status = 'reserved' RETURNING job_id, owner_id`
export const DROP: Sql = `DELETE FROM usage WHERE id = $1 AND status = 'reserved'`
export const STALE: Sql = `SELECT * FROM usage WHERE status = 'reserved' AND at < $1 ORDER BY at, id LIMIT $2`
export const RESERVED_FOR: Sql = `SELECT * FROM usage WHERE status = 'reserved' AND job_id = $1 ORDER BY at, id LIMIT $2`
export const PRUNE: Sql = 'DELETE FROM usage WHERE at < $1'
export const OF_JOB: Sql = `SELECT * FROM usage WHERE job_id = $1 AND status = 'booked' ORDER BY at, id LIMIT $2`

/**
 * Whoever reserves for one owner, one job or one agent waits here for the one before, so that each sees what the other wrote. The owner is
 * locked first and then the job or agent, so that two who need both cannot wait for each other.
 */
export const LOCK_OWNER: Sql = lockNamed('spendingOfOwner')
export const LOCK_JOB: Sql = lockNamed('callsOfJob')
export const LOCK_AGENT: Sql = lockNamed('callsOfAgent')

/** Sums stay whole numbers that JavaScript holds exactly; one that would not is as large as one can be. */
const MOST = Number.MAX_SAFE_INTEGER
type Sum = (of: string) => string
const forBoth = (build: (sum: Sum, engine: 'sqlite' | 'postgres') => string): Sql => ({
  sqlite: build((of) => `min(coalesce(sum(${of}), 0), ${MOST})`, 'sqlite'),
  postgres: build((of) => `CAST(least(coalesce(sum(${of}), 0), ${MOST}) AS BIGINT)`, 'postgres'),
})

const spentWhere = (sum: Sum, where: string): string =>
  `SELECT ${sum('input_tokens + output_tokens')} AS tokens, ${sum('cost_microusd')} AS microusd, ${sum('1')} AS calls
      FROM usage WHERE ${where}`
const spent = (where: string): Sql => forBoth((sum) => spentWhere(sum, where))
/** The smaller of two. */
const LESS = { sqlite: 'min', postgres: 'least' }
/** $1 since, $2 owner. */
const SPENT_BY_OWNER: Sql = spent('at >= $1 AND owner_id = $2')
const SPENT_BY_NOBODY: Sql = spent('at >= $1 AND owner_id IS NULL')
const SPENT_ON_JOB: Sql = spent('job_id = $1')
/** $1 since, $2 agent. */
const SPENT_BY_AGENT: Sql = spent('at >= $1 AND agent_id = $2')
/** $1 agent, $2 prompt. */
const SPENT_IN_TURN: Sql = spent('agent_id = $1 AND prompt = $2')
/** $1 agent: what was added up before, and its calls since. */
const folded = (column: string, none: number): string =>
  `coalesce((SELECT s.${column} FROM agent_spending s WHERE s.agent_id = $1), ${none})`
const SPENT_IN_ALL: Sql = forBoth((sum, engine) => {
  const whole = (column: string) => `${LESS[engine]}(${folded(column, 0)} + later.${column}, ${MOST}) AS ${column}`
  const later = spentWhere(sum, `agent_id = $1 AND at >= ${folded('before_at', -MOST)}`)
  return `SELECT ${whole('tokens')}, ${whole('microusd')}, later.calls FROM (${later}) AS later`
})

/** What a scope adds up for whoever makes a call, and for which values; `undefined` where the call is none of that scope. */
export function spentQuery(
  scope: SpendScope,
  { ownerId, jobId, agentId, prompt }: Spender,
  since: number,
): readonly [Sql, readonly Value[]] | undefined {
  if (scope === 'owner') return ownerId === null ? [SPENT_BY_NOBODY, [since]] : [SPENT_BY_OWNER, [since, ownerId]]
  if (scope === 'job') return jobId === null ? undefined : [SPENT_ON_JOB, [jobId]]
  if (agentId === null) return undefined
  if (scope === 'all') return [SPENT_IN_ALL, [agentId]]
  if (scope === 'day') return [SPENT_BY_AGENT, [since, agentId]]
  return prompt === null ? undefined : [SPENT_IN_TURN, [agentId, prompt]]
}

/** One at a time, so that no call is added twice. */
export const LOCK_FOLD: Sql = lockAll('spendingOfAgents')
/**
 * $1 before. What is under way may still come to something else: all from its reservation on is left for the next time, also where it is
 * booked already, because a sum is of everything before one moment.
 */
export const FOLD: Sql = forBoth((sum, engine) => {
  const less = LESS[engine]
  return `WITH mark AS (
    SELECT ${less}(CAST($1 AS BIGINT), coalesce((SELECT min(at) FROM usage WHERE status = 'reserved'), CAST($1 AS BIGINT))) AS before_at)
  INSERT INTO agent_spending (agent_id, tokens, microusd, before_at)
  SELECT a.id, ${sum('u.input_tokens + u.output_tokens')}, ${sum('u.cost_microusd')}, mark.before_at
  FROM mark CROSS JOIN agents a LEFT JOIN agent_spending s ON s.agent_id = a.id
    JOIN usage u ON u.agent_id = a.id AND u.at >= coalesce(s.before_at, ${-MOST}) AND u.at < mark.before_at
  WHERE true GROUP BY a.id, mark.before_at
  ON CONFLICT (agent_id) DO UPDATE SET tokens = ${less}(agent_spending.tokens + excluded.tokens, ${MOST}),
    microusd = ${less}(agent_spending.microusd + excluded.microusd, ${MOST}), before_at = excluded.before_at`
})

const TOTALS = {
  calls: '1',
  unpriced_calls: 'CASE WHEN cost_microusd IS NULL THEN 1 ELSE 0 END',
  estimated_calls: 'estimated',
  cost_microusd: 'cost_microusd',
  input_tokens: 'input_tokens',
  cached_input_tokens: 'cached_input_tokens',
  output_tokens: 'output_tokens',
  cached_output_tokens: 'cached_output_tokens',
  reasoning_output_tokens: 'reasoning_output_tokens',
}
const totals = (sum: Sum): string =>
  Object.entries(TOTALS)
    .map(([name, of]) => `${sum(of)} AS ${name}`)
    .join(', ')
const totalsOfTotals = (sum: Sum): string =>
  Object.keys(TOTALS)
    .map((name) => `${sum(name)} AS ${name}`)
    .join(', ')
export const TOTAL_OF_JOB: Sql = forBoth((sum) => `SELECT ${totals(sum)} FROM usage WHERE job_id = $1 AND status = 'booked'`)

/** Which rows a list or a summary looks at. Undefined: anybody's, any job's, any agent's. */
export interface UsageSelection {
  readonly ownerId?: UserId | null | undefined
  readonly jobId?: JobId | undefined
  readonly agentId?: AgentId | undefined
}

/** The conditions of a selection, whose parameters start at `first`. One text for each kind of selection, so there are few. */
const within = ({ ownerId, jobId, agentId }: UsageSelection, first: number): string => {
  let next = first
  const conditions = [`status = 'booked'`]
  if (ownerId === null) conditions.push('owner_id IS NULL')
  else if (ownerId !== undefined) conditions.push(`owner_id = $${next++}`)
  if (jobId !== undefined) conditions.push(`job_id = $${next++}`)
  if (agentId !== undefined) conditions.push(`agent_id = $${next++}`)
  return conditions.join(' AND ')
}
/** What `within` asks for. */
export const selectionValues = ({ ownerId, jobId, agentId }: UsageSelection): readonly string[] => [
  ...(typeof ownerId === 'string' ? [ownerId] : []),
  ...(jobId === undefined ? [] : [jobId]),
  ...(agentId === undefined ? [] : [agentId]),
]

/** $1 from, $2 to, $3 rows, then the selection. */
export const listSql = (
  selection: UsageSelection,
): Sql => `SELECT * FROM usage WHERE at >= $1 AND at < $2 AND ${within(selection, 4)}
  ORDER BY at DESC, id DESC LIMIT $3`
/** As `listSql`, $4 the id that the page before ended with. */
export const listBeforeSql = (
  selection: UsageSelection,
): Sql => `SELECT * FROM usage WHERE at >= $1 AND at < $2 AND ${within(selection, 5)}
  AND (at, id) < (SELECT at, id FROM usage WHERE id = $4) ORDER BY at DESC, id DESC LIMIT $3`

const DAY = {
  sqlite: `strftime('%Y-%m-%d', at / 1000, 'unixepoch')`,
  postgres: `to_char(to_timestamp(at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}
const KEYS = { model: 'model', job: 'job_id', agent: 'agent_id', user: 'owner_id' }

/** $1 from, $2 to, $3 groups, then the selection: the total as part 0, then the groups as part 1, all of one moment. */
export const summarySql = (selection: UsageSelection, groupBy: UsageGrouping): Sql =>
  forBoth(
    (sum, engine) => `
    WITH grouped AS (SELECT ${groupBy === 'day' ? DAY[engine] : KEYS[groupBy]} AS key, ${totals(sum)} FROM usage
      WHERE at >= $1 AND at < $2 AND ${within(selection, 4)} GROUP BY 1)
    SELECT * FROM (
      SELECT 0 AS part, CAST(NULL AS TEXT) AS key, ${totalsOfTotals(sum)} FROM grouped
      UNION ALL SELECT 1 AS part, key, ${Object.keys(TOTALS).join(', ')} FROM grouped
    ) AS parts
    ORDER BY part, ${groupBy === 'day' ? 'key DESC' : `cost_microusd DESC, input_tokens + output_tokens DESC, coalesce(key, '')`}
    LIMIT $3 + 1`,
  )

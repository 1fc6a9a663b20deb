import { PROMPT_MOVES, PromptStatus } from '@parley/protocol'
import type { Sql } from '@parley/database'

/** The statuses from which this one may be reached, for a condition. */
const from = (to: PromptStatus): string =>
  PromptStatus.options
    .filter((status) => PROMPT_MOVES[status].includes(to))
    .map((status) => `'${status}'`)
    .join(', ')

/** $1 prompt, $2 agent, $3 body, $4 who, $5 now, $6 what woke it or null. Whoever adds one has locked the agent, so the numbers have no gap. */
export const ADD: Sql = `INSERT INTO prompts (id, agent_id, number, body, told_by, created_at, woken_by)
  SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), coalesce(max(number), 0) + 1, CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS TEXT)
  FROM prompts WHERE agent_id = $2 RETURNING *`
export const COUNT_QUEUED: Sql = `SELECT count(*) AS queued FROM prompts WHERE agent_id = $1 AND status = 'queued'`
/** $1 agent, $2 how many of the newest stay. The last one stays whatever it is: the next goes on from its number. */
export const PRUNE: Sql = `DELETE FROM prompts WHERE agent_id = $1 AND status NOT IN ('queued', 'running')
  AND number <= (SELECT max(number) FROM prompts WHERE agent_id = $1) - $2`

/** $1 agent, $2 prompt. */
export const BY_ID: Sql = 'SELECT * FROM prompts WHERE agent_id = $1 AND id = $2'
/** $1 agent, $2 below which number, $3 rows. */
export const LIST: Sql = 'SELECT * FROM prompts WHERE agent_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3'
export const RUNNING: Sql = `SELECT * FROM prompts WHERE agent_id = $1 AND status = 'running'`

/** $1 agent, $2 fence: the one that runs is answered under it from now on. */
export const ADOPT: Sql = `UPDATE prompts SET fence = $2 WHERE agent_id = $1 AND status = 'running' RETURNING *`
/** $1 agent, $2 fence, $3 now: the first that waits runs. */
export const START: Sql = `UPDATE prompts SET status = 'running', fence = $2, started_at = $3
  WHERE status IN (${from('running')}) AND id = (SELECT id FROM prompts WHERE agent_id = $1 AND status = 'queued' ORDER BY number LIMIT 1)
  RETURNING *`
/** $1 agent, $2 prompt, $3 status, $4 outcome, $5 now. */
export const END: Sql = `UPDATE prompts SET status = $3, outcome = $4, ended_at = $5
  WHERE agent_id = $1 AND id = $2 AND status IN (${from('completed')}) RETURNING *`
/** $1 agent, $2 now. The first who asks counts. */
export const ABORT: Sql = `UPDATE prompts SET aborted_at = coalesce(aborted_at, $2) WHERE agent_id = $1 AND status = 'running' RETURNING id`
/** $1 agent, $2 now. */
export const WITHDRAW_QUEUED: Sql = `UPDATE prompts SET status = 'withdrawn', ended_at = $2
  WHERE agent_id = $1 AND status IN (${from('withdrawn')})`

import { BACKGROUND_CALL_MOVES, BackgroundCallState } from '@parley/protocol'
import type { Sql } from '@parley/database'

/** The states from which this one may be reached, for a condition. */
const from = (to: BackgroundCallState): string =>
  BackgroundCallState.options
    .filter((state) => BACKGROUND_CALL_MOVES[state].includes(to))
    .map((state) => `'${state}'`)
    .join(', ')

/** All but the arguments and the result, which may be large. */
const SHOWN = 'id, agent_id, number, tool, state, fence, result_bytes, cut, error, message, started_at, ended_at'

/** $1 call, $2 agent, $3 tool, $4 arguments, $5 fence, $6 now. Whoever adds one has locked the agent, so the numbers have no gap. */
export const ADD: Sql = `INSERT INTO background_calls (id, agent_id, number, tool, arguments, fence, started_at)
  SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), coalesce(max(number), 0) + 1, CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT),
    CAST($6 AS BIGINT) FROM background_calls WHERE agent_id = $2 RETURNING ${SHOWN}`
export const COUNT_RUNNING: Sql = `SELECT count(*) AS running FROM background_calls WHERE agent_id = $1 AND state = 'running'`
/** $1 agent, $2 how many of the newest stay. One that goes on stays whatever it is, and so does the last: the next goes on from its number. */
export const PRUNE: Sql = `DELETE FROM background_calls WHERE agent_id = $1 AND state <> 'running'
  AND number <= (SELECT max(number) FROM background_calls WHERE agent_id = $1) - $2`

/** $1 call, $2 agent, $3 fence, $4 state, $5 result, $6 its bytes, $7 cut, $8 error, $9 message, $10 now. */
export const END: Sql = `UPDATE background_calls SET state = $4, result = $5, result_bytes = $6, cut = $7, error = $8, message = $9, ended_at = $10
  WHERE id = $1 AND agent_id = $2 AND fence = $3 AND state IN (${from('returned')}) RETURNING ${SHOWN}`
/** $1 agent, $2 bytes: of the newest results as many stay as have so many together. */
export const DROP_RESULTS: Sql = `UPDATE background_calls SET result = NULL, result_bytes = NULL WHERE agent_id = $1 AND id IN (
  SELECT id FROM (SELECT id, sum(coalesce(result_bytes, 0)) OVER (ORDER BY number DESC) AS kept FROM background_calls WHERE agent_id = $1) newest
  WHERE kept > $2)`

/** $1 agent, $2 fence: those that another claim left running. */
export const IS_LEFT: Sql = `SELECT 1 AS one FROM background_calls WHERE agent_id = $1 AND state = 'running' AND fence <> $2 LIMIT 1`
/** $1 agent, $2 fence, $3 message, $4 now. */
export const LEAVE: Sql = `UPDATE background_calls SET state = 'unknown', message = $3, ended_at = $4
  WHERE agent_id = $1 AND fence <> $2 AND state IN (${from('unknown')}) RETURNING ${SHOWN}`

/** $1 agent, $2 call. */
export const BY_ID: Sql = `SELECT ${SHOWN}, result FROM background_calls WHERE agent_id = $1 AND id = $2`
/** $1 agent, $2 rows. */
export const LIST: Sql = `SELECT ${SHOWN} FROM background_calls WHERE agent_id = $1 ORDER BY number DESC LIMIT $2`

import type { Sql } from '@parley/database'

/** $1 agent, $2 from, $3 by, $4 key. */
export const BY_KEY: Sql = 'SELECT * FROM chat_messages WHERE agent_id = $1 AND said_from = $2 AND said_by = $3 AND post_key = $4'
/** $1 agent, $2 from, $3 by, $4 body, $5 key, $6 now. Whoever adds one has locked the agent, so the numbers have no gap. */
export const ADD: Sql = `INSERT INTO chat_messages (agent_id, number, said_from, said_by, body, post_key, created_at)
  SELECT CAST($1 AS TEXT), coalesce(max(number), 0) + 1, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS BIGINT)
  FROM chat_messages WHERE agent_id = $1 RETURNING *`
/** What a person said and a local agent was not told, of the newest of those: an agent that says much does not push it out. */
const UNTOLD = `m.said_from = 'person' AND EXISTS (SELECT 1 FROM agents a WHERE a.id = $1 AND a.kind = 'local')
  AND m.number > coalesce((SELECT heard_chat FROM loops WHERE agent_id = $1), 0)
  AND (SELECT count(*) FROM chat_messages p WHERE p.agent_id = $1 AND p.said_from = 'person' AND p.number > m.number) < $2`
/** $1 agent, $2 how many of the newest stay. */
export const PRUNE: Sql = `DELETE FROM chat_messages WHERE agent_id = $1 AND number IN (SELECT m.number FROM chat_messages m
  WHERE m.agent_id = $1 AND m.number <= (SELECT max(number) FROM chat_messages WHERE agent_id = $1) - $2 AND NOT (${UNTOLD}))`

/** $1 agent. */
export const HEAD: Sql = 'SELECT coalesce(max(number), 0) AS head FROM chat_messages WHERE agent_id = $1'
/** $1 agent, $2 after which number, $3 rows. */
export const SINCE: Sql = 'SELECT * FROM chat_messages WHERE agent_id = $1 AND number > $2 ORDER BY number LIMIT $3'

/** $1 agent, $2 reader, $3 how far, $4 now. */
export const MARK: Sql = `INSERT INTO chat_markers (agent_id, reader, read_to, updated_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (agent_id, reader) DO UPDATE SET read_to = excluded.read_to, updated_at = excluded.updated_at
  WHERE chat_markers.read_to < excluded.read_to`
/** $1 agent, $2 reader. */
export const MARKER: Sql = 'SELECT * FROM chat_markers WHERE agent_id = $1 AND reader = $2'
/** $1 agent, $2 rows. */
export const MARKERS: Sql = 'SELECT * FROM chat_markers WHERE agent_id = $1 ORDER BY updated_at DESC, reader LIMIT $2'
/** $1 agent, $2 how many stay. */
export const PRUNE_MARKERS: Sql = `DELETE FROM chat_markers WHERE agent_id = $1 AND reader NOT IN
  (SELECT reader FROM chat_markers WHERE agent_id = $1 ORDER BY updated_at DESC, reader LIMIT $2)`

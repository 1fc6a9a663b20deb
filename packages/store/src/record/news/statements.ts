import type { Sql } from '@parley/database'

/** $1 agent: the number of the next piece of news. Whoever gives one has locked the agent. */
export const NEXT_NUMBER: Sql = `INSERT INTO loops (agent_id, last_news) VALUES ($1, 1)
  ON CONFLICT (agent_id) DO UPDATE SET last_news = loops.last_news + 1 RETURNING last_news`
/** $1 agent, $2 number, $3 kind, $4 hash, $5 subject, $6 body, $7 now. What was said of the same subject before gives way. */
export const PUT: Sql = `INSERT INTO news (agent_id, number, kind, hash, subject, body, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (agent_id, kind, hash) DO UPDATE SET number = excluded.number, body = excluded.body, created_at = excluded.created_at`
/** $1 agent, $2 how many of the newest stay. */
export const PRUNE: Sql = `DELETE FROM news WHERE agent_id = $1
  AND number <= (SELECT number FROM news WHERE agent_id = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)`

export const LOOP: Sql = 'SELECT * FROM loops WHERE agent_id = $1'
/** $1 agent, $2 rows. */
export const PENDING: Sql = 'SELECT * FROM news WHERE agent_id = $1 ORDER BY number LIMIT $2'
/** $1 agent, $2 after which place, $3 rows: what people said. */
export const SAID: Sql = `SELECT * FROM chat_messages WHERE agent_id = $1 AND number > $2 AND said_from = 'person' ORDER BY number LIMIT $3`
/** $1 agent, $2 number, $3 rows. */
export const UNWOKEN: Sql = 'SELECT kind, subject FROM news WHERE agent_id = $1 AND number > $2 ORDER BY number LIMIT $3'

/** $1 agent, $2 up to which number. */
export const HEAR_NEWS: Sql = 'DELETE FROM news WHERE agent_id = $1 AND number <= $2'
const hearChat = (smaller: string) => `INSERT INTO loops (agent_id, heard_chat)
  SELECT CAST($1 AS TEXT), ${smaller}(CAST($2 AS BIGINT), coalesce(max(number), 0)) FROM chat_messages WHERE agent_id = $1
  ON CONFLICT (agent_id) DO UPDATE SET heard_chat = excluded.heard_chat WHERE loops.heard_chat < excluded.heard_chat`
/** $1 agent, $2 up to which place. It never goes back, and never beyond what was said. */
export const HEAR_CHAT: Sql = { sqlite: hearChat('min'), postgres: hearChat('least') }

/** $1 agent, $2 by whom it was woken at that time or null, $3 when somebody is to look again: all that there is now has woken it. */
export const WOKEN: Sql = `INSERT INTO loops (agent_id, woken_chat, woken_at, wake_at)
  SELECT CAST($1 AS TEXT), coalesce(max(number), 0), CAST($2 AS BIGINT), CAST($3 AS BIGINT) FROM chat_messages WHERE agent_id = $1
  ON CONFLICT (agent_id) DO UPDATE SET woken_news = loops.last_news, woken_chat = excluded.woken_chat,
    woken_at = coalesce(excluded.woken_at, loops.woken_at), wake_at = excluded.wake_at`
/** $1 agent, $2 when somebody is to look again. */
export const LOOK_AT: Sql = 'UPDATE loops SET wake_at = $2 WHERE agent_id = $1'
/** $1 agent, $2 for what it rests. */
export const SET_REST: Sql = 'UPDATE loops SET waits = $2 WHERE agent_id = $1'
/** $1 agent, $2 prompt, $3 for what it rests, $4 when somebody is to look. */
export const YIELD: Sql = `INSERT INTO loops (agent_id, yielded, waits, wake_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (agent_id) DO UPDATE SET yielded = excluded.yielded, waits = excluded.waits, wake_at = excluded.wake_at`
/** Somebody wants it to end: it waits for nothing of its own any more. */
export const END_REST: Sql = `UPDATE loops SET waits = NULL, wake_at = NULL
  WHERE agent_id = $1 AND (waits IS NOT NULL OR wake_at IS NOT NULL)`
/** A turn begins: it rests no more. */
export const BEGIN: Sql = `UPDATE loops SET yielded = NULL, waits = NULL, wake_at = NULL
  WHERE agent_id = $1 AND (yielded IS NOT NULL OR waits IS NOT NULL OR wake_at IS NOT NULL)`
/** One that nobody's prompt began: what came since it was woken has woken it, too. */
export const BEGIN_WOKEN: Sql = `UPDATE loops SET yielded = NULL, waits = NULL, wake_at = NULL, woken_news = last_news,
  woken_chat = (SELECT coalesce(max(number), 0) FROM chat_messages WHERE agent_id = $1) WHERE agent_id = $1`
/** $1 agent, $2 prompt, $3 fence. */
export const RUNS: Sql = `SELECT woken_by FROM prompts WHERE agent_id = $1 AND id = $2 AND status = 'running' AND fence = $3`

/**
 * $1 agent, $2 hash of a URI, $3 its digest or null, $4 whether it has changed: nothing where the agent was told just this, or does not listen. What
 * cannot be known is a change where its server says so, and else none: a server that ends again and again would wake its agent each time.
 */
export const TELL: Sql = `UPDATE subscriptions SET told = CAST($3 AS TEXT) WHERE agent_id = $1 AND hash = $2
  AND (CAST($4 AS INTEGER) = 1 OR (CAST($3 AS TEXT) IS NOT NULL AND told IS DISTINCT FROM CAST($3 AS TEXT)))`

/** $1 now, $2 rows: those that rest, whose time has come and whose owner may use them. */
export const DUE: Sql = `SELECT l.agent_id FROM loops l JOIN agents a ON a.id = l.agent_id JOIN users u ON u.id = a.owner_id
  WHERE l.wake_at <= $1 AND a.status = 'active' AND u.disabled = 0 AND u.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM prompts p WHERE p.agent_id = l.agent_id AND p.status IN ('queued', 'running'))
  ORDER BY l.wake_at, l.agent_id LIMIT $2`

import type { Sql } from '@parley/database'

/** Its name is written with the rest of what it said. */
export const ADD: Sql = `INSERT INTO judges (machine_id, name, first_seen_at, last_seen_at, token_id) VALUES ($1, '', $2, $2, $3)
  ON CONFLICT (machine_id) DO NOTHING`
export const JUDGE = 'SELECT * FROM judges WHERE machine_id = $1'
export const JUDGE_FOR_CHANGE: Sql = { sqlite: JUDGE, postgres: `${JUDGE} FOR UPDATE` }
export const SEEN: Sql = `UPDATE judges SET name = $2, facts = coalesce($4, facts), token_id = $5, left_at = NULL,
  last_seen_at = CASE WHEN last_seen_at < $3 THEN $3 ELSE last_seen_at END WHERE machine_id = $1`
export const ALIVE: Sql = 'UPDATE judges SET last_seen_at = $2 WHERE machine_id = $1 AND last_seen_at < $2'
export const LEFT: Sql = 'UPDATE judges SET left_at = $2 WHERE machine_id = $1 AND left_at IS NULL'
export const PRUNE: Sql = 'DELETE FROM judges WHERE last_seen_at < $1 AND (drain = 0 OR last_seen_at < $2)'
export const DRAIN: Sql = 'UPDATE judges SET drain = $2 WHERE machine_id = $1 AND drain <> $2'
export const LIST: Sql = 'SELECT * FROM judges WHERE last_seen_at >= $1 ORDER BY machine_id LIMIT $2'

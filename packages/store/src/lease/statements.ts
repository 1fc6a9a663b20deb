import type { Sql } from '../database/database.ts'
import { heldBy } from './fence.ts'

export const OFFER: Sql =
  'INSERT INTO leases (queue, key, payload, available_at, lane) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (queue, key) DO NOTHING'

const CLAIM_IT = 'UPDATE leases SET holder = $2, turns = turns + 1, claims = claims + 1, available_at = $4'
const CLAIMED = 'RETURNING id, turns, key, payload, claims'
/** The first item of a lane that is there for the taking: it waits and is due, or ran out. */
const claimable = (lane: string) =>
  `SELECT id FROM leases WHERE queue = $1 AND lane = ${lane} AND available_at <= $3 ORDER BY id LIMIT 1`
/** As `claimable`, where the first item of the lane is at hand and usually is the one. */
const claimableFrom = (first: string) =>
  `CASE WHEN ${first}.available_at <= $3 THEN ${first}.id ELSE (${claimable(`${first}.lane`)}) END`
const heldOf = (lane: string, by = '') =>
  `SELECT count(*) FROM leases ${by} WHERE queue = $1 AND lane = ${lane} AND holder IS NOT NULL AND available_at > $3`

/** Most queues have one lane, and there is nothing to count. */
const claimSqlite = `${CLAIM_IT} WHERE id = CASE
  WHEN (SELECT min(lane) FROM leases WHERE queue = $1) = (SELECT max(lane) FROM leases WHERE queue = $1)
  THEN (${claimable('(SELECT min(lane) FROM leases WHERE queue = $1)')})
  ELSE (
    WITH RECURSIVE lanes (lane, id, available_at) AS (
      SELECT lane, id, available_at FROM leases
      WHERE id = (SELECT id FROM leases WHERE queue = $1 ORDER BY lane, id LIMIT 1)
      UNION ALL
      SELECT l.lane, l.id, l.available_at FROM lanes p JOIN leases l
      ON l.id = (SELECT id FROM leases WHERE queue = $1 AND lane > p.lane ORDER BY lane, id LIMIT 1)
    )
    SELECT ${claimableFrom('lanes')} AS first FROM lanes WHERE first IS NOT NULL
    ORDER BY (${heldOf('lanes.lane', 'INDEXED BY leases_held')}), first LIMIT 1
  ) END ${CLAIMED}`

/**
 * Others claim at the same time. What they have locked or just taken is passed over, in the lane first and then for the next
 * lane, so that nobody leaves with nothing while there is something. The lanes come in their order because only a loop over
 * them can run what is LATERAL to them; it ends with the first item, so that one claim never locks two.
 */
const claimPostgres = `${CLAIM_IT} WHERE queue = $1 AND (lane, id) = (
  WITH RECURSIVE lanes AS (
    (SELECT lane, id, available_at FROM leases WHERE queue = $1 ORDER BY lane, id LIMIT 1)
    UNION ALL
    SELECT l.lane, l.id, l.available_at FROM lanes p CROSS JOIN LATERAL
      (SELECT lane, id, available_at FROM leases WHERE queue = $1 AND lane > p.lane ORDER BY lane, id LIMIT 1) AS l
  ), ranked AS MATERIALIZED (
    SELECT lane FROM (SELECT lane, ${claimableFrom('lanes')} AS first FROM lanes) AS found
    WHERE first IS NOT NULL ORDER BY (${heldOf('found.lane')}), first
  )
  SELECT ranked.lane, item.id FROM ranked CROSS JOIN LATERAL (${claimable('ranked.lane')} FOR UPDATE SKIP LOCKED) AS item LIMIT 1
  ) ${CLAIMED}`

/**
 * $1 queue, $2 holder, $3 now, $4 expiry. The next item is the oldest of the lane with the fewest held ones; among equals the
 * oldest item counts. From one lane to the next is one step in an index: to read all items would take the longer the more wait.
 */
export const CLAIM: Sql = { sqlite: claimSqlite, postgres: claimPostgres }

/** When the first item of a queue becomes, or became, claimable. */
export const NEXT_DUE: Sql = 'SELECT min(available_at) AS due FROM leases WHERE queue = $1'

export const RENEW: Sql = `UPDATE leases SET available_at = $6 WHERE ${heldBy(1)}`
export const RELEASE: Sql = `UPDATE leases SET holder = NULL, available_at = $6, claims = claims - $7 WHERE ${heldBy(1)}`
export const COMPLETE: Sql = `DELETE FROM leases WHERE ${heldBy(1)}`
export const CHECK: Sql = `SELECT 1 AS one FROM leases WHERE ${heldBy(1)}`

export const WITHDRAW: Sql = 'DELETE FROM leases WHERE queue = $1 AND key = $2'
/** Also those that ran out and were not taken: they did so while nobody could renew them. */
export const GRACE: Sql = 'UPDATE leases SET available_at = $1 WHERE holder IS NOT NULL AND available_at < $1'
export const GET: Sql = `SELECT id, turns, holder, claims, available_at, payload FROM leases
  WHERE queue = $1 AND key = $2 AND holder IS NOT NULL AND available_at > $3`
export const COUNT: Sql = `SELECT count(*) AS total,
  coalesce(sum(CASE WHEN holder IS NOT NULL AND available_at > $2 THEN 1 ELSE 0 END), 0) AS held FROM leases WHERE queue = $1`

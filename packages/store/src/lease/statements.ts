import type { Sql } from '../database/database.ts'
import { heldBy } from './fence.ts'

export const OFFER: Sql =
  'INSERT INTO leases (queue, key, payload, available_at) VALUES ($1, $2, $3, $4) ON CONFLICT (queue, key) DO NOTHING'

const claim = (lock: string) => `
  UPDATE leases SET holder = $2, turns = turns + 1, claims = claims + 1, available_at = $4
  WHERE queue = $1 AND id = (SELECT id FROM leases WHERE queue = $1 AND available_at <= $3 ORDER BY id LIMIT 1 ${lock})
  RETURNING id, turns, key, payload, claims`
/** $1 queue, $2 holder, $3 now, $4 expiry. An item is there for the taking when it waits and is due, or ran out. */
export const CLAIM: Sql = { sqlite: claim(''), postgres: claim('FOR UPDATE SKIP LOCKED') }

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

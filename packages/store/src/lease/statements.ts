import type { Sql } from '@parley/database'
import { heldBy } from './fence.ts'

/** The last round that was begun. It only grows, so what nobody can take holds up no round but its own. */
const SERVED = 'coalesce((SELECT served.round FROM served_rounds served WHERE served.queue = $1), -1)'
const LAST_OF_LANE = 'coalesce((SELECT max(round) FROM leases WHERE queue = $1 AND lane = $5), -1)'
const offer = (larger: string) => `INSERT INTO leases (queue, key, payload, available_at, lane, round)
  VALUES ($1, $2, $3, $4, $5, ${larger}(${SERVED}, ${LAST_OF_LANE}) + 1) ON CONFLICT (queue, key) DO NOTHING`
/**
 * $1 queue, $2 key, $3 payload, $4 when it is due, $5 lane. In each round a lane has one item. Nobody joins a round that has begun:
 * whoever was just served there would, again and again, and it would never end. So the next one is the first to stand in, and whoever
 * brings a hundred at once stands in a hundred.
 */
export const OFFER: Sql = { sqlite: offer('max'), postgres: offer('greatest') }

/**
 * $1 queue, $2 key: its round has begun. Only a higher one is written: most claims are of the round of the one before, and those at several
 * gateways do not wait for each other then.
 */
export const SERVE: Sql = `INSERT INTO served_rounds (queue, round) SELECT queue, round FROM leases
  WHERE queue = $1 AND key = $2 AND round > ${SERVED}
  ON CONFLICT (queue) DO UPDATE SET round = excluded.round WHERE served_rounds.round < excluded.round`

const claim = (lock: string) => `
  UPDATE leases SET holder = $2, turns = turns + 1, claims = claims + 1, available_at = $4
  WHERE queue = $1 AND id = (SELECT id FROM leases WHERE queue = $1 AND available_at <= $3 ORDER BY round, id LIMIT 1 ${lock})
  RETURNING id, turns, key, payload, claims`
/**
 * $1 queue, $2 holder, $3 now, $4 expiry. An item is there for the taking when it waits and is due, or ran out. The earliest round is next,
 * and in a round the oldest item.
 */
export const CLAIM: Sql = { sqlite: claim(''), postgres: claim('FOR UPDATE SKIP LOCKED') }

/** When the first item of a queue becomes, or became, claimable. */
export const NEXT_DUE: Sql = 'SELECT min(available_at) AS due FROM leases WHERE queue = $1'

export const RENEW: Sql = `UPDATE leases SET available_at = $7 WHERE ${heldBy(1)}`
export const RELEASE: Sql = `UPDATE leases SET holder = NULL, available_at = $7, claims = claims - $8 WHERE ${heldBy(1)}`
export const COMPLETE: Sql = `DELETE FROM leases WHERE ${heldBy(1)}`
export const CHECK = `SELECT 1 AS one FROM leases WHERE ${heldBy(1)}`
/** As `CHECK`, and nobody takes it before the end of the transaction. */
export const CHECK_FOR_CHANGE: Sql = { sqlite: CHECK, postgres: `${CHECK} FOR UPDATE` }

export const WITHDRAW: Sql = 'DELETE FROM leases WHERE queue = $1 AND key = $2'
/** Also those that ran out and were not taken: they did so while nobody could renew them. */
export const GRACE: Sql = 'UPDATE leases SET available_at = $1 WHERE holder IS NOT NULL AND available_at < $1'
export const GET: Sql = `SELECT id, turns, holder, claims, available_at, payload FROM leases
  WHERE queue = $1 AND key = $2 AND holder IS NOT NULL AND available_at > $3`
export const COUNT: Sql = `SELECT count(*) AS total,
  coalesce(sum(CASE WHEN holder IS NOT NULL AND available_at > $2 THEN 1 ELSE 0 END), 0) AS held FROM leases WHERE queue = $1`

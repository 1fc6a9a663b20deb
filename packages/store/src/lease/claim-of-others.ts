import { type Sql, jsonTexts } from '@parley/database'

/** How far ahead in the queue a claim looks that leaves lanes out, before it looks at the lanes one by one. */
const NEAR_ITEMS = 64
/** How many it chooses among: those that others are taking in this moment are passed over. */
const CHOICES = 16

const LEFT_OUT = jsonTexts('$5')
type Engine = keyof typeof LEFT_OUT

/** Of the items that are next in the queue, those of other lanes. */
const near = (engine: Engine) => `SELECT id FROM (SELECT id, lane, round FROM leases WHERE queue = $1 AND available_at <= $3
  ORDER BY round, id LIMIT ${NEAR_ITEMS}) AS next WHERE lane NOT IN (${LEFT_OUT[engine]}) ORDER BY round, id`

/** The lanes in which something waits: one step in the index for each, however much it is. */
const LANES = `WITH RECURSIVE lanes (lane) AS (SELECT min(lane) FROM leases WHERE queue = $1 AND holder IS NULL UNION ALL
  SELECT (SELECT min(l.lane) FROM leases l WHERE l.queue = $1 AND l.holder IS NULL AND l.lane > lanes.lane) FROM lanes WHERE lanes.lane IS NOT NULL)`
const FIRST =
  'FROM leases l WHERE l.queue = $1 AND l.holder IS NULL AND l.lane = lanes.lane AND l.available_at <= $3 ORDER BY l.round, l.id LIMIT 1'
const others = (engine: Engine) => `lanes.lane IS NOT NULL AND lanes.lane NOT IN (${LEFT_OUT[engine]})`
/** The first that is due of each of the other lanes. Each engine has its own way to be told to go through the lanes one by one. */
const WAITING = {
  sqlite: `SELECT l.id, l.round FROM (SELECT (SELECT l.id ${FIRST}) AS id FROM lanes WHERE ${others('sqlite')}) AS firsts
    CROSS JOIN leases l WHERE l.id = firsts.id`,
  postgres: `SELECT firsts.id, firsts.round FROM lanes CROSS JOIN LATERAL (SELECT l.id, l.round ${FIRST}) AS firsts WHERE ${others('postgres')}`,
}
/** What ran out in other lanes. */
const ranOut = (engine: Engine) =>
  `SELECT id, round FROM leases WHERE queue = $1 AND holder IS NOT NULL AND available_at <= $3 AND lane NOT IN (${LEFT_OUT[engine]})`
const far = (engine: Engine) =>
  `${LANES} SELECT id FROM (${WAITING[engine]} UNION ALL ${ranOut(engine)}) AS firsts ORDER BY round, id`

const TAKE = `UPDATE leases SET holder = $2, turns = turns + 1, claims = claims + 1, available_at = $4
  WHERE queue = $1 AND available_at <= $3 AND id`
const GIVES = 'RETURNING id, turns, key, payload, claims'
const claim = (choices: (engine: Engine) => string): Sql => ({
  sqlite: `${TAKE} = (${choices('sqlite')} LIMIT 1) ${GIVES}`,
  // One row is locked, and none is waited for: the lateral part keeps the order, and the limit ends it.
  postgres: `${TAKE} = (SELECT free.id FROM unnest(ARRAY(${choices('postgres')} LIMIT ${CHOICES})) AS chosen (id)
    CROSS JOIN LATERAL (SELECT l.id FROM leases l WHERE l.queue = $1 AND l.id = chosen.id AND l.available_at <= $3 FOR UPDATE SKIP LOCKED) AS free
    LIMIT 1) ${GIVES}`,
})

/**
 * As `CLAIM`, of lanes that are not in the JSON array $5, among the items that are next. Whoever comes with one stands in the next round,
 * so that is where it is found, if hundreds of others wait too.
 */
export const CLAIM_NEAR: Sql = claim(near)
/** The same wherever it stands. It looks at the first item of each lane: the thousands that may wait in one that is left out cost nothing. */
export const CLAIM_FAR: Sql = claim(far)

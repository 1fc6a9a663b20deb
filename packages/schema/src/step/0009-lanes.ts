import type { Migration } from './migration.ts'

/**
 * Items of one queue stand in lanes, so that whoever offers many does not make all others wait for them: a lane has one item in each
 * round. A job's lane is its owner. Those that are there stand in their lanes in the order in which they came.
 */
const FILL = `
UPDATE leases SET lane = coalesce((SELECT j.owner_id FROM jobs j WHERE j.id = leases.key), '') WHERE queue = 'jobs';
UPDATE leases SET round = places.place
  FROM (SELECT queue, id, row_number() OVER (PARTITION BY queue, lane ORDER BY id) - 1 AS place FROM leases) AS places
  WHERE leases.queue = places.queue AND leases.id = places.id;
CREATE INDEX leases_of_lane ON leases (queue, lane, round);
`

export const lanes: Migration = {
  version: 9,
  name: 'lanes',
  sqlite: `
ALTER TABLE leases ADD COLUMN lane TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN round INTEGER NOT NULL DEFAULT 0;
${FILL}
DROP INDEX leases_in_order;
CREATE INDEX leases_in_order ON leases (queue, round);
`,
  postgres: `
ALTER TABLE leases ADD COLUMN lane TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN round BIGINT NOT NULL DEFAULT 0;
${FILL}
CREATE INDEX leases_in_order ON leases (queue, round, id);
`,
}

import type { Migration } from './migration.ts'

/**
 * Items of one queue stand in lanes, so that whoever offers many does not make all others wait for them. A job's lane is its
 * owner. The items of a lane are found in their order, and those that somebody holds apart from the many that wait.
 */
export const lanes: Migration = {
  version: 9,
  name: 'lanes',
  sqlite: `
ALTER TABLE leases ADD COLUMN lane TEXT NOT NULL DEFAULT '';
UPDATE leases SET lane = coalesce((SELECT j.owner_id FROM jobs j WHERE j.id = leases.key), '') WHERE queue = 'jobs';
DROP INDEX leases_in_order;
CREATE INDEX leases_in_order ON leases (queue, lane);
CREATE INDEX leases_held ON leases (queue, lane) WHERE holder IS NOT NULL;
`,
  postgres: `
ALTER TABLE leases ADD COLUMN lane TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE leases SET lane = coalesce((SELECT j.owner_id FROM jobs j WHERE j.id = leases.key), '') WHERE queue = 'jobs';
ALTER TABLE leases DROP CONSTRAINT leases_pkey;
ALTER TABLE leases ADD PRIMARY KEY (queue, lane, id);
CREATE INDEX leases_held ON leases (queue, lane) WHERE holder IS NOT NULL;
`,
}

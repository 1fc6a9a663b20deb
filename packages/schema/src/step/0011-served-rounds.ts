import type { Migration } from './migration.ts'

/**
 * Which round of a queue was served last. It cannot be read off what waits: what no judge can do waits in an early round for as long as it
 * likes. Of the queues that are there the highest round is taken that somebody has claimed, or the first that waits.
 */
const FILL = `
INSERT INTO served_rounds (queue, round)
  SELECT queue, coalesce(max(CASE WHEN turns > 0 THEN round END), min(round)) FROM leases GROUP BY queue;
`

export const servedRounds: Migration = {
  version: 11,
  name: 'served rounds',
  sqlite: `
CREATE TABLE served_rounds (queue TEXT PRIMARY KEY, round INTEGER NOT NULL) STRICT, WITHOUT ROWID;
${FILL}
`,
  postgres: `
CREATE TABLE served_rounds (queue TEXT COLLATE "C" PRIMARY KEY, round BIGINT NOT NULL) WITH (fillfactor = 50);
${FILL}
`,
}

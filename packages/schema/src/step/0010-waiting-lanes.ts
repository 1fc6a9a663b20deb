import type { Migration } from './migration.ts'

/** For claims that leave lanes out: the lanes in which something waits, and apart from them what is held, which may have run out. */
const INDEXES = `
CREATE INDEX leases_waiting ON leases (queue, lane, round, id) WHERE holder IS NULL;
CREATE INDEX leases_held ON leases (queue) WHERE holder IS NOT NULL;
`

export const waitingLanes: Migration = { version: 10, name: 'waiting lanes', sqlite: INDEXES, postgres: INDEXES }

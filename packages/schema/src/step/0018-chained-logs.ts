import type { Migration } from './migration.ts'

/**
 * A log may lose its oldest entries: `first_seq` and `first_offset` are where it begins. What each entry of a log is chained by stands with it,
 * and where the chain stands with the log; both are null for what was written before, and for logs that are not chained.
 */
const columns = (integer: string, bytes: string) => `
ALTER TABLE logs ADD COLUMN first_seq ${integer} NOT NULL DEFAULT 0;
ALTER TABLE logs ADD COLUMN first_offset ${integer} NOT NULL DEFAULT 0;
ALTER TABLE logs ADD COLUMN chain_head ${bytes};
ALTER TABLE log_entries ADD COLUMN chain ${bytes};
`

export const chainedLogs: Migration = {
  version: 18,
  name: 'chained-logs',
  sqlite: columns('INTEGER', 'BLOB'),
  postgres: columns('BIGINT', 'BYTEA'),
}

import type { Migration } from './migration.ts'

/** A deleted account leaves a row without a name, a password or rights behind, because jobs and tokens refer to it. */
export const deletedUsers: Migration = {
  version: 5,
  name: 'deleted-users',
  sqlite: 'ALTER TABLE users ADD COLUMN deleted_at INTEGER',
  postgres: 'ALTER TABLE users ADD COLUMN deleted_at BIGINT',
}

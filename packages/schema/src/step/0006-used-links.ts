import type { Migration } from './migration.ts'

/** A link that was used stays until some time after its end, so that whoever opens it again can be told what became of it. */
export const usedLinks: Migration = {
  version: 6,
  name: 'used links',
  sqlite: 'ALTER TABLE sign_in_links ADD COLUMN used_at INTEGER',
  postgres: 'ALTER TABLE sign_in_links ADD COLUMN used_at BIGINT',
}

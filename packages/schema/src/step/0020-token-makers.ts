import type { Migration } from './migration.ts'

/**
 * Which token with scopes made this one. Null: a person did, or a token without scopes, or it was made before. It refers to a row of the same
 * table and is no foreign key, because a backup is restored in the order of the ids.
 */
const column = (text: string) => `
ALTER TABLE tokens ADD COLUMN made_by ${text} CONSTRAINT tokens_made_by_has_scopes CHECK (made_by IS NULL OR scopes IS NOT NULL);
CREATE INDEX tokens_by_maker ON tokens (made_by) WHERE made_by IS NOT NULL;
`

export const tokenMakers: Migration = {
  version: 20,
  name: 'token makers',
  sqlite: column('TEXT'),
  postgres: column('TEXT COLLATE "C"'),
}

import type { Migration } from './migration.ts'

/** What a token is limited to, as words with a blank between. Null: by nothing, as all tokens are that were made before. */
const column = `
ALTER TABLE tokens ADD COLUMN scopes TEXT CONSTRAINT tokens_scopes_of_user CHECK (scopes IS NULL OR role = 'user');
`

export const scopes: Migration = { version: 19, name: 'scopes', sqlite: column, postgres: column }

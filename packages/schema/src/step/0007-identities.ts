import type { Migration } from './migration.ts'

/** Whom an identity provider means by a person: its name and the subject that it never gives to anybody else. Set by an admin. */
export const identities: Migration = {
  version: 7,
  name: 'identities',
  sqlite: `
ALTER TABLE users ADD COLUMN identity_issuer TEXT;
ALTER TABLE users ADD COLUMN identity_subject TEXT;
CREATE UNIQUE INDEX users_identity ON users (identity_issuer, identity_subject);
`,
  postgres: `
ALTER TABLE users ADD COLUMN identity_issuer TEXT COLLATE "C";
ALTER TABLE users ADD COLUMN identity_subject TEXT COLLATE "C";
CREATE UNIQUE INDEX users_identity ON users (identity_issuer, identity_subject);
`,
}

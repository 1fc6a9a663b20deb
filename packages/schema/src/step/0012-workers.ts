import type { Migration } from './migration.ts'

/**
 * Workers that hold a connection to every gateway: hosts and executors, by kind and name. `instance` is one start of one;
 * a second one of the same name is refused while the first is here. `gateways` is where they find each of them.
 */
export const workers: Migration = {
  version: 12,
  name: 'workers',
  sqlite: `
CREATE TABLE workers (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  token_id TEXT,
  instance TEXT NOT NULL,
  drain INTEGER NOT NULL DEFAULT 0,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  left_at INTEGER,
  slots INTEGER NOT NULL,
  labels TEXT NOT NULL,
  facts TEXT NOT NULL,
  load TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE gateways (
  id TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  postgres: `
CREATE TABLE workers (
  kind TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  token_id TEXT COLLATE "C",
  instance TEXT COLLATE "C" NOT NULL,
  drain INTEGER NOT NULL DEFAULT 0,
  first_seen_at BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL,
  left_at BIGINT,
  slots INTEGER NOT NULL,
  labels TEXT NOT NULL,
  facts TEXT NOT NULL,
  load TEXT NOT NULL,
  PRIMARY KEY (kind, name)
);
CREATE TABLE gateways (
  id TEXT COLLATE "C" PRIMARY KEY,
  url TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL
);
`,
}

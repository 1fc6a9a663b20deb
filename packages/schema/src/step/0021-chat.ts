import type { Migration } from './migration.ts'

/** What people and agents say to each other, and how far each reader has read. */
export const chat: Migration = {
  version: 21,
  name: 'chat',
  sqlite: `
CREATE TABLE chat_messages (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  said_from TEXT NOT NULL,
  said_by TEXT NOT NULL,
  body TEXT NOT NULL,
  post_key TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, number),
  UNIQUE (agent_id, said_from, said_by, post_key)
) STRICT;
CREATE TABLE chat_markers (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  reader TEXT NOT NULL,
  read_to INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, reader)
) STRICT;
`,
  postgres: `
CREATE TABLE chat_messages (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  said_from TEXT NOT NULL,
  said_by TEXT NOT NULL,
  body TEXT NOT NULL,
  post_key TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, number),
  UNIQUE (agent_id, said_from, said_by, post_key)
);
CREATE TABLE chat_markers (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  reader TEXT COLLATE "C" NOT NULL,
  read_to BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, reader)
);
`,
}

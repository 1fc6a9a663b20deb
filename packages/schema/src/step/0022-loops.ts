import type { Migration } from './migration.ts'

/** What agents are to be told before their next request to a model, up to where they were, and for what they rest. */
export const loops: Migration = {
  version: 22,
  name: 'loops',
  sqlite: `
CREATE TABLE news (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  hash TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, number),
  UNIQUE (agent_id, kind, hash)
) STRICT;
CREATE TABLE loops (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  last_news INTEGER NOT NULL DEFAULT 0,
  heard_chat INTEGER NOT NULL DEFAULT 0,
  woken_news INTEGER NOT NULL DEFAULT 0,
  woken_chat INTEGER NOT NULL DEFAULT 0,
  woken_at INTEGER,
  yielded TEXT,
  waits TEXT,
  wake_at INTEGER
) STRICT;
CREATE INDEX loops_wake ON loops (wake_at) WHERE wake_at IS NOT NULL;
ALTER TABLE prompts ADD COLUMN woken_by TEXT;
ALTER TABLE subscriptions ADD COLUMN told TEXT;
-- What was said before there was a loop is not new to anybody.
INSERT INTO loops (agent_id, heard_chat, woken_chat) SELECT agent_id, max(number), max(number) FROM chat_messages GROUP BY agent_id;
`,
  postgres: `
CREATE TABLE news (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  kind TEXT NOT NULL,
  hash TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, number),
  UNIQUE (agent_id, kind, hash)
);
CREATE TABLE loops (
  agent_id TEXT COLLATE "C" PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  last_news BIGINT NOT NULL DEFAULT 0,
  heard_chat BIGINT NOT NULL DEFAULT 0,
  woken_news BIGINT NOT NULL DEFAULT 0,
  woken_chat BIGINT NOT NULL DEFAULT 0,
  woken_at BIGINT,
  yielded TEXT,
  waits TEXT,
  wake_at BIGINT
);
CREATE INDEX loops_wake ON loops (wake_at) WHERE wake_at IS NOT NULL;
ALTER TABLE prompts ADD COLUMN woken_by TEXT;
ALTER TABLE subscriptions ADD COLUMN told TEXT;
-- What was said before there was a loop is not new to anybody.
INSERT INTO loops (agent_id, heard_chat, woken_chat) SELECT agent_id, max(number), max(number) FROM chat_messages GROUP BY agent_id;
`,
}

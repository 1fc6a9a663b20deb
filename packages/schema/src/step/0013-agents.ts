import type { Migration } from './migration.ts'

/**
 * Agents, what is mounted for them, what they listen to, and what people's agents may run. What a host reported counts while the lease is
 * held under `fence`. `plain` stands beside the options, so that an index sees to it that an agent has one such mount. What is listened to
 * goes by the hash of its URI, because an index of PostgreSQL does not take texts that long. Until now tokens were made for agents that
 * were never there: they end, since no agent will ever have their ids.
 */
export const agents: Migration = {
  version: 13,
  name: 'agents',
  sqlite: `
CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  preset TEXT NOT NULL,
  settings TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active',
  version INTEGER NOT NULL DEFAULT 1,
  reported TEXT NOT NULL DEFAULT '[]',
  fence INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (owner_id, name)
) STRICT;
CREATE INDEX agents_by_age ON agents (created_at, id);
CREATE INDEX agents_by_owner ON agents (owner_id, created_at, id);
CREATE INDEX agents_deleting ON agents (id) WHERE status = 'deleting';
CREATE TABLE mounts (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sealed TEXT NOT NULL,
  shown TEXT NOT NULL,
  options TEXT NOT NULL,
  plain INTEGER NOT NULL,
  version INTEGER NOT NULL,
  attached_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, name)
) STRICT;
CREATE UNIQUE INDEX mounts_plain ON mounts (agent_id) WHERE plain = 1;
CREATE TABLE subscriptions (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  uri TEXT NOT NULL,
  PRIMARY KEY (agent_id, hash)
) STRICT;
CREATE TABLE grants (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  body TEXT NOT NULL,
  set_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tokens_by_agent ON tokens (agent_id) WHERE agent_id IS NOT NULL;
UPDATE tokens SET revoked_at = unixepoch() * 1000 WHERE role = 'agent' AND revoked_at IS NULL;
`,
  postgres: `
CREATE TABLE agents (
  id TEXT COLLATE "C" PRIMARY KEY,
  owner_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  name TEXT COLLATE "C" NOT NULL,
  kind TEXT NOT NULL,
  preset TEXT NOT NULL,
  settings TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active',
  version BIGINT NOT NULL DEFAULT 1,
  reported TEXT NOT NULL DEFAULT '[]',
  fence BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (owner_id, name)
);
CREATE INDEX agents_by_age ON agents (created_at, id);
CREATE INDEX agents_by_owner ON agents (owner_id, created_at, id);
CREATE INDEX agents_deleting ON agents (id) WHERE status = 'deleting';
CREATE TABLE mounts (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  sealed TEXT NOT NULL,
  shown TEXT NOT NULL,
  options TEXT NOT NULL,
  plain INTEGER NOT NULL,
  version BIGINT NOT NULL,
  attached_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, name)
);
CREATE UNIQUE INDEX mounts_plain ON mounts (agent_id) WHERE plain = 1;
CREATE TABLE subscriptions (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  hash TEXT COLLATE "C" NOT NULL,
  uri TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (agent_id, hash)
);
CREATE TABLE grants (
  user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
  body TEXT NOT NULL,
  set_at BIGINT NOT NULL
);
CREATE INDEX tokens_by_agent ON tokens (agent_id) WHERE agent_id IS NOT NULL;
UPDATE tokens SET revoked_at = CAST(extract(epoch FROM now()) * 1000 AS BIGINT) WHERE role = 'agent' AND revoked_at IS NULL;
`,
}

import type { Migration } from './migration.ts'

/** Calls that go on beside the turns of their agents, and what came of them. */
export const backgroundCalls: Migration = {
  version: 23,
  name: 'background-calls',
  sqlite: `
CREATE TABLE background_calls (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'running',
  fence INTEGER NOT NULL,
  result TEXT,
  result_bytes INTEGER,
  cut INTEGER NOT NULL DEFAULT 0,
  error INTEGER NOT NULL DEFAULT 0,
  message TEXT NOT NULL DEFAULT '""',
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (agent_id, number)
) STRICT;
CREATE INDEX background_calls_running ON background_calls (agent_id, fence) WHERE state = 'running';
`,
  postgres: `
CREATE TABLE background_calls (
  id TEXT COLLATE "C" PRIMARY KEY,
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'running',
  fence BIGINT NOT NULL,
  result TEXT,
  result_bytes BIGINT,
  cut SMALLINT NOT NULL DEFAULT 0,
  error SMALLINT NOT NULL DEFAULT 0,
  message TEXT NOT NULL DEFAULT '""',
  started_at BIGINT NOT NULL,
  ended_at BIGINT,
  UNIQUE (agent_id, number)
);
CREATE INDEX background_calls_running ON background_calls (agent_id, fence) WHERE state = 'running';
`,
}

import type { Migration } from './migration.ts'

/** What people tell local agents. An index sees to it that one of an agent's is answered at a time. */
export const prompts: Migration = {
  version: 14,
  name: 'prompts',
  sqlite: `
CREATE TABLE prompts (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  body TEXT NOT NULL,
  told_by TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'queued',
  aborted_at INTEGER,
  outcome TEXT,
  fence INTEGER,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  UNIQUE (agent_id, number)
) STRICT;
CREATE UNIQUE INDEX prompts_running ON prompts (agent_id) WHERE status = 'running';
CREATE INDEX prompts_queued ON prompts (agent_id, number) WHERE status = 'queued';
`,
  postgres: `
CREATE TABLE prompts (
  id TEXT COLLATE "C" PRIMARY KEY,
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  body TEXT NOT NULL,
  told_by TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'queued',
  aborted_at BIGINT,
  outcome TEXT,
  fence BIGINT,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  UNIQUE (agent_id, number)
);
CREATE UNIQUE INDEX prompts_running ON prompts (agent_id) WHERE status = 'running';
CREATE INDEX prompts_queued ON prompts (agent_id, number) WHERE status = 'queued';
`,
}

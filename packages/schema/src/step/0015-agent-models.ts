import type { Migration } from './migration.ts'

/**
 * Models for agents. A key belongs to an attempt of a job, as until now, or to the turn of an agent's prompt. A call says for which agent and
 * prompt it was made; like a job's it refers to nothing, because it is kept longer. `agent_spending` holds what the calls of an agent came to
 * before a moment, so that nobody adds up all of them before the next one, and forgetting the oldest gives nothing back.
 */
export const agentModels: Migration = {
  version: 15,
  name: 'agent-models',
  sqlite: `
ALTER TABLE model_keys RENAME TO job_keys;
DROP INDEX model_keys_by_job;
DROP INDEX model_keys_by_age;
CREATE TABLE model_keys (
  hash TEXT PRIMARY KEY,
  job_id TEXT REFERENCES jobs (id) ON DELETE CASCADE,
  claim_id TEXT,
  claim INTEGER,
  attempt INTEGER,
  agent_id TEXT REFERENCES agents (id) ON DELETE CASCADE,
  fence INTEGER,
  prompt INTEGER,
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  budget TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (claim_id, attempt),
  UNIQUE (agent_id, prompt),
  CONSTRAINT model_keys_of_one CHECK (CASE WHEN job_id IS NULL
    THEN agent_id IS NOT NULL AND fence IS NOT NULL AND prompt IS NOT NULL AND claim_id IS NULL AND claim IS NULL AND attempt IS NULL
    ELSE claim_id IS NOT NULL AND claim IS NOT NULL AND attempt IS NOT NULL AND agent_id IS NULL AND fence IS NULL AND prompt IS NULL END)
) STRICT, WITHOUT ROWID;
INSERT INTO model_keys (hash, job_id, claim_id, claim, attempt, channel, model, budget, created_at)
SELECT hash, job_id, claim_id, claim, attempt, channel, model, budget, created_at FROM job_keys;
DROP TABLE job_keys;
CREATE INDEX model_keys_by_job ON model_keys (job_id);
CREATE INDEX model_keys_by_age ON model_keys (created_at);
ALTER TABLE usage ADD COLUMN agent_id TEXT;
ALTER TABLE usage ADD COLUMN prompt INTEGER;
CREATE INDEX usage_by_agent ON usage (agent_id, at, id) WHERE agent_id IS NOT NULL;
CREATE INDEX usage_by_prompt ON usage (agent_id, prompt) WHERE agent_id IS NOT NULL;
CREATE TABLE agent_spending (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  tokens INTEGER NOT NULL,
  microusd INTEGER NOT NULL,
  before_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  postgres: `
ALTER TABLE model_keys ALTER COLUMN job_id DROP NOT NULL;
ALTER TABLE model_keys ALTER COLUMN claim_id DROP NOT NULL;
ALTER TABLE model_keys ALTER COLUMN claim DROP NOT NULL;
ALTER TABLE model_keys ALTER COLUMN attempt DROP NOT NULL;
ALTER TABLE model_keys ADD COLUMN agent_id TEXT COLLATE "C" REFERENCES agents (id) ON DELETE CASCADE;
ALTER TABLE model_keys ADD COLUMN fence BIGINT;
ALTER TABLE model_keys ADD COLUMN prompt BIGINT;
ALTER TABLE model_keys ADD UNIQUE (agent_id, prompt);
ALTER TABLE model_keys ADD CONSTRAINT model_keys_of_one CHECK (CASE WHEN job_id IS NULL
    THEN agent_id IS NOT NULL AND fence IS NOT NULL AND prompt IS NOT NULL AND claim_id IS NULL AND claim IS NULL AND attempt IS NULL
    ELSE claim_id IS NOT NULL AND claim IS NOT NULL AND attempt IS NOT NULL AND agent_id IS NULL AND fence IS NULL AND prompt IS NULL END);
ALTER TABLE usage ADD COLUMN agent_id TEXT COLLATE "C";
ALTER TABLE usage ADD COLUMN prompt BIGINT;
CREATE INDEX usage_by_agent ON usage (agent_id, at, id) WHERE agent_id IS NOT NULL;
CREATE INDEX usage_by_prompt ON usage (agent_id, prompt) WHERE agent_id IS NOT NULL;
CREATE TABLE agent_spending (
  agent_id TEXT COLLATE "C" PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  tokens BIGINT NOT NULL,
  microusd BIGINT NOT NULL,
  before_at BIGINT NOT NULL
);
`,
}

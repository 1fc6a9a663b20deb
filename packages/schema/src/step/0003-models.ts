import type { Migration } from './migration.ts'

/**
 * Channels, models, keys to them, and what their calls came to. A call is kept longer than its job, so `usage` refers to
 * nothing and carries the owner itself; what `job_usage` held moves there. Prices and budgets are JSON: they are read whole.
 * Escapes that PostgreSQL refuses inside JSON (a zero, half of a pair) are taken out of the old texts first: one odd name of
 * a model must not keep a whole database from being opened. Double backslashes go before them, so that what is left starts
 * an escape.
 */
export const models: Migration = {
  version: 3,
  name: 'models',
  sqlite: String.raw`
CREATE TABLE channels (
  name TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  base_url TEXT,
  wire TEXT NOT NULL,
  models_path TEXT NOT NULL,
  script TEXT,
  sealed_key TEXT,
  key_hint TEXT,
  enabled INTEGER NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE models (
  channel TEXT NOT NULL REFERENCES channels (name) ON DELETE CASCADE,
  model TEXT NOT NULL,
  display_name TEXT NOT NULL,
  context_tokens INTEGER,
  prices TEXT NOT NULL,
  active INTEGER NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (channel, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE model_keys (
  hash TEXT PRIMARY KEY,
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  claim_id TEXT NOT NULL,
  claim INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  budget TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (claim_id, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX model_keys_by_job ON model_keys (job_id);
CREATE INDEX model_keys_by_age ON model_keys (created_at);
CREATE TABLE usage (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  job_id TEXT,
  owner_id TEXT,
  claim_id TEXT NOT NULL,
  claim INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  channel TEXT,
  model TEXT NOT NULL,
  thread_id TEXT,
  source TEXT NOT NULL,
  estimated INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_output_tokens INTEGER NOT NULL,
  reasoning_output_tokens INTEGER NOT NULL,
  prices TEXT,
  cost_microusd INTEGER,
  at INTEGER NOT NULL,
  UNIQUE (claim_id, attempt, call_id)
) STRICT;
CREATE INDEX usage_by_owner ON usage (owner_id, at, id);
CREATE INDEX usage_by_job ON usage (job_id, at, id);
CREATE INDEX usage_by_age ON usage (at, id);
CREATE INDEX usage_reserved ON usage (at) WHERE status = 'reserved';
CREATE TABLE quotas (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  jobs_at_once INTEGER,
  tokens_per_day INTEGER,
  microusd_per_day INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO usage (id, status, job_id, owner_id, claim_id, claim, attempt, call_id, model, thread_id, source, estimated,
  input_tokens, cached_input_tokens, output_tokens, cached_output_tokens, reasoning_output_tokens, at)
SELECT 'usg_' || lower(hex(randomblob(13))), 'booked', job_id, owner_id, claim_id, claim, attempt, call_id,
  coalesce(body ->> '$.model', ''), body ->> '$.codex_thread_id', 'judge', 0,
  coalesce(body ->> '$.usage.input_tokens', 0), coalesce(body ->> '$.usage.cached_input_tokens', 0),
  coalesce(body ->> '$.usage.output_tokens', 0), coalesce(body ->> '$.usage.cached_output_tokens', 0),
  coalesce(body ->> '$.usage.reasoning_output_tokens', 0), at
FROM (
  SELECT u.job_id, j.owner_id, u.claim_id, u.claim, u.attempt, u.call_id, u.at,
    replace(replace(u.body, '\\', '/'), '\u0000', '') AS body
  FROM job_usage u JOIN jobs j ON j.id = u.job_id
);
DROP TABLE job_usage;
`,
  postgres: String.raw`
CREATE TABLE channels (
  name TEXT COLLATE "C" PRIMARY KEY,
  display_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  base_url TEXT,
  wire TEXT NOT NULL,
  models_path TEXT NOT NULL,
  script TEXT,
  sealed_key TEXT,
  key_hint TEXT,
  enabled INTEGER NOT NULL,
  source TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE TABLE models (
  channel TEXT COLLATE "C" NOT NULL REFERENCES channels (name) ON DELETE CASCADE,
  model TEXT COLLATE "C" NOT NULL,
  display_name TEXT NOT NULL,
  context_tokens BIGINT,
  prices TEXT NOT NULL,
  active INTEGER NOT NULL,
  source TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (channel, model)
);
CREATE TABLE model_keys (
  hash TEXT COLLATE "C" PRIMARY KEY,
  job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  claim_id TEXT COLLATE "C" NOT NULL,
  claim BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  channel TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  budget TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (claim_id, attempt)
);
CREATE INDEX model_keys_by_job ON model_keys (job_id);
CREATE INDEX model_keys_by_age ON model_keys (created_at);
CREATE TABLE usage (
  id TEXT COLLATE "C" PRIMARY KEY,
  status TEXT COLLATE "C" NOT NULL,
  job_id TEXT COLLATE "C",
  owner_id TEXT COLLATE "C",
  claim_id TEXT COLLATE "C" NOT NULL,
  claim BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  call_id TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C",
  model TEXT COLLATE "C" NOT NULL,
  thread_id TEXT,
  source TEXT NOT NULL,
  estimated INTEGER NOT NULL,
  input_tokens BIGINT NOT NULL,
  cached_input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cached_output_tokens BIGINT NOT NULL,
  reasoning_output_tokens BIGINT NOT NULL,
  prices TEXT,
  cost_microusd BIGINT,
  at BIGINT NOT NULL,
  UNIQUE (claim_id, attempt, call_id)
);
CREATE INDEX usage_by_owner ON usage (owner_id, at, id);
CREATE INDEX usage_by_job ON usage (job_id, at, id);
CREATE INDEX usage_by_age ON usage (at, id);
CREATE INDEX usage_reserved ON usage (at) WHERE status = 'reserved';
CREATE TABLE quotas (
  user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
  jobs_at_once BIGINT,
  tokens_per_day BIGINT,
  microusd_per_day BIGINT
);
INSERT INTO usage (id, status, job_id, owner_id, claim_id, claim, attempt, call_id, model, thread_id, source, estimated,
  input_tokens, cached_input_tokens, output_tokens, cached_output_tokens, reasoning_output_tokens, at)
SELECT 'usg_' || substr(replace(CAST(gen_random_uuid() AS TEXT), '-', ''), 1, 26), 'booked', job_id, owner_id, claim_id, claim,
  attempt, call_id, coalesce(body ->> 'model', ''), body ->> 'codex_thread_id', 'judge', 0,
  coalesce(CAST(body #>> '{usage,input_tokens}' AS BIGINT), 0),
  coalesce(CAST(body #>> '{usage,cached_input_tokens}' AS BIGINT), 0),
  coalesce(CAST(body #>> '{usage,output_tokens}' AS BIGINT), 0),
  coalesce(CAST(body #>> '{usage,cached_output_tokens}' AS BIGINT), 0),
  coalesce(CAST(body #>> '{usage,reasoning_output_tokens}' AS BIGINT), 0), at
FROM (
  SELECT u.job_id, j.owner_id, u.claim_id, u.claim, u.attempt, u.call_id, u.at,
    CAST(regexp_replace(replace(u.body, '\\', '/'), '\\u(0000|d[89a-f][0-9a-f]{2})', '', 'gi') AS JSON) AS body
  FROM job_usage u JOIN jobs j ON j.id = u.job_id
) AS old;
DROP TABLE job_usage;
`,
}

CREATE TABLE agent_spending (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  tokens INTEGER NOT NULL,
  microusd INTEGER NOT NULL,
  before_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE allowances (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  session TEXT,
  kind TEXT NOT NULL,
  mount TEXT,
  mount_version INTEGER,
  name TEXT NOT NULL,
  digest TEXT,
  answers TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX allowances_by_agent ON allowances (agent_id, expires_at);
CREATE INDEX allowances_by_end ON allowances (expires_at);
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL,
  mount TEXT,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  arguments TEXT NOT NULL,
  preview TEXT NOT NULL,
  preview_sha256 TEXT NOT NULL,
  caller TEXT NOT NULL,
  reason TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  fence INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  caller_gone_at INTEGER,
  decision TEXT,
  decided_by TEXT,
  decision_reason TEXT,
  decided_at INTEGER,
  resolved_by TEXT,
  dispatched_at INTEGER,
  ended_at INTEGER
, mount_version INTEGER, policy TEXT NOT NULL DEFAULT '', rule TEXT, layer TEXT, askers TEXT NOT NULL DEFAULT '["default"]', approvers TEXT NOT NULL DEFAULT '[]', people TEXT NOT NULL DEFAULT '', votes TEXT NOT NULL DEFAULT '[]', edited TEXT) STRICT;
CREATE INDEX approvals_by_age ON approvals (created_at, id);
CREATE INDEX approvals_by_agent ON approvals (agent_id, status, created_at);
CREATE INDEX approvals_by_owner ON approvals (owner_id, status, created_at);
CREATE INDEX approvals_ended ON approvals (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX approvals_open ON approvals (expires_at) WHERE status IN ('pending', 'approved');
CREATE TABLE audit_entries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  role TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT,
  outcome TEXT NOT NULL,
  code TEXT,
  remote TEXT
) STRICT;
CREATE INDEX audit_entries_by_actor ON audit_entries (actor, seq);
CREATE INDEX audit_entries_by_age ON audit_entries (at);
CREATE TABLE blob_chunks (
  content TEXT NOT NULL,
  number INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (content, number)
) STRICT;
CREATE TABLE blob_garbage (content TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE blob_holders (
  sha256 TEXT NOT NULL REFERENCES blobs (sha256),
  holder TEXT NOT NULL,
  PRIMARY KEY (sha256, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_holders_by_holder ON blob_holders (holder);
CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  content TEXT NOT NULL UNIQUE,
  touched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE chat_markers (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  reader TEXT NOT NULL,
  read_to INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, reader)
) STRICT;
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
CREATE TABLE gateways (
  id TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE grants (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  body TEXT NOT NULL,
  set_at INTEGER NOT NULL
) STRICT;
CREATE TABLE job_artifacts (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  claim INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (job_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_inputs (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  spec TEXT NOT NULL,
  blob TEXT,
  files TEXT NOT NULL,
  cases TEXT NOT NULL
) STRICT;
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  owner_id TEXT REFERENCES users (id),
  status TEXT NOT NULL,
  outline TEXT NOT NULL,
  retry_of TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  expires_at INTEGER,
  claim_id TEXT,
  fence INTEGER,
  machine_id TEXT,
  claimed_at INTEGER,
  begun INTEGER NOT NULL DEFAULT 0,
  released INTEGER NOT NULL DEFAULT 0,
  claims INTEGER NOT NULL DEFAULT 0,
  lost_claims INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  summary TEXT,
  containers TEXT
, judge_name TEXT, kept_bytes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX jobs_by_age ON jobs (created_at, id);
CREATE INDEX jobs_by_expiry ON jobs (expires_at);
CREATE INDEX jobs_by_owner ON jobs (owner_id, created_at, id);
CREATE INDEX jobs_by_share ON jobs (owner_id, status, kept_bytes);
CREATE INDEX jobs_by_status ON jobs (status, created_at, id);
CREATE TABLE judges (
  machine_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  drain INTEGER NOT NULL DEFAULT 0,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  facts TEXT
, token_id TEXT, left_at INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE leases (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL,
  key TEXT NOT NULL,
  payload TEXT NOT NULL,
  holder TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  claims INTEGER NOT NULL DEFAULT 0,
  available_at INTEGER NOT NULL, lane TEXT NOT NULL DEFAULT '', round INTEGER NOT NULL DEFAULT 0,
  UNIQUE (queue, key)
) STRICT;
CREATE INDEX leases_held ON leases (queue) WHERE holder IS NOT NULL;
CREATE INDEX leases_in_order ON leases (queue, round);
CREATE INDEX leases_of_lane ON leases (queue, lane, round);
CREATE INDEX leases_waiting ON leases (queue, lane, round, id) WHERE holder IS NULL;
CREATE TABLE log_entries (
  log_id INTEGER NOT NULL REFERENCES logs (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  end_offset INTEGER NOT NULL,
  at INTEGER NOT NULL,
  bytes BLOB NOT NULL, chain BLOB,
  PRIMARY KEY (log_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE logs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  closed INTEGER NOT NULL DEFAULT 0,
  max_bytes INTEGER NOT NULL,
  max_entries INTEGER NOT NULL
, first_seq INTEGER NOT NULL DEFAULT 0, first_offset INTEGER NOT NULL DEFAULT 0, chain_head BLOB) STRICT;
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
CREATE INDEX model_keys_by_age ON model_keys (created_at);
CREATE INDEX model_keys_by_job ON model_keys (job_id);
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
CREATE TABLE policies (
  subject TEXT NOT NULL,
  version INTEGER NOT NULL,
  layer TEXT NOT NULL,
  user_id TEXT REFERENCES users (id),
  agent_id TEXT REFERENCES agents (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  note TEXT NOT NULL,
  review TEXT,
  base INTEGER,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  activated_by TEXT,
  activated_at INTEGER,
  PRIMARY KEY (subject, version)
) STRICT;
CREATE UNIQUE INDEX policies_active ON policies (subject) WHERE status = 'active';
CREATE INDEX policies_by_agent ON policies (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX policies_by_user ON policies (user_id) WHERE user_id IS NOT NULL;
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
  ended_at INTEGER, woken_by TEXT,
  UNIQUE (agent_id, number)
) STRICT;
CREATE INDEX prompts_queued ON prompts (agent_id, number) WHERE status = 'queued';
CREATE UNIQUE INDEX prompts_running ON prompts (agent_id) WHERE status = 'running';
CREATE TABLE quotas (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  jobs_at_once INTEGER,
  tokens_per_day INTEGER,
  microusd_per_day INTEGER
, kept_bytes INTEGER, kept_jobs INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
CREATE TABLE served_rounds (queue TEXT PRIMARY KEY, round INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sign_in_links (
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  expires_at INTEGER NOT NULL
, used_at INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE sign_ins (
  jti TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_ins_by_user ON sign_ins (user_id);
CREATE TABLE subscriptions (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  uri TEXT NOT NULL, told TEXT,
  PRIMARY KEY (agent_id, hash)
) STRICT;
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  user_id TEXT REFERENCES users (id),
  agent_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
, scopes TEXT CONSTRAINT tokens_scopes_of_user CHECK (scopes IS NULL OR role = 'user'), made_by TEXT CONSTRAINT tokens_made_by_has_scopes CHECK (made_by IS NULL OR scopes IS NOT NULL)) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_age ON tokens (created_at, id);
CREATE INDEX tokens_by_agent ON tokens (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX tokens_by_maker ON tokens (made_by) WHERE made_by IS NOT NULL;
CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  size INTEGER NOT NULL DEFAULT 0,
  touched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_by_owner ON uploads (owner);
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
  at INTEGER NOT NULL, agent_id TEXT, prompt INTEGER,
  UNIQUE (claim_id, attempt, call_id)
) STRICT;
CREATE INDEX usage_by_age ON usage (at, id);
CREATE INDEX usage_by_agent ON usage (agent_id, at, id) WHERE agent_id IS NOT NULL;
CREATE INDEX usage_by_job ON usage (job_id, at, id);
CREATE INDEX usage_by_owner ON usage (owner_id, at, id);
CREATE INDEX usage_by_prompt ON usage (agent_id, prompt) WHERE agent_id IS NOT NULL;
CREATE INDEX usage_reserved ON usage (at) WHERE status = 'reserved';
CREATE TABLE users (
  id TEXT PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  password_hash TEXT,
  admin INTEGER NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_sign_in_at INTEGER
, deleted_at INTEGER, identity_issuer TEXT, identity_subject TEXT) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX users_identity ON users (identity_issuer, identity_subject);
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

agent_spending.agent_id text COLLATE "C" NOT NULL
agent_spending.tokens bigint NOT NULL
agent_spending.microusd bigint NOT NULL
agent_spending.before_at bigint NOT NULL
agent_spending: agent_spending_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
agent_spending: agent_spending_pkey PRIMARY KEY (agent_id)
CREATE UNIQUE INDEX agent_spending_pkey ON agent_spending USING btree (agent_id)
agents.id text COLLATE "C" NOT NULL
agents.owner_id text COLLATE "C" NOT NULL
agents.name text COLLATE "C" NOT NULL
agents.kind text NOT NULL
agents.preset text NOT NULL
agents.settings text NOT NULL
agents.status text NOT NULL DEFAULT 'active'::text
agents.version bigint NOT NULL DEFAULT 1
agents.reported text NOT NULL DEFAULT '[]'::text
agents.fence bigint
agents.created_at bigint NOT NULL
agents.updated_at bigint NOT NULL
agents: agents_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id)
agents: agents_owner_id_name_key UNIQUE (owner_id, name)
agents: agents_pkey PRIMARY KEY (id)
CREATE INDEX agents_by_age ON agents USING btree (created_at, id)
CREATE INDEX agents_by_owner ON agents USING btree (owner_id, created_at, id)
CREATE INDEX agents_deleting ON agents USING btree (id) WHERE (status = 'deleting'::text)
CREATE UNIQUE INDEX agents_owner_id_name_key ON agents USING btree (owner_id, name)
CREATE UNIQUE INDEX agents_pkey ON agents USING btree (id)
allowances.id text COLLATE "C" NOT NULL
allowances.agent_id text COLLATE "C" NOT NULL
allowances.session text
allowances.kind text NOT NULL
allowances.mount text
allowances.mount_version bigint
allowances.name text NOT NULL
allowances.digest text
allowances.answers text NOT NULL
allowances.created_by text NOT NULL
allowances.created_at bigint NOT NULL
allowances.expires_at bigint NOT NULL
allowances: allowances_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
allowances: allowances_pkey PRIMARY KEY (id)
CREATE INDEX allowances_by_agent ON allowances USING btree (agent_id, expires_at)
CREATE INDEX allowances_by_end ON allowances USING btree (expires_at)
CREATE UNIQUE INDEX allowances_pkey ON allowances USING btree (id)
approvals.id text COLLATE "C" NOT NULL
approvals.agent_id text COLLATE "C" NOT NULL
approvals.owner_id text COLLATE "C" NOT NULL
approvals.kind text NOT NULL
approvals.mount text
approvals.name text NOT NULL
approvals.digest text COLLATE "C" NOT NULL
approvals.arguments text NOT NULL
approvals.preview text NOT NULL
approvals.preview_sha256 text NOT NULL
approvals.caller text NOT NULL
approvals.reason text NOT NULL
approvals.status text NOT NULL DEFAULT 'pending'::text
approvals.fence bigint NOT NULL
approvals.created_at bigint NOT NULL
approvals.expires_at bigint NOT NULL
approvals.caller_gone_at bigint
approvals.decision text
approvals.decided_by text
approvals.decision_reason text
approvals.decided_at bigint
approvals.resolved_by text
approvals.dispatched_at bigint
approvals.ended_at bigint
approvals.mount_version bigint
approvals.policy text NOT NULL DEFAULT ''::text
approvals.rule text
approvals.layer text
approvals.askers text NOT NULL DEFAULT '["default"]'::text
approvals.approvers text NOT NULL DEFAULT '[]'::text
approvals.people text NOT NULL DEFAULT ''::text
approvals.votes text NOT NULL DEFAULT '[]'::text
approvals.edited text
approvals: approvals_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
approvals: approvals_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id)
approvals: approvals_pkey PRIMARY KEY (id)
CREATE INDEX approvals_by_age ON approvals USING btree (created_at, id)
CREATE INDEX approvals_by_agent ON approvals USING btree (agent_id, status, created_at)
CREATE INDEX approvals_by_owner ON approvals USING btree (owner_id, status, created_at)
CREATE INDEX approvals_ended ON approvals USING btree (ended_at) WHERE (ended_at IS NOT NULL)
CREATE INDEX approvals_open ON approvals USING btree (expires_at) WHERE (status = ANY (ARRAY['pending'::text, 'approved'::text]))
CREATE UNIQUE INDEX approvals_pkey ON approvals USING btree (id)
audit_end.last_seq bigint NOT NULL
audit_entries.seq bigint NOT NULL
audit_entries.at bigint NOT NULL
audit_entries.actor text COLLATE "C" NOT NULL
audit_entries.role text NOT NULL
audit_entries.action text COLLATE "C" NOT NULL
audit_entries.target text
audit_entries.outcome text NOT NULL
audit_entries.code text
audit_entries.remote text
audit_entries: audit_entries_pkey PRIMARY KEY (seq)
CREATE INDEX audit_entries_by_actor ON audit_entries USING btree (actor, seq)
CREATE INDEX audit_entries_by_age ON audit_entries USING btree (at)
CREATE UNIQUE INDEX audit_entries_pkey ON audit_entries USING btree (seq)
blob_chunks.content text COLLATE "C" NOT NULL
blob_chunks.number bigint NOT NULL
blob_chunks.bytes bytea NOT NULL
blob_chunks: blob_chunks_pkey PRIMARY KEY (content, number)
CREATE UNIQUE INDEX blob_chunks_pkey ON blob_chunks USING btree (content, number)
blob_garbage.content text COLLATE "C" NOT NULL
blob_garbage: blob_garbage_pkey PRIMARY KEY (content)
CREATE UNIQUE INDEX blob_garbage_pkey ON blob_garbage USING btree (content)
blob_holders.sha256 text COLLATE "C" NOT NULL
blob_holders.holder text COLLATE "C" NOT NULL
blob_holders: blob_holders_pkey PRIMARY KEY (sha256, holder)
blob_holders: blob_holders_sha256_fkey FOREIGN KEY (sha256) REFERENCES blobs(sha256)
CREATE INDEX blob_holders_by_holder ON blob_holders USING btree (holder)
CREATE UNIQUE INDEX blob_holders_pkey ON blob_holders USING btree (sha256, holder)
blobs.sha256 text COLLATE "C" NOT NULL
blobs.size bigint NOT NULL
blobs.content text COLLATE "C" NOT NULL
blobs.touched_at bigint NOT NULL
blobs: blobs_content_key UNIQUE (content)
blobs: blobs_pkey PRIMARY KEY (sha256)
CREATE UNIQUE INDEX blobs_content_key ON blobs USING btree (content)
CREATE UNIQUE INDEX blobs_pkey ON blobs USING btree (sha256)
channels.name text COLLATE "C" NOT NULL
channels.display_name text NOT NULL
channels.kind text NOT NULL
channels.base_url text
channels.wire text NOT NULL
channels.models_path text NOT NULL
channels.script text
channels.sealed_key text
channels.key_hint text
channels.enabled integer NOT NULL
channels.source text NOT NULL
channels.created_at bigint NOT NULL
channels.updated_at bigint NOT NULL
channels: channels_pkey PRIMARY KEY (name)
CREATE UNIQUE INDEX channels_pkey ON channels USING btree (name)
chat_markers.agent_id text COLLATE "C" NOT NULL
chat_markers.reader text COLLATE "C" NOT NULL
chat_markers.read_to bigint NOT NULL
chat_markers.updated_at bigint NOT NULL
chat_markers: chat_markers_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
chat_markers: chat_markers_pkey PRIMARY KEY (agent_id, reader)
CREATE UNIQUE INDEX chat_markers_pkey ON chat_markers USING btree (agent_id, reader)
chat_messages.agent_id text COLLATE "C" NOT NULL
chat_messages.number bigint NOT NULL
chat_messages.said_from text NOT NULL
chat_messages.said_by text NOT NULL
chat_messages.body text NOT NULL
chat_messages.post_key text
chat_messages.created_at bigint NOT NULL
chat_messages: chat_messages_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
chat_messages: chat_messages_agent_id_said_from_said_by_post_key_key UNIQUE (agent_id, said_from, said_by, post_key)
chat_messages: chat_messages_pkey PRIMARY KEY (agent_id, number)
CREATE UNIQUE INDEX chat_messages_agent_id_said_from_said_by_post_key_key ON chat_messages USING btree (agent_id, said_from, said_by, post_key)
CREATE UNIQUE INDEX chat_messages_pkey ON chat_messages USING btree (agent_id, number)
gateways.id text COLLATE "C" NOT NULL
gateways.url text NOT NULL
gateways.started_at bigint NOT NULL
gateways.last_seen_at bigint NOT NULL
gateways: gateways_pkey PRIMARY KEY (id)
CREATE UNIQUE INDEX gateways_pkey ON gateways USING btree (id)
grants.user_id text COLLATE "C" NOT NULL
grants.body text NOT NULL
grants.set_at bigint NOT NULL
grants: grants_pkey PRIMARY KEY (user_id)
grants: grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
CREATE UNIQUE INDEX grants_pkey ON grants USING btree (user_id)
job_artifacts.job_id text COLLATE "C" NOT NULL
job_artifacts.name text COLLATE "C" NOT NULL
job_artifacts.attempt bigint NOT NULL
job_artifacts.claim bigint NOT NULL
job_artifacts.sha256 text COLLATE "C" NOT NULL
job_artifacts.bytes bigint NOT NULL
job_artifacts.at bigint NOT NULL
job_artifacts: job_artifacts_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
job_artifacts: job_artifacts_pkey PRIMARY KEY (job_id, name)
CREATE UNIQUE INDEX job_artifacts_pkey ON job_artifacts USING btree (job_id, name)
job_inputs.job_id text COLLATE "C" NOT NULL
job_inputs.spec text NOT NULL
job_inputs.blob text
job_inputs.files text NOT NULL
job_inputs.cases text NOT NULL
job_inputs: job_inputs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
job_inputs: job_inputs_pkey PRIMARY KEY (job_id)
CREATE UNIQUE INDEX job_inputs_pkey ON job_inputs USING btree (job_id)
jobs.id text COLLATE "C" NOT NULL
jobs.owner_id text COLLATE "C"
jobs.status text COLLATE "C" NOT NULL
jobs.outline text NOT NULL
jobs.retry_of text COLLATE "C"
jobs.created_at bigint NOT NULL
jobs.started_at bigint
jobs.finished_at bigint
jobs.expires_at bigint
jobs.claim_id text COLLATE "C"
jobs.fence bigint
jobs.machine_id text COLLATE "C"
jobs.claimed_at bigint
jobs.begun integer NOT NULL DEFAULT 0
jobs.released integer NOT NULL DEFAULT 0
jobs.claims bigint NOT NULL DEFAULT 0
jobs.lost_claims bigint NOT NULL DEFAULT 0
jobs.attempt bigint NOT NULL DEFAULT 0
jobs.error text
jobs.summary text
jobs.containers text
jobs.judge_name text
jobs.kept_bytes bigint NOT NULL DEFAULT 0
jobs: jobs_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id)
jobs: jobs_pkey PRIMARY KEY (id)
CREATE INDEX jobs_by_age ON jobs USING btree (created_at, id)
CREATE INDEX jobs_by_expiry ON jobs USING btree (expires_at)
CREATE INDEX jobs_by_owner ON jobs USING btree (owner_id, created_at, id)
CREATE INDEX jobs_by_share ON jobs USING btree (owner_id, status, kept_bytes)
CREATE INDEX jobs_by_status ON jobs USING btree (status, created_at, id)
CREATE UNIQUE INDEX jobs_pkey ON jobs USING btree (id)
judges.machine_id text COLLATE "C" NOT NULL
judges.name text COLLATE "C" NOT NULL
judges.drain integer NOT NULL DEFAULT 0
judges.first_seen_at bigint NOT NULL
judges.last_seen_at bigint NOT NULL
judges.facts text
judges.token_id text COLLATE "C"
judges.left_at bigint
judges: judges_pkey PRIMARY KEY (machine_id)
CREATE UNIQUE INDEX judges_pkey ON judges USING btree (machine_id)
leases.id bigint NOT NULL IDENTITY
leases.queue text COLLATE "C" NOT NULL
leases.key text COLLATE "C" NOT NULL
leases.payload text NOT NULL
leases.holder text
leases.turns bigint NOT NULL DEFAULT 0
leases.claims bigint NOT NULL DEFAULT 0
leases.available_at bigint NOT NULL
leases.lane text NOT NULL DEFAULT ''::text
leases.round bigint NOT NULL DEFAULT 0
leases: leases_pkey PRIMARY KEY (queue, id)
leases: leases_queue_key_key UNIQUE (queue, key)
CREATE INDEX leases_held ON leases USING btree (queue) WHERE (holder IS NOT NULL)
CREATE INDEX leases_in_order ON leases USING btree (queue, round, id)
CREATE INDEX leases_of_lane ON leases USING btree (queue, lane, round)
CREATE INDEX leases_waiting ON leases USING btree (queue, lane, round, id) WHERE (holder IS NULL)
CREATE UNIQUE INDEX leases_pkey ON leases USING btree (queue, id)
CREATE UNIQUE INDEX leases_queue_key_key ON leases USING btree (queue, key)
log_entries.log_id bigint NOT NULL
log_entries.seq bigint NOT NULL
log_entries.end_offset bigint NOT NULL
log_entries.at bigint NOT NULL
log_entries.bytes bytea NOT NULL
log_entries.chain bytea
log_entries: log_entries_log_id_fkey FOREIGN KEY (log_id) REFERENCES logs(id) ON DELETE CASCADE
log_entries: log_entries_pkey PRIMARY KEY (log_id, seq)
CREATE UNIQUE INDEX log_entries_pkey ON log_entries USING btree (log_id, seq)
logs.id bigint NOT NULL IDENTITY
logs.name text COLLATE "C" NOT NULL
logs.closed integer NOT NULL DEFAULT 0
logs.max_bytes bigint NOT NULL
logs.max_entries bigint NOT NULL
logs.next_seq bigint NOT NULL DEFAULT 0
logs.end_offset bigint NOT NULL DEFAULT 0
logs.first_seq bigint NOT NULL DEFAULT 0
logs.first_offset bigint NOT NULL DEFAULT 0
logs.chain_head bytea
logs: logs_name_key UNIQUE (name)
logs: logs_pkey PRIMARY KEY (id)
CREATE UNIQUE INDEX logs_name_key ON logs USING btree (name)
CREATE UNIQUE INDEX logs_pkey ON logs USING btree (id)
loops.agent_id text COLLATE "C" NOT NULL
loops.last_news bigint NOT NULL DEFAULT 0
loops.heard_chat bigint NOT NULL DEFAULT 0
loops.woken_news bigint NOT NULL DEFAULT 0
loops.woken_chat bigint NOT NULL DEFAULT 0
loops.woken_at bigint
loops.yielded text
loops.waits text
loops.wake_at bigint
loops: loops_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
loops: loops_pkey PRIMARY KEY (agent_id)
CREATE INDEX loops_wake ON loops USING btree (wake_at) WHERE (wake_at IS NOT NULL)
CREATE UNIQUE INDEX loops_pkey ON loops USING btree (agent_id)
model_keys.hash text COLLATE "C" NOT NULL
model_keys.job_id text COLLATE "C"
model_keys.claim_id text COLLATE "C"
model_keys.claim bigint
model_keys.attempt bigint
model_keys.channel text COLLATE "C" NOT NULL
model_keys.model text COLLATE "C" NOT NULL
model_keys.budget text NOT NULL
model_keys.created_at bigint NOT NULL
model_keys.agent_id text COLLATE "C"
model_keys.fence bigint
model_keys.prompt bigint
model_keys: model_keys_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
model_keys: model_keys_agent_id_prompt_key UNIQUE (agent_id, prompt)
model_keys: model_keys_claim_id_attempt_key UNIQUE (claim_id, attempt)
model_keys: model_keys_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
model_keys: model_keys_of_one CHECK (
CASE
    WHEN (job_id IS NULL) THEN ((agent_id IS NOT NULL) AND (fence IS NOT NULL) AND (prompt IS NOT NULL) AND (claim_id IS NULL) AND (claim IS NULL) AND (attempt IS NULL))
    ELSE ((claim_id IS NOT NULL) AND (claim IS NOT NULL) AND (attempt IS NOT NULL) AND (agent_id IS NULL) AND (fence IS NULL) AND (prompt IS NULL))
END)
model_keys: model_keys_pkey PRIMARY KEY (hash)
CREATE INDEX model_keys_by_age ON model_keys USING btree (created_at)
CREATE INDEX model_keys_by_job ON model_keys USING btree (job_id)
CREATE UNIQUE INDEX model_keys_agent_id_prompt_key ON model_keys USING btree (agent_id, prompt)
CREATE UNIQUE INDEX model_keys_claim_id_attempt_key ON model_keys USING btree (claim_id, attempt)
CREATE UNIQUE INDEX model_keys_pkey ON model_keys USING btree (hash)
models.channel text COLLATE "C" NOT NULL
models.model text COLLATE "C" NOT NULL
models.display_name text NOT NULL
models.context_tokens bigint
models.prices text NOT NULL
models.active integer NOT NULL
models.source text NOT NULL
models.created_at bigint NOT NULL
models.updated_at bigint NOT NULL
models: models_channel_fkey FOREIGN KEY (channel) REFERENCES channels(name) ON DELETE CASCADE
models: models_pkey PRIMARY KEY (channel, model)
CREATE UNIQUE INDEX models_pkey ON models USING btree (channel, model)
mounts.agent_id text COLLATE "C" NOT NULL
mounts.name text COLLATE "C" NOT NULL
mounts.sealed text NOT NULL
mounts.shown text NOT NULL
mounts.options text NOT NULL
mounts.plain integer NOT NULL
mounts.version bigint NOT NULL
mounts.attached_at bigint NOT NULL
mounts: mounts_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
mounts: mounts_pkey PRIMARY KEY (agent_id, name)
CREATE UNIQUE INDEX mounts_pkey ON mounts USING btree (agent_id, name)
CREATE UNIQUE INDEX mounts_plain ON mounts USING btree (agent_id) WHERE (plain = 1)
news.agent_id text COLLATE "C" NOT NULL
news.number bigint NOT NULL
news.kind text NOT NULL
news.hash text NOT NULL
news.subject text NOT NULL
news.body text NOT NULL
news.created_at bigint NOT NULL
news: news_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
news: news_agent_id_kind_hash_key UNIQUE (agent_id, kind, hash)
news: news_pkey PRIMARY KEY (agent_id, number)
CREATE UNIQUE INDEX news_agent_id_kind_hash_key ON news USING btree (agent_id, kind, hash)
CREATE UNIQUE INDEX news_pkey ON news USING btree (agent_id, number)
policies.subject text COLLATE "C" NOT NULL
policies.version bigint NOT NULL
policies.layer text NOT NULL
policies.user_id text COLLATE "C"
policies.agent_id text COLLATE "C"
policies.status text NOT NULL
policies.body text NOT NULL
policies.sha256 text NOT NULL
policies.note text NOT NULL
policies.review text
policies.base bigint
policies.created_by text NOT NULL
policies.created_at bigint NOT NULL
policies.activated_by text
policies.activated_at bigint
policies: policies_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
policies: policies_pkey PRIMARY KEY (subject, version)
policies: policies_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
CREATE INDEX policies_by_agent ON policies USING btree (agent_id) WHERE (agent_id IS NOT NULL)
CREATE INDEX policies_by_user ON policies USING btree (user_id) WHERE (user_id IS NOT NULL)
CREATE UNIQUE INDEX policies_active ON policies USING btree (subject) WHERE (status = 'active'::text)
CREATE UNIQUE INDEX policies_pkey ON policies USING btree (subject, version)
prompts.id text COLLATE "C" NOT NULL
prompts.agent_id text COLLATE "C" NOT NULL
prompts.number bigint NOT NULL
prompts.body text NOT NULL
prompts.told_by text NOT NULL
prompts.status text NOT NULL DEFAULT 'queued'::text
prompts.aborted_at bigint
prompts.outcome text
prompts.fence bigint
prompts.created_at bigint NOT NULL
prompts.started_at bigint
prompts.ended_at bigint
prompts.woken_by text
prompts: prompts_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
prompts: prompts_agent_id_number_key UNIQUE (agent_id, number)
prompts: prompts_pkey PRIMARY KEY (id)
CREATE INDEX prompts_queued ON prompts USING btree (agent_id, number) WHERE (status = 'queued'::text)
CREATE UNIQUE INDEX prompts_agent_id_number_key ON prompts USING btree (agent_id, number)
CREATE UNIQUE INDEX prompts_pkey ON prompts USING btree (id)
CREATE UNIQUE INDEX prompts_running ON prompts USING btree (agent_id) WHERE (status = 'running'::text)
quotas.user_id text COLLATE "C" NOT NULL
quotas.jobs_at_once bigint
quotas.tokens_per_day bigint
quotas.microusd_per_day bigint
quotas.kept_bytes bigint
quotas.kept_jobs bigint
quotas: quotas_pkey PRIMARY KEY (user_id)
quotas: quotas_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
CREATE UNIQUE INDEX quotas_pkey ON quotas USING btree (user_id)
schema_migrations.version bigint NOT NULL
schema_migrations.name text NOT NULL
schema_migrations.applied_at bigint NOT NULL
schema_migrations: schema_migrations_pkey PRIMARY KEY (version)
CREATE UNIQUE INDEX schema_migrations_pkey ON schema_migrations USING btree (version)
served_rounds.queue text COLLATE "C" NOT NULL
served_rounds.round bigint NOT NULL
served_rounds: served_rounds_pkey PRIMARY KEY (queue)
CREATE UNIQUE INDEX served_rounds_pkey ON served_rounds USING btree (queue)
settings.key text COLLATE "C" NOT NULL
settings.value text NOT NULL
settings: settings_pkey PRIMARY KEY (key)
CREATE UNIQUE INDEX settings_pkey ON settings USING btree (key)
sign_in_links.hash text COLLATE "C" NOT NULL
sign_in_links.user_id text COLLATE "C" NOT NULL
sign_in_links.expires_at bigint NOT NULL
sign_in_links.used_at bigint
sign_in_links: sign_in_links_pkey PRIMARY KEY (hash)
sign_in_links: sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
CREATE UNIQUE INDEX sign_in_links_pkey ON sign_in_links USING btree (hash)
sign_ins.jti text COLLATE "C" NOT NULL
sign_ins.user_id text COLLATE "C" NOT NULL
sign_ins.expires_at bigint NOT NULL
sign_ins.revoked_at bigint
sign_ins: sign_ins_pkey PRIMARY KEY (jti)
sign_ins: sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
CREATE INDEX sign_ins_by_user ON sign_ins USING btree (user_id)
CREATE UNIQUE INDEX sign_ins_pkey ON sign_ins USING btree (jti)
subscriptions.agent_id text COLLATE "C" NOT NULL
subscriptions.hash text COLLATE "C" NOT NULL
subscriptions.uri text COLLATE "C" NOT NULL
subscriptions.told text
subscriptions: subscriptions_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
subscriptions: subscriptions_pkey PRIMARY KEY (agent_id, hash)
CREATE UNIQUE INDEX subscriptions_pkey ON subscriptions USING btree (agent_id, hash)
tokens.id text COLLATE "C" NOT NULL
tokens.hash text COLLATE "C" NOT NULL
tokens.role text NOT NULL
tokens.name text NOT NULL
tokens.user_id text COLLATE "C"
tokens.agent_id text COLLATE "C"
tokens.created_at bigint NOT NULL
tokens.expires_at bigint
tokens.revoked_at bigint
tokens.last_used_at bigint
tokens.scopes text
tokens.made_by text COLLATE "C"
tokens: tokens_hash_key UNIQUE (hash)
tokens: tokens_made_by_has_scopes CHECK (((made_by IS NULL) OR (scopes IS NOT NULL)))
tokens: tokens_pkey PRIMARY KEY (id)
tokens: tokens_scopes_of_user CHECK (((scopes IS NULL) OR (role = 'user'::text)))
tokens: tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
CREATE INDEX tokens_by_age ON tokens USING btree (created_at, id)
CREATE INDEX tokens_by_agent ON tokens USING btree (agent_id) WHERE (agent_id IS NOT NULL)
CREATE INDEX tokens_by_maker ON tokens USING btree (made_by) WHERE (made_by IS NOT NULL)
CREATE INDEX tokens_by_user ON tokens USING btree (user_id)
CREATE UNIQUE INDEX tokens_hash_key ON tokens USING btree (hash)
CREATE UNIQUE INDEX tokens_pkey ON tokens USING btree (id)
uploads.id text COLLATE "C" NOT NULL
uploads.owner text COLLATE "C" NOT NULL
uploads.size bigint NOT NULL DEFAULT 0
uploads.touched_at bigint NOT NULL
uploads: uploads_pkey PRIMARY KEY (id)
CREATE INDEX uploads_by_owner ON uploads USING btree (owner)
CREATE UNIQUE INDEX uploads_pkey ON uploads USING btree (id)
usage.id text COLLATE "C" NOT NULL
usage.status text COLLATE "C" NOT NULL
usage.job_id text COLLATE "C"
usage.owner_id text COLLATE "C"
usage.claim_id text COLLATE "C" NOT NULL
usage.claim bigint NOT NULL
usage.attempt bigint NOT NULL
usage.call_id text COLLATE "C" NOT NULL
usage.channel text COLLATE "C"
usage.model text COLLATE "C" NOT NULL
usage.thread_id text
usage.source text NOT NULL
usage.estimated integer NOT NULL
usage.input_tokens bigint NOT NULL
usage.cached_input_tokens bigint NOT NULL
usage.output_tokens bigint NOT NULL
usage.cached_output_tokens bigint NOT NULL
usage.reasoning_output_tokens bigint NOT NULL
usage.prices text
usage.cost_microusd bigint
usage.at bigint NOT NULL
usage.agent_id text COLLATE "C"
usage.prompt bigint
usage: usage_claim_id_attempt_call_id_key UNIQUE (claim_id, attempt, call_id)
usage: usage_pkey PRIMARY KEY (id)
CREATE INDEX usage_by_age ON usage USING btree (at, id)
CREATE INDEX usage_by_agent ON usage USING btree (agent_id, at, id) WHERE (agent_id IS NOT NULL)
CREATE INDEX usage_by_job ON usage USING btree (job_id, at, id)
CREATE INDEX usage_by_owner ON usage USING btree (owner_id, at, id)
CREATE INDEX usage_by_prompt ON usage USING btree (agent_id, prompt) WHERE (agent_id IS NOT NULL)
CREATE INDEX usage_reserved ON usage USING btree (at) WHERE (status = 'reserved'::text)
CREATE UNIQUE INDEX usage_claim_id_attempt_call_id_key ON usage USING btree (claim_id, attempt, call_id)
CREATE UNIQUE INDEX usage_pkey ON usage USING btree (id)
users.id text COLLATE "C" NOT NULL
users.username text COLLATE "C" NOT NULL
users.password_hash text
users.admin integer NOT NULL
users.disabled integer NOT NULL DEFAULT 0
users.created_at bigint NOT NULL
users.last_sign_in_at bigint
users.deleted_at bigint
users.identity_issuer text COLLATE "C"
users.identity_subject text COLLATE "C"
users: users_pkey PRIMARY KEY (id)
users: users_username_key UNIQUE (username)
CREATE UNIQUE INDEX users_identity ON users USING btree (identity_issuer, identity_subject)
CREATE UNIQUE INDEX users_pkey ON users USING btree (id)
CREATE UNIQUE INDEX users_username_key ON users USING btree (username)
workers.kind text COLLATE "C" NOT NULL
workers.name text COLLATE "C" NOT NULL
workers.token_id text COLLATE "C"
workers.instance text COLLATE "C" NOT NULL
workers.drain integer NOT NULL DEFAULT 0
workers.first_seen_at bigint NOT NULL
workers.last_seen_at bigint NOT NULL
workers.left_at bigint
workers.slots integer NOT NULL
workers.labels text NOT NULL
workers.facts text NOT NULL
workers.load text NOT NULL
workers: workers_pkey PRIMARY KEY (kind, name)
CREATE UNIQUE INDEX workers_pkey ON workers USING btree (kind, name)

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
CREATE UNIQUE INDEX blob_holders_pkey ON blob_holders USING btree (sha256, holder)
blobs.sha256 text COLLATE "C" NOT NULL
blobs.size bigint NOT NULL
blobs.content text COLLATE "C" NOT NULL
blobs.touched_at bigint NOT NULL
blobs: blobs_content_key UNIQUE (content)
blobs: blobs_pkey PRIMARY KEY (sha256)
CREATE UNIQUE INDEX blobs_content_key ON blobs USING btree (content)
CREATE UNIQUE INDEX blobs_pkey ON blobs USING btree (sha256)
leases.id bigint NOT NULL IDENTITY
leases.queue text COLLATE "C" NOT NULL
leases.key text COLLATE "C" NOT NULL
leases.payload text NOT NULL
leases.holder text
leases.turns bigint NOT NULL DEFAULT 0
leases.claims bigint NOT NULL DEFAULT 0
leases.available_at bigint NOT NULL
leases: leases_pkey PRIMARY KEY (queue, id)
leases: leases_queue_key_key UNIQUE (queue, key)
CREATE UNIQUE INDEX leases_pkey ON leases USING btree (queue, id)
CREATE UNIQUE INDEX leases_queue_key_key ON leases USING btree (queue, key)
log_entries.log_id bigint NOT NULL
log_entries.seq bigint NOT NULL
log_entries.end_offset bigint NOT NULL
log_entries.at bigint NOT NULL
log_entries.bytes bytea NOT NULL
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
logs: logs_name_key UNIQUE (name)
logs: logs_pkey PRIMARY KEY (id)
CREATE UNIQUE INDEX logs_name_key ON logs USING btree (name)
CREATE UNIQUE INDEX logs_pkey ON logs USING btree (id)
schema_migrations.version bigint NOT NULL
schema_migrations.name text NOT NULL
schema_migrations.applied_at bigint NOT NULL
schema_migrations: schema_migrations_pkey PRIMARY KEY (version)
CREATE UNIQUE INDEX schema_migrations_pkey ON schema_migrations USING btree (version)
settings.key text COLLATE "C" NOT NULL
settings.value text NOT NULL
settings: settings_pkey PRIMARY KEY (key)
CREATE UNIQUE INDEX settings_pkey ON settings USING btree (key)
sign_in_links.hash text COLLATE "C" NOT NULL
sign_in_links.user_id text COLLATE "C" NOT NULL
sign_in_links.expires_at bigint NOT NULL
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
tokens: tokens_hash_key UNIQUE (hash)
tokens: tokens_pkey PRIMARY KEY (id)
tokens: tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
CREATE INDEX tokens_by_age ON tokens USING btree (created_at, id)
CREATE INDEX tokens_by_user ON tokens USING btree (user_id)
CREATE UNIQUE INDEX tokens_hash_key ON tokens USING btree (hash)
CREATE UNIQUE INDEX tokens_pkey ON tokens USING btree (id)
uploads.id text COLLATE "C" NOT NULL
uploads.owner text COLLATE "C" NOT NULL
uploads.size bigint NOT NULL DEFAULT 0
uploads.touched_at bigint NOT NULL
uploads: uploads_pkey PRIMARY KEY (id)
CREATE UNIQUE INDEX uploads_pkey ON uploads USING btree (id)
users.id text COLLATE "C" NOT NULL
users.username text COLLATE "C" NOT NULL
users.password_hash text
users.admin integer NOT NULL
users.disabled integer NOT NULL DEFAULT 0
users.created_at bigint NOT NULL
users.last_sign_in_at bigint
users: users_pkey PRIMARY KEY (id)
users: users_username_key UNIQUE (username)
CREATE UNIQUE INDEX users_pkey ON users USING btree (id)
CREATE UNIQUE INDEX users_username_key ON users USING btree (username)

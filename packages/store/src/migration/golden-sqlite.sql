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
CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  content TEXT NOT NULL UNIQUE,
  touched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE leases (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL,
  key TEXT NOT NULL,
  payload TEXT NOT NULL,
  holder TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  claims INTEGER NOT NULL DEFAULT 0,
  available_at INTEGER NOT NULL,
  UNIQUE (queue, key)
) STRICT;
CREATE INDEX leases_in_order ON leases (queue);
CREATE TABLE log_entries (
  log_id INTEGER NOT NULL REFERENCES logs (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  end_offset INTEGER NOT NULL,
  at INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (log_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE logs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  closed INTEGER NOT NULL DEFAULT 0,
  max_bytes INTEGER NOT NULL,
  max_entries INTEGER NOT NULL
) STRICT;
CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sign_in_links (
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sign_ins (
  jti TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_ins_by_user ON sign_ins (user_id);
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
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_age ON tokens (created_at, id);
CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  size INTEGER NOT NULL DEFAULT 0,
  touched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE users (
  id TEXT PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  password_hash TEXT,
  admin INTEGER NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_sign_in_at INTEGER
) STRICT, WITHOUT ROWID;

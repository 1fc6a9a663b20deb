import type { Migration } from './migration.ts'

/**
 * Jobs and judges. What a list shows is in `jobs`; the long texts of the inputs are apart. `claim_id`, `fence`, `begun` and
 * `released` are of the last claim. Usage is keyed by the claim's id, because the number of one that was given back is used
 * again. Holders and owners are looked up by name now: whose bytes are these, and how many.
 */
export const jobs: Migration = {
  version: 2,
  name: 'jobs',
  sqlite: `
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
) STRICT;
CREATE INDEX jobs_by_owner ON jobs (owner_id, created_at, id);
CREATE INDEX jobs_by_age ON jobs (created_at, id);
CREATE INDEX jobs_by_status ON jobs (status, created_at, id);
CREATE INDEX jobs_by_expiry ON jobs (expires_at);
CREATE TABLE job_inputs (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  spec TEXT NOT NULL,
  blob TEXT,
  files TEXT NOT NULL,
  cases TEXT NOT NULL
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
CREATE TABLE job_usage (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  claim_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  claim INTEGER NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (job_id, claim_id, attempt, call_id)
) STRICT;
CREATE TABLE judges (
  machine_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  drain INTEGER NOT NULL DEFAULT 0,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  facts TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_holders_by_holder ON blob_holders (holder);
CREATE INDEX uploads_by_owner ON uploads (owner);
`,
  postgres: `
CREATE TABLE jobs (
  id TEXT COLLATE "C" PRIMARY KEY,
  owner_id TEXT COLLATE "C" REFERENCES users (id),
  status TEXT COLLATE "C" NOT NULL,
  outline TEXT NOT NULL,
  retry_of TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  finished_at BIGINT,
  expires_at BIGINT,
  claim_id TEXT COLLATE "C",
  fence BIGINT,
  machine_id TEXT COLLATE "C",
  claimed_at BIGINT,
  begun INTEGER NOT NULL DEFAULT 0,
  released INTEGER NOT NULL DEFAULT 0,
  claims BIGINT NOT NULL DEFAULT 0,
  lost_claims BIGINT NOT NULL DEFAULT 0,
  attempt BIGINT NOT NULL DEFAULT 0,
  error TEXT,
  summary TEXT,
  containers TEXT
);
CREATE INDEX jobs_by_owner ON jobs (owner_id, created_at, id);
CREATE INDEX jobs_by_age ON jobs (created_at, id);
CREATE INDEX jobs_by_status ON jobs (status, created_at, id);
CREATE INDEX jobs_by_expiry ON jobs (expires_at);
CREATE TABLE job_inputs (
  job_id TEXT COLLATE "C" PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  spec TEXT NOT NULL,
  blob TEXT,
  files TEXT NOT NULL,
  cases TEXT NOT NULL
);
CREATE TABLE job_artifacts (
  job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  claim BIGINT NOT NULL,
  sha256 TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (job_id, name)
);
CREATE TABLE job_usage (
  job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  claim_id TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  call_id TEXT COLLATE "C" NOT NULL,
  claim BIGINT NOT NULL,
  body TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (job_id, claim_id, attempt, call_id)
);
CREATE TABLE judges (
  machine_id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  drain INTEGER NOT NULL DEFAULT 0,
  first_seen_at BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL,
  facts TEXT
);
CREATE INDEX blob_holders_by_holder ON blob_holders (holder);
CREATE INDEX uploads_by_owner ON uploads (owner);
`,
}

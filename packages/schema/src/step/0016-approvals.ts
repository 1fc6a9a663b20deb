import type { Migration } from './migration.ts'

/** Calls that people are asked about. They go with their agent. */
const columns = (text: string, integer: string) => `
  id ${text} PRIMARY KEY,
  agent_id ${text} NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  owner_id ${text} NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL,
  mount TEXT,
  name TEXT NOT NULL,
  digest ${text} NOT NULL,
  arguments TEXT NOT NULL,
  preview TEXT NOT NULL,
  preview_sha256 TEXT NOT NULL,
  caller TEXT NOT NULL,
  reason TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  fence ${integer} NOT NULL,
  created_at ${integer} NOT NULL,
  expires_at ${integer} NOT NULL,
  caller_gone_at ${integer},
  decision TEXT,
  decided_by TEXT,
  decision_reason TEXT,
  decided_at ${integer},
  resolved_by TEXT,
  dispatched_at ${integer},
  ended_at ${integer}`
const INDEXES = `
CREATE INDEX approvals_by_age ON approvals (created_at, id);
CREATE INDEX approvals_by_owner ON approvals (owner_id, status, created_at);
CREATE INDEX approvals_by_agent ON approvals (agent_id, status, created_at);
CREATE INDEX approvals_open ON approvals (expires_at) WHERE status IN ('pending', 'approved');
CREATE INDEX approvals_ended ON approvals (ended_at) WHERE ended_at IS NOT NULL;
`

export const approvals: Migration = {
  version: 16,
  name: 'approvals',
  sqlite: `CREATE TABLE approvals (${columns('TEXT', 'INTEGER')}
) STRICT;${INDEXES}`,
  postgres: `CREATE TABLE approvals (${columns('TEXT COLLATE "C"', 'BIGINT')}
);${INDEXES}`,
}

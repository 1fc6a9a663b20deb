import type { Migration } from './migration.ts'

/** Policies in versions, what people allow for a while, and what an approval is bound to beyond its call. */
const tables = (text: string, integer: string, end: string) => `
CREATE TABLE policies (
  subject ${text} NOT NULL,
  version ${integer} NOT NULL,
  layer TEXT NOT NULL,
  user_id ${text} REFERENCES users (id),
  agent_id ${text} REFERENCES agents (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  note TEXT NOT NULL,
  review TEXT,
  base ${integer},
  created_by TEXT NOT NULL,
  created_at ${integer} NOT NULL,
  activated_by TEXT,
  activated_at ${integer},
  PRIMARY KEY (subject, version)
)${end};
CREATE UNIQUE INDEX policies_active ON policies (subject) WHERE status = 'active';
CREATE INDEX policies_by_agent ON policies (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX policies_by_user ON policies (user_id) WHERE user_id IS NOT NULL;
CREATE TABLE allowances (
  id ${text} PRIMARY KEY,
  agent_id ${text} NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  session TEXT,
  kind TEXT NOT NULL,
  mount TEXT,
  mount_version ${integer},
  name TEXT NOT NULL,
  digest TEXT,
  answers TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at ${integer} NOT NULL,
  expires_at ${integer} NOT NULL
)${end};
CREATE INDEX allowances_by_agent ON allowances (agent_id, expires_at);
CREATE INDEX allowances_by_end ON allowances (expires_at);
ALTER TABLE approvals ADD COLUMN mount_version ${integer};
ALTER TABLE approvals ADD COLUMN policy TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN rule TEXT;
ALTER TABLE approvals ADD COLUMN layer TEXT;
ALTER TABLE approvals ADD COLUMN askers TEXT NOT NULL DEFAULT '["default"]';
ALTER TABLE approvals ADD COLUMN approvers TEXT NOT NULL DEFAULT '[]';
ALTER TABLE approvals ADD COLUMN people TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN votes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE approvals ADD COLUMN edited TEXT;
`

export const policies: Migration = {
  version: 17,
  name: 'policies',
  sqlite: tables('TEXT', 'INTEGER', ' STRICT'),
  postgres: tables('TEXT COLLATE "C"', 'BIGINT', ''),
}

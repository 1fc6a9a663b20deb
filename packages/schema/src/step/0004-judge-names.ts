import type { Migration } from './migration.ts'

/**
 * What people call a judge stands on the job too, because a judge that is gone is forgotten before its jobs are. A judge's
 * token says which judges go with it when it is revoked; `left_at` is when it stopped asking for work.
 */
export const judgeNames: Migration = {
  version: 4,
  name: 'judge-names',
  sqlite: `
ALTER TABLE jobs ADD COLUMN judge_name TEXT;
ALTER TABLE judges ADD COLUMN token_id TEXT;
ALTER TABLE judges ADD COLUMN left_at INTEGER;
`,
  postgres: `
ALTER TABLE jobs ADD COLUMN judge_name TEXT;
ALTER TABLE judges ADD COLUMN token_id TEXT COLLATE "C";
ALTER TABLE judges ADD COLUMN left_at BIGINT;
`,
}

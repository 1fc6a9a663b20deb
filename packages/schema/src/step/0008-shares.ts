import type { Migration } from './migration.ts'

/**
 * What a person has us keep is counted whole: `kept_bytes` of a job are its texts and the room that was made for its logs, which
 * is the caps of the logs. Logs of before had all the room they could ever get; they keep what they filled. The quota has a
 * person's own bounds.
 */
export const shares: Migration = {
  version: 8,
  name: 'shares',
  sqlite: `
ALTER TABLE jobs ADD COLUMN kept_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quotas ADD COLUMN kept_bytes INTEGER;
ALTER TABLE quotas ADD COLUMN kept_jobs INTEGER;
UPDATE logs SET max_bytes = coalesce((SELECT e.end_offset FROM log_entries e WHERE e.log_id = logs.id ORDER BY e.seq DESC LIMIT 1), 0)
  WHERE name >= 'job/' AND name < 'job0';
UPDATE jobs SET kept_bytes = octet_length(outline)
  + coalesce((SELECT octet_length(i.spec) + octet_length(i.files) + octet_length(i.cases) FROM job_inputs i WHERE i.job_id = jobs.id), 0)
  + coalesce((SELECT sum(l.max_bytes) FROM logs l WHERE l.name IN ('job/' || jobs.id || '/terminal',
      'job/' || jobs.id || '/agent_status', 'job/' || jobs.id || '/cases', 'job/' || jobs.id || '/transcript')), 0);
CREATE INDEX jobs_by_share ON jobs (owner_id, status, kept_bytes);
`,
  postgres: `
ALTER TABLE jobs ADD COLUMN kept_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE quotas ADD COLUMN kept_bytes BIGINT;
ALTER TABLE quotas ADD COLUMN kept_jobs BIGINT;
UPDATE logs SET max_bytes = end_offset WHERE name >= 'job/' AND name < 'job0';
UPDATE jobs SET kept_bytes = octet_length(outline)
  + coalesce((SELECT octet_length(i.spec) + octet_length(i.files) + octet_length(i.cases) FROM job_inputs i WHERE i.job_id = jobs.id), 0)
  + coalesce((SELECT sum(l.max_bytes) FROM logs l WHERE l.name IN ('job/' || jobs.id || '/terminal',
      'job/' || jobs.id || '/agent_status', 'job/' || jobs.id || '/cases', 'job/' || jobs.id || '/transcript')), 0);
CREATE INDEX jobs_by_share ON jobs (owner_id, status, kept_bytes);
`,
}

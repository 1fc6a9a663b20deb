import { JOB_LIMITS } from './limits.ts'
import type { Report, ReportSummary, SandboxFacts } from './report.ts'
import type { JobSpec } from './spec.ts'
import type { JobError } from './status.ts'

/** The counts of a job of which no case was looked at. */
export const NO_CASES: ReportSummary = {
  total: 0,
  judged: 0,
  run_only: 0,
  passed: 0,
  failed: 0,
  skipped: 0,
  first_failure: null,
  first_failure_verdict: null,
  first_failure_message: null,
  score: 0,
  max_score: 0,
  time_ms: 0,
  memory_kb: 0,
}

/** The report of a job that failed before anything of it was tested: why, and under which terms it would have been. */
export function untestedReport(
  spec: Pick<JobSpec, 'language' | 'limits'> & {
    readonly compile: JobSpec['compile']
    readonly tests: Pick<JobSpec['tests'], 'compare'>
  },
  about: {
    readonly jobId: string
    readonly ownerId: string | null
    readonly attempt: number
    readonly claim: number
    /** Null when no judge lived to tell. */
    readonly judge: string | null
    readonly sandbox: SandboxFacts | null
    readonly error: JobError
  },
): Report {
  const { time_limit_ms, memory_limit_mb, cpus, pids_limit, max_output_bytes_per_test } = spec.limits
  return {
    schema_version: 'report.v1',
    job_id: about.jobId,
    owner_user_id: about.ownerId,
    status: 'failed',
    unjudged: false,
    mode: 'none',
    attempt: about.attempt,
    claim: about.claim,
    environment: {
      language: spec.language,
      language_version: null,
      cpp_std: spec.compile.cpp_std,
      compare_mode: spec.tests.compare.mode,
      time_limit_ms,
      memory_limit_mb,
      cpus,
      pids_limit,
      max_output_bytes_per_test,
      judge: about.judge,
      sandbox: about.sandbox,
    },
    compile: null,
    tests: [],
    groups: [],
    summary: NO_CASES,
    error: about.error,
    truncation: { max_stream_bytes: JOB_LIMITS.reportStreamBytes, terminal_log_truncated: false },
    notes: [],
  }
}

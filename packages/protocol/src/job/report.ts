import * as z from 'zod'
import { CaseResult, Verdict } from './case.ts'
import { CompareMode } from './compare.ts'
import { Language } from './language.ts'
import { JobError } from './status.ts'

/** What the sandbox of a judge enforces: part of every report, so that a verdict can be weighed. */
export const SandboxFacts = z.object({
  driver: z.string(),
  tier: z.string(),
  enforced: z.record(z.string(), z.string()),
  missing: z.array(z.string()),
})
export type SandboxFacts = z.infer<typeof SandboxFacts>

export const CompileResult = z.object({
  cmd: z.array(z.string()),
  ok: z.boolean(),
  exit_code: z.int().nullable(),
  stdout_b64: z.string(),
  stderr_b64: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  time_ms: z.number(),
  memory_kb: z.int(),
  cached: z.boolean(),
  message: z.string().nullable(),
})
export type CompileResult = z.infer<typeof CompileResult>

export const GroupScore = z.object({
  name: z.string(),
  points: z.number(),
  score: z.number(),
  passed: z.int(),
  /** Of how many cases the answer was judged; reports from before this was counted leave it out. */
  judged: z.int().optional(),
  total: z.int(),
})
export type GroupScore = z.infer<typeof GroupScore>

export const ReportSummary = z.object({
  total: z.int(),
  judged: z.int(),
  run_only: z.int(),
  passed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  first_failure: z.string().nullable(),
  first_failure_verdict: Verdict.nullable(),
  first_failure_message: z.string().nullable(),
  score: z.number(),
  max_score: z.number(),
  time_ms: z.number(),
  memory_kb: z.int(),
})
export type ReportSummary = z.infer<typeof ReportSummary>

/** `report.json`: what a judge found, one per job that ended by itself. */
export const Report = z.object({
  schema_version: z.literal('report.v1'),
  job_id: z.string(),
  owner_user_id: z.string().nullable(),
  status: z.enum(['succeeded', 'failed', 'cancelled']),
  /** It succeeded and no case was judged: that the program answers rightly is not proved. */
  unjudged: z.boolean().default(false),
  mode: z.enum(['compile_only', 'compile_and_test', 'none']),
  attempt: z.int(),
  claim: z.int(),
  environment: z.object({
    language: Language,
    language_version: z.string().nullable(),
    cpp_std: z.string().nullable(),
    compare_mode: CompareMode,
    time_limit_ms: z.int(),
    memory_limit_mb: z.int(),
    cpus: z.int(),
    pids_limit: z.int(),
    max_output_bytes_per_test: z.int(),
    judge: z.string().nullable(),
    sandbox: SandboxFacts.nullable(),
  }),
  compile: CompileResult.nullable(),
  tests: z.array(CaseResult),
  groups: z.array(GroupScore),
  summary: ReportSummary,
  error: JobError.nullable(),
  truncation: z.object({ max_stream_bytes: z.int(), terminal_log_truncated: z.boolean() }),
  notes: z.array(z.string()),
})
export type Report = z.infer<typeof Report>

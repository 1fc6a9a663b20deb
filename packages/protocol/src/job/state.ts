import * as z from 'zod'
import { JobId } from '../ids.ts'
import { Language } from './language.ts'
import type { JobLogName } from './log-name.ts'
import { EngineName, ReasoningEffort, SearchMode } from './spec.ts'
import { JobError, JobStatus } from './status.ts'
import { ReportSummary } from './report.ts'
import { Waiting } from './waiting.ts'

const Container = z
  .object({ id: z.string(), name: z.string(), exit_code: z.int().nullable(), attempt: z.int() })
  .partial()
  .nullable()

/** Where each log of the job ends now, in bytes. */
export const JobOffsets = z.object({ terminal: z.int(), agent_status: z.int(), cases: z.int() } satisfies Record<
  JobLogName,
  z.ZodInt
>)
export type JobOffsets = z.infer<typeof JobOffsets>

/** `state.json`: what became of a job so far. */
export const JobState = z.object({
  schema_version: z.literal('state.v1'),
  job_id: JobId,
  owner_user_id: z.string().nullable(),
  /** The name of the account that it belongs to. */
  owner: z.string().nullable(),
  title: z.string(),
  status: JobStatus,
  /** Why it is with no judge; null unless it is `queued`, and when one is about to take it. */
  waiting: Waiting.nullable(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime().nullable(),
  language: Language,
  model: z.string().nullable(),
  upstream_channel: z.string().nullable(),
  engine: EngineName.nullable(),
  search_mode: SearchMode,
  reasoning_effort: ReasoningEffort,
  limits: z.object({ time_limit_ms: z.int(), memory_limit_mb: z.int() }),
  resource_limits: z.object({
    cpus: z.int(),
    memory_limit_mb: z.int(),
    pids_limit: z.int(),
    max_output_bytes_per_test: z.int(),
    max_terminal_log_bytes: z.int(),
  }),
  containers: z.object({ generate: Container, test: Container }),
  artifacts: z.object({
    main_cpp: z.boolean(),
    solution_json: z.boolean(),
    report_json: z.boolean(),
    names: z.array(z.string()),
  }),
  error: JobError.nullable(),
  /** `name` is what people call the judge; `machine_id` tells it from all others. */
  judge: z.object({ machine_id: z.string(), name: z.string(), claimed_at: z.iso.datetime(), claim_id: z.string() }).nullable(),
  /** How often a judge took it, and how many of them were lost at work. */
  claims: z.int(),
  lost_claims: z.int(),
  attempt: z.int(),
  summary: ReportSummary.nullable(),
  /** It succeeded and no case was judged: that the program answers rightly is not proved. */
  unjudged: z.boolean(),
  retry_of: JobId.nullable(),
})
export type JobState = z.infer<typeof JobState>

/** What a judge may set by `judge.job.patch_state`. Everything else is the gateway's to say. */
export const JobPatch = z.strictObject({
  status: z.enum(['running_generate', 'running_test', 'succeeded', 'failed', 'cancelled']).optional(),
  attempt: z.int().min(1).max(100).optional(),
  /** Who cancelled a job is the gateway's to say. */
  error: JobError.omit({ by: true }).nullable().optional(),
  summary: ReportSummary.nullable().optional(),
  containers: z.object({ generate: Container.optional(), test: Container.optional() }).optional(),
})
export type JobPatch = z.infer<typeof JobPatch>

import * as z from 'zod'

// The fields that clients of the first job bus read, with their types, written out and not taken from our own schemas.
// More fields may stand beside them; none of these may go or change.

const Time = z.iso.datetime()
const Count = z.int().min(0)
const Status = z.enum(['created', 'queued', 'running_generate', 'running_test', 'succeeded', 'failed', 'cancelled'])
const Failure = z.looseObject({ code: z.string().min(1), message: z.string() }).nullable()
const Base64 = z.base64()

export const SeedModels = z.looseObject({
  items: z.array(
    z.looseObject({
      model: z.string(),
      upstream_channel: z.string(),
      display_name: z.string(),
      currency: z.string(),
      unit: z.string(),
      input_microusd_per_1m_tokens: z.int(),
      cached_input_microusd_per_1m_tokens: z.int(),
      output_microusd_per_1m_tokens: z.int(),
      cached_output_microusd_per_1m_tokens: z.int(),
    }),
  ),
})
export const SeedCreated = z.looseObject({ job_id: z.string().min(1), status: z.literal('created'), created_at: Time })
export const SeedStatus = z.looseObject({ job_id: z.string(), status: Status })

const Container = z
  .looseObject({ id: z.string(), name: z.string(), exit_code: z.int().nullable(), attempt: z.int() })
  .partial()
  .nullable()

export const SeedState = z.looseObject({
  schema_version: z.literal('state.v1'),
  job_id: z.string(),
  owner_user_id: z.string(),
  status: Status,
  created_at: Time,
  started_at: Time.nullable(),
  finished_at: Time.nullable(),
  expires_at: Time.nullable(),
  model: z.string().nullable(),
  upstream_channel: z.string().nullable(),
  search_mode: z.enum(['disabled', 'cached', 'live']),
  reasoning_effort: z.enum(['low', 'medium', 'high', 'xhigh']),
  limits: z.looseObject({ time_limit_ms: z.int(), memory_limit_mb: z.int() }),
  resource_limits: z.looseObject({
    cpus: z.number(),
    memory_limit_mb: z.int(),
    pids_limit: z.int(),
    max_output_bytes_per_test: z.int(),
    max_terminal_log_bytes: z.int(),
  }),
  containers: z.looseObject({ generate: Container, test: Container }),
  artifacts: z.looseObject({ main_cpp: z.boolean(), solution_json: z.boolean(), report_json: z.boolean() }),
  error: Failure,
  judge: z.looseObject({ machine_id: z.string(), claimed_at: Time, claim_id: z.string().regex(/^[0-9a-f]{32}$/) }).nullable(),
})
export type SeedState = z.infer<typeof SeedState>

const Case = {
  name: z.string(),
  group: z.string(),
  input_rel: z.string().startsWith('tests/'),
  expected_rel: z.string().startsWith('tests/').nullable(),
  expected_present: z.boolean(),
}
export const SeedTests = z.looseObject({ items: z.array(z.looseObject(Case)), total: Count })

const Shown = { text: z.string(), truncated: z.boolean(), bytes: Count }
export const SeedPreview = z.looseObject({
  input: z.looseObject(Shown),
  expected: z.looseObject({ ...Shown, missing: z.boolean().optional() }).nullable(),
})

export const SeedSubscribed = z.looseObject({ job_id: z.string(), streams: z.array(z.string()) })

/** One line of `agent_status.jsonl`. */
export const SeedLine = z.looseObject({
  ts: z.string(),
  job_id: z.string(),
  attempt: z.int().min(1),
  stage: z.enum(['analysis', 'plan', 'search', 'coding', 'test', 'repair', 'done', 'error']),
  level: z.enum(['info', 'warn', 'error']),
  progress: z.number().nullable(),
  summary: z.string().max(200),
  meta: z.record(z.string(), z.unknown()),
  seq: z.string(),
})
export const SeedStatusNote = z.looseObject({ job_id: z.string(), offset: Count, item: SeedLine })
export const SeedTerminalNote = z.looseObject({ job_id: z.string(), offset: Count, chunk_b64: Base64 })

const Streams = { stdout_b64: Base64, stderr_b64: Base64, stdout_truncated: z.boolean(), stderr_truncated: z.boolean() }
const Result = z.looseObject({
  ...Case,
  ...Streams,
  verdict: z.string(),
  exit_code: z.int(),
  timeout: z.boolean(),
  output_limit_exceeded: z.boolean(),
  signal: z.string().nullable(),
  time_ms: z.number(),
  memory_kb: z.int(),
  diff: z.looseObject({
    ok: z.boolean(),
    mode: z.string(),
    message: z.string(),
    expected_preview_b64: Base64,
    actual_preview_b64: Base64,
  }),
})

export const SeedReport = z.looseObject({
  schema_version: z.literal('report.v1'),
  job_id: z.string(),
  owner_user_id: z.string(),
  status: z.enum(['succeeded', 'failed']),
  mode: z.enum(['compile_only', 'compile_and_test']),
  environment: z.looseObject({
    cpp_std: z.string(),
    compare_mode: z.string(),
    time_limit_ms: z.int(),
    memory_limit_mb: z.int(),
    cpus: z.number(),
    pids_limit: z.int(),
    max_output_bytes_per_test: z.int(),
  }),
  compile: z.looseObject({ ...Streams, cmd: z.array(z.string()), ok: z.boolean(), exit_code: z.int() }),
  tests: z.array(Result),
  summary: z.looseObject({
    total: Count,
    judged: Count,
    run_only: Count,
    passed: Count,
    failed: Count,
    skipped: Count,
    first_failure: z.string().nullable(),
    first_failure_verdict: z.string().nullable(),
    first_failure_message: z.string().nullable(),
  }),
  error: Failure,
  truncation: z.looseObject({ max_stream_bytes: z.int(), terminal_log_truncated: z.boolean() }),
})

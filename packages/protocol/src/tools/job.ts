import * as z from 'zod'
import { JobId } from '../ids.ts'
import { CompareMode, FloatTolerance, JudgeProgram, TestsFormat } from '../job/compare.ts'
import { Language } from '../job/language.ts'
import { JOB_LIMITS } from '../job/limits.ts'
import { EngineName, ReasoningEffort, SearchMode } from '../job/spec.ts'
import { JobState } from '../job/state.ts'
import { JobStatus } from '../job/status.ts'
import { Waiting } from '../job/waiting.ts'
import { JobBudget } from '../model/budget.ts'
import { ADDS, ENDS, READS, SETS, tool } from '../tool.ts'
import { Sha256 } from './blob.ts'
import { ModelName } from './models.ts'

const { timeLimitMs, memoryLimitMb } = JOB_LIMITS
const JobAndStatus = z.object({ job_id: JobId, status: JobStatus })
const NewJob = JobAndStatus.extend({
  created_at: z.iso.datetime(),
  /** Its page; null where the gateway does not know its own address. */
  url: z.string().nullable(),
  /** Why it would wait if it were started now; empty when there is a judge for it. */
  warnings: z.array(Waiting),
})

export const jobCreate = tool({
  name: 'job.create',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Hands in a problem with its tests. With a model an agent writes the solution; without one `current_code` is judged as it is, which needs tests. Start it with job.start.',
  input: z.strictObject({
    statement_md: z.string().max(JOB_LIMITS.statementBytes).default(''),
    title: z.string().max(200).optional(),
    model: ModelName.optional(),
    upstream_channel: z.string().max(256).optional(),
    engine: EngineName.optional(),
    language: Language.default('cpp'),
    current_code: z.string().max(JOB_LIMITS.codeBytes).optional(),
    current_code_cpp: z.string().max(JOB_LIMITS.codeBytes).optional(),
    tests_zip_b64: z.string().optional(),
    tests_blob: Sha256.optional(),
    tests_format: TestsFormat.default('auto'),
    samples: z.array(z.string().max(1_024)).max(JOB_LIMITS.zipEntries).optional(),
    compare_mode: CompareMode.default('tokens'),
    float_tolerance: FloatTolerance.optional(),
    checker: JudgeProgram.optional(),
    interactor: JudgeProgram.optional(),
    run_if_no_expected: z.boolean().default(true),
    search_mode: SearchMode.default('cached'),
    reasoning_effort: ReasoningEffort.default('medium'),
    max_attempts: z.int().min(1).max(10).default(3),
    budget: JobBudget.partial().strict().optional(),
    time_limit_ms: z.int().min(timeLimitMs.min).max(timeLimitMs.max).default(timeLimitMs.default),
    memory_limit_mb: z.int().min(memoryLimitMb.min).max(memoryLimitMb.max).default(memoryLimitMb.default),
  }),
  output: NewJob,
  annotations: ADDS,
})

export const jobStart = tool({
  name: 'job.start',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Puts a created job in the queue. Again while it waits or runs: nothing changes. A finished one is a conflict; job.retry makes a new one.',
  input: z.strictObject({ job_id: JobId }),
  output: JobAndStatus,
  annotations: SETS,
})

export const jobCancel = tool({
  name: 'job.cancel',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Ends a job in whatever state it is; a judge at work on it stops within a second. A finished one stays as it is.',
  input: z.strictObject({ job_id: JobId }),
  output: JobAndStatus,
  annotations: ENDS,
})

export const jobRetry = tool({
  name: 'job.retry',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Makes a new job from the inputs of one that ended, and starts it.',
  input: z.strictObject({ job_id: JobId }),
  output: NewJob.extend({ retry_of: JobId }),
  annotations: ADDS,
})

export const jobDelete = tool({
  name: 'job.delete',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Removes a job that is not at work, with its inputs, logs and artifacts.',
  input: z.strictObject({ job_id: JobId }),
  output: z.object({ job_id: JobId, deleted: z.literal(true) }),
  annotations: ENDS,
})

export const jobGetState = tool({
  name: 'job.get_state',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'What became of a job so far (`state.json`).',
  input: z.strictObject({ job_id: JobId }),
  output: JobState,
  annotations: READS,
})

export const jobWait = tool({
  name: 'job.wait',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Answers when the job has ended or after `wait_ms`, whichever is first.',
  input: z.strictObject({ job_id: JobId, wait_ms: z.int().min(0).max(JOB_LIMITS.waitMs).default(JOB_LIMITS.waitMs) }),
  output: z.object({ job_id: JobId, status: JobStatus, ended: z.boolean(), state: JobState }),
  annotations: READS,
})

/** A job as it is listed. */
export const JobListItem = JobState.pick({
  job_id: true,
  owner_user_id: true,
  owner: true,
  title: true,
  status: true,
  waiting: true,
  language: true,
  model: true,
  created_at: true,
  started_at: true,
  finished_at: true,
  expires_at: true,
  error: true,
  summary: true,
  unjudged: true,
  retry_of: true,
})
export type JobListItem = z.infer<typeof JobListItem>

export const jobList = tool({
  name: 'job.list',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Your jobs, newest first; an admin sees those of everybody, or of `owner_user_id`.',
  input: z.strictObject({
    status: z.array(JobStatus).max(JobStatus.options.length).optional(),
    owner_user_id: z.string().max(64).optional(),
    cursor: z.string().max(256).optional(),
    limit: z.int().min(1).max(200).default(50),
  }),
  output: z.object({ items: z.array(JobListItem), next_cursor: z.string().nullable() }),
  annotations: READS,
})

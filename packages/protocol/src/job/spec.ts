import * as z from 'zod'
import { CompareMode, FloatTolerance, JudgeProgram, TestsFormat } from './compare.ts'
import { JobBudget } from '../model/budget.ts'
import { Language } from './language.ts'

export const SearchMode = z.enum(['disabled', 'cached', 'live'])
export const ReasoningEffort = z.enum(['low', 'medium', 'high', 'xhigh'])
export const EngineName = z.enum(['mini', 'codex'])
export type EngineName = z.infer<typeof EngineName>
export type ReasoningEffort = z.infer<typeof ReasoningEffort>

/** `input/job.json` as a judge reads it: what is asked for, never what became of it. */
export const JobSpec = z.object({
  schema_version: z.literal('job.v1'),
  job_id: z.string(),
  owner_user_id: z.string().nullable(),
  title: z.string(),
  language: Language,
  /** Null: the code is judged as it is. */
  model: z.string().nullable(),
  upstream_channel: z.string().nullable(),
  engine: EngineName.nullable(),
  problem: z.object({ statement_md: z.string() }),
  /** `current_code_cpp` is the same text again for C++, and empty for every other language. */
  seed: z.object({ current_code: z.string(), current_code_cpp: z.string() }),
  search_mode: SearchMode,
  reasoning_effort: ReasoningEffort,
  /** Rounds of generate and test, and what the calls of the model may use up over all of them. */
  max_attempts: z.int().min(1).max(10).default(3),
  budget: JobBudget.default({ tokens: null, microusd: null }),
  limits: z.object({
    time_limit_ms: z.int(),
    memory_limit_mb: z.int(),
    cpus: z.int(),
    pids_limit: z.int(),
    max_output_bytes_per_test: z.int(),
    max_terminal_log_bytes: z.int(),
  }),
  compile: z.object({ cpp_std: z.string().nullable() }),
  tests: z.object({
    dir: z.literal('tests'),
    present: z.boolean(),
    format: TestsFormat,
    compare: z.object({ mode: CompareMode, tolerance: FloatTolerance.nullable() }),
    run_if_no_expected: z.boolean(),
    checker: JudgeProgram.nullable(),
    interactor: JudgeProgram.nullable(),
    /** Names of the cases that the agent may see; null: the manifest says, or all of them. */
    samples: z.array(z.string()).nullable(),
  }),
})
export type JobSpec = z.infer<typeof JobSpec>

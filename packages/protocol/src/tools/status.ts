import * as z from 'zod'
import { AgentStage } from '../job/agent-status.ts'
import { Language } from '../job/language.ts'
import { JOB_LIMITS } from '../job/limits.ts'
import { ADDS, tool } from '../tool.ts'

export const STATUS_SERVER_NAME = 'realmoi-status'

/** Bounds of what an engine tells about itself. */
export const STATUS_LIMITS = {
  summaryChars: 200,
  deltaChars: 20_000,
  /** The same line again within this is folded into the one before. */
  foldMs: 1_000,
  selfTestSeconds: { default: 90, min: 10, max: 600 },
  /** How much of the compiler’s words and of each text of the first failure is answered. */
  tailChars: 4_000,
} as const

const Level = z.enum(['info', 'warn', 'error'])
const Meta = z.record(z.string(), z.unknown())
/** A stage that is not known is taken for `analysis`: a status line is never worth a failed turn. */
const Stage = z.string().describe(`one of ${AgentStage.options.join(', ')}`)
const Which = { job_id: z.string().optional(), attempt: z.int().optional() }

const statusUpdate = tool({
  name: 'status.update',
  roles: ['agent'],
  doc: 'Tells whoever watches what you are doing: one short line, at most 200 characters.',
  input: z.object({
    stage: Stage,
    summary: z.string(),
    ...Which,
    level: Level.optional(),
    progress: z.number().optional(),
    meta: Meta.optional(),
  }),
  output: z.object({ seq: z.string().optional(), deduped: z.boolean().optional() }),
  annotations: ADDS,
})

const agentDelta = tool({
  name: 'agent.delta',
  roles: ['agent'],
  doc: 'A piece of what is being written: a message, reasoning, output of a command. At most 20000 characters.',
  input: z.object({
    stage: Stage,
    kind: z.string().max(64),
    delta: z.string().default(''),
    ...Which,
    level: Level.optional(),
    meta: Meta.optional(),
  }),
  output: z.object({ seq: z.string() }),
  annotations: ADDS,
})

/** The first case that did not pass, with as much of its data as fits. Hidden cases show their verdict alone. */
export const SelfTestFailure = z.object({
  name: z.string(),
  verdict: z.string(),
  message: z.string().nullable(),
  hidden: z.boolean(),
  input: z.string().nullable(),
  expected: z.string().nullable(),
  actual: z.string().nullable(),
  stderr: z.string().nullable(),
  time_ms: z.number(),
  memory_kb: z.int(),
})
export type SelfTestFailure = z.infer<typeof SelfTestFailure>

const judgeSelfTest = tool({
  name: 'judge.self_test',
  roles: ['agent'],
  doc: 'Compiles your solution and runs it on the job’s cases in the sandbox, as the judge will. Call it before you answer, and again after every change, until `ok` is true. `unjudged`: nothing failed, but no answer was judged either.',
  input: z.object({
    main_cpp: z.string().max(JOB_LIMITS.codeBytes).optional(),
    source: z.string().max(JOB_LIMITS.codeBytes).optional(),
    /** Left out: the language of the job. */
    language: Language.optional(),
    timeout_seconds: z.number().optional().describe('10 to 600, 90 by default'),
  }),
  output: z.looseObject({
    ok: z.boolean(),
    status: z.string(),
    runner_exit_code: z.int().nullable().optional(),
    compile_ok: z.boolean().nullable().optional(),
    compile_output: z.string().optional(),
    first_failure: z.string().nullable().optional(),
    first_failure_verdict: z.string().nullable().optional(),
    first_failure_message: z.string().nullable().optional(),
    failure: SelfTestFailure.nullable().optional(),
    stdout_tail: z.string().optional(),
    stderr_tail: z.string().optional(),
    /** It ran without a failure, and no case was judged: nothing is proved. `note` says why. */
    unjudged: z.boolean().optional(),
    note: z.string().optional(),
    passed: z.int().optional(),
    judged: z.int().optional(),
    run_only: z.int().optional(),
    total: z.int().optional(),
    hidden_passed: z.int().optional(),
    hidden_total: z.int().optional(),
    time_ms: z.number().optional(),
    memory_kb: z.int().optional(),
    error: z.string().optional(),
  }),
  annotations: ADDS,
})

/** The tools of the status server: an engine’s, not those of a role. */
export const STATUS_TOOLS = {
  'agent.delta': agentDelta,
  'judge.self_test': judgeSelfTest,
  'status.update': statusUpdate,
} as const

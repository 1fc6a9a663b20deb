import * as z from 'zod'
import { JOB_LIMITS } from '../job/limits.ts'
import { JobState } from '../job/state.ts'
import { PreparedModel } from '../model/prepared.ts'
import { READS, SETS, tool } from '../tool.ts'
import { Claimed, JudgeAction } from './judge.ts'
import { UsageTotal } from './usage.ts'

const Done = z.object({ ok: z.literal(true), action: JudgeAction })
const Chunk = Claimed.extend({ offset: z.int().min(0), chunk_b64: z.string() })
/** A log that stands elsewhere is a normal answer: go on from `current_offset`. */
const Appended = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(false), code: z.literal('offset_mismatch'), current_offset: z.int(), action: JudgeAction }),
  z.object({ ok: z.literal(true), next_offset: z.int(), written_bytes: z.int(), action: JudgeAction }),
])
const JsonDocument = z.record(z.string(), z.unknown())

export const judgeJobGetState = tool({
  name: 'judge.job.get_state',
  roles: ['judge'],
  doc: 'What became of the job so far.',
  input: Claimed,
  output: JobState,
  annotations: READS,
})

export const judgeJobPatchState = tool({
  name: 'judge.job.patch_state',
  roles: ['judge'],
  doc: 'Moves the job on: `status`, `attempt`, `error`, `summary`, `containers`. Other fields may only repeat what they are. An end is set once; a cancelled job takes `summary` alone.',
  input: Claimed.extend({ patch: JsonDocument }),
  output: Done,
  annotations: SETS,
})

const appends = <const Name extends string>(name: Name, what: string) =>
  tool({
    name,
    roles: ['judge'],
    doc: `Adds to ${what} at an offset. A resend is harmless; past its cap nothing is written and nothing fails.`,
    input: Chunk,
    output: Appended,
    annotations: SETS,
  })

export const judgeJobAppendTerminal = appends('judge.job.append_terminal', 'the terminal log')
export const judgeJobAppendAgentStatus = appends('judge.job.append_agent_status', 'the agent’s status lines')
export const judgeJobAppendCase = appends('judge.job.append_case', 'the lines of finished cases')
export const judgeJobAppendTranscript = appends('judge.job.append_transcript', 'the engine’s transcript')

export const judgeJobReadTranscript = tool({
  name: 'judge.job.read_transcript',
  roles: ['judge'],
  doc: 'The transcript that earlier claims left, from an offset, so that this one can go on.',
  input: Claimed.extend({
    offset: z.int().min(0).default(0),
    max_bytes: z.int().min(1).max(JOB_LIMITS.chunkBytes).default(JOB_LIMITS.chunkBytes),
  }),
  output: z.object({ chunk_b64: z.string(), next_offset: z.int(), eof: z.boolean(), action: JudgeAction }),
  annotations: READS,
})

export const judgeJobPutArtifacts = tool({
  name: 'judge.job.put_artifacts',
  roles: ['judge'],
  doc: 'Stores what the job produced; the same again changes nothing. `files` holds any other by name, `attempt_1/…` among them.',
  input: Claimed.extend({
    attempt: z.int().min(1).max(100).default(1),
    main_cpp: z.string().max(JOB_LIMITS.codeBytes).optional(),
    solution_json: JsonDocument.optional(),
    report_json: JsonDocument.optional(),
    files: z.record(z.string().max(256), z.string().max(JOB_LIMITS.artifactBytes)).optional(),
  }),
  output: Done,
  annotations: SETS,
})

export const judgePrepareGenerate = tool({
  name: 'judge.prepare_generate',
  roles: ['judge'],
  doc: 'The short-lived key, model and budget of an attempt. Code that is judged as it is needs none: that is a conflict.',
  input: Claimed.extend({ attempt: z.int().min(1).max(100).default(1) }),
  output: PreparedModel.extend({
    /** The same again in the form that older judges read. */
    effective_config_toml: z.string(),
    auth_json_b64: z.string(),
    openai_base_url: z.string(),
    mock_mode: z.boolean(),
    action: JudgeAction,
  }),
  annotations: SETS,
})

export const judgeUsageIngest = tool({
  name: 'judge.usage.ingest',
  roles: ['judge'],
  doc: 'Books the tokens of one call of a model. The same `call_id` of the same claim and attempt is booked once; what passed the gateway’s own model proxy is booked already.',
  input: Claimed.extend({
    attempt: z.int().min(1).max(100),
    call_id: z.string().min(1).max(128).default('attempt'),
    usage: JsonDocument,
  }),
  output: Done.extend({
    /** False: it was counted already, when it passed the gateway or by an earlier call. */
    booked: z.boolean(),
    /** All calls of the job so far. */
    total: UsageTotal,
  }),
  annotations: SETS,
})

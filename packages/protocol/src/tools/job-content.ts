import * as z from 'zod'
import { JobId } from '../ids.ts'
import { JOB_LIMITS } from '../job/limits.ts'
import { JobLogName, JobStream } from '../job/log-name.ts'
import { JobOffsets } from '../job/state.ts'
import { TestCase } from '../tests/case-list.ts'
import { READS, SETS, tool } from '../tool.ts'

const { previewBytes, chunkBytes, waitMs } = JOB_LIMITS
const Offset = z.int().min(0)
const Preview = z.object({ text: z.string(), truncated: z.boolean(), bytes: z.int(), missing: z.boolean() })

export const jobGetArtifacts = tool({
  name: 'job.get_artifacts',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'What the job produced, by name: a source file as text, a `.json` as an object. What is not there is left out.',
  input: z.strictObject({ job_id: JobId, names: z.array(z.string().max(256)).max(JOB_LIMITS.artifacts).optional() }),
  output: z.object({ items: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.unknown())])) }),
  annotations: READS,
})

export const jobGetTests = tool({
  name: 'job.get_tests',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'The cases of the job in the order in which they are judged.',
  input: z.strictObject({ job_id: JobId }),
  output: z.object({ items: z.array(TestCase), total: z.int() }),
  annotations: READS,
})

export const jobGetTestPreview = tool({
  name: 'job.get_test_preview',
  roles: ['user'],
  scopes: ['jobs'],
  doc: "The beginning of a case's input and of its expected output.",
  input: z.strictObject({
    job_id: JobId,
    input_rel: z.string().max(1_024),
    expected_rel: z.string().max(1_024).nullable().optional(),
    max_bytes: z.int().min(1).max(previewBytes.max).default(previewBytes.default),
  }),
  output: z.object({ input: Preview, expected: Preview.nullable() }),
  annotations: READS,
})

export const jobGetInput = tool({
  name: 'job.get_input',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'What was handed in, by name: the statement, the code, checker and interactor, and all files of the tests, hidden ones too. job.read_input reads one.',
  input: z.strictObject({ job_id: JobId }),
  output: z.object({ job_id: JobId, items: z.array(z.object({ path: z.string(), bytes: z.int() })) }),
  annotations: READS,
})

export const jobReadInput = tool({
  name: 'job.read_input',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Bytes of one file that was handed in, from an offset. `eof`: this was the last of it.',
  input: z.strictObject({
    job_id: JobId,
    path: z.string().max(1_024),
    offset: Offset.default(0),
    max_bytes: z.int().min(1).max(chunkBytes).default(previewBytes.default),
  }),
  output: z.object({
    job_id: JobId,
    path: z.string(),
    offset: z.int(),
    chunk_b64: z.string(),
    next_offset: z.int(),
    eof: z.boolean(),
  }),
  annotations: READS,
})

export const jobSubscribe = tool({
  name: 'job.subscribe',
  roles: ['user'],
  scopes: ['jobs', 'read'],
  doc: 'Sends the job as it happens, as notifications on this connection, from the offsets given (0: from the beginning). Again for a stream: the later call counts.',
  input: z.strictObject({
    job_id: JobId,
    streams: z.array(JobStream).max(JobStream.options.length).default(['agent_status']),
    agent_status_offset: Offset.optional(),
    terminal_offset: Offset.optional(),
    cases_offset: Offset.optional(),
  }),
  output: z.object({ job_id: JobId, streams: z.array(JobStream) }),
  annotations: SETS,
})

export const jobUnsubscribe = tool({
  name: 'job.unsubscribe',
  roles: ['user'],
  scopes: ['jobs', 'read'],
  doc: 'Ends streams of job.subscribe on this connection; all of them when none is named.',
  input: z.strictObject({ job_id: JobId, streams: z.array(JobStream).max(JobStream.options.length).optional() }),
  output: z.object({ job_id: JobId, streams: z.array(JobStream) }),
  annotations: SETS,
})

export const jobReadLog = tool({
  name: 'job.read_log',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Bytes of a log from an offset; waits up to `wait_ms` for the first one. `eof`: the job has ended and this was the last of it.',
  input: z.strictObject({
    job_id: JobId,
    stream: JobLogName,
    offset: Offset.default(0),
    max_bytes: z.int().min(1).max(chunkBytes).default(previewBytes.default),
    wait_ms: z.int().min(0).max(waitMs).default(0),
  }),
  output: z.object({
    job_id: JobId,
    stream: JobLogName,
    offset: z.int(),
    chunk_b64: z.string(),
    next_offset: z.int(),
    eof: z.boolean(),
    ends: JobOffsets,
  }),
  annotations: READS,
})

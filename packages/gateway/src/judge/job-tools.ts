import { END_STATUSES, JOB_LIMITS, JOB_LOGS, TOOLS, ToolError, type WrittenLog } from '@parley/protocol'
import { Conflict, jobHolder, jobLog } from '@parley/store'
import { jobStateOf } from '../job/state-view.ts'
import { appendChunk } from './append.ts'
import { readArtifacts } from './artifacts.ts'
import { actionOf, asHolder } from './held-job.ts'
import { readPatch, withCounts } from './patch.ts'
import { ingestUsage } from './ingest.ts'
import { writeLastUsage, writeUsage } from './usage.ts'
import { prepareGenerate } from './prepare-generate.ts'
import { serveTool } from './judge-world.ts'

/** What a judge sends a thousand times a second is in the job's own logs: only what was refused is written down. */
const OFTEN = { audit: 'failures' } as const

export const judgeJobGetState = serveTool(
  TOOLS['judge.job.get_state'],
  (args, context) => asHolder(args, context, ({ job }) => jobStateOf(job)),
  OFTEN,
)

export const judgeJobPatchState = serveTool(
  TOOLS['judge.job.patch_state'],
  (args, context) =>
    asHolder(args, context, async ({ key, job }) => {
      const told = readPatch(args.patch, jobStateOf(job))
      const isCounted = told.status === 'succeeded' || (told.summary ?? null) !== null
      const patch = isCounted ? withCounts(told, job.summary, (await context.world.desk.inputs.of(job.id)).judgeable) : told
      // Before the end is set, so that whoever hears of it finds what it came to, also from a judge that never tells.
      if (job.spec.model !== null && isEndWord(args.patch['status'])) await writeLastUsage(context.world, key, job)
      const done = { ok: true as const, action: actionOf(job) }
      if (Object.keys(patch).length === 0) return done
      try {
        return { ...done, action: actionOf(await context.world.store.jobs.patch(key, patch, JOB_LIMITS.keptMs)) }
      } catch (error) {
        if (!(error instanceof Conflict) || patch.status === undefined) throw error
        const { status } = (await context.world.store.jobs.byId(job.id)) ?? job
        throw new ToolError('conflict', `the job is ${status}: ${patch.status} may not follow`, {
          field: 'patch.status',
          cause: error,
        })
      }
    }),
  { anyText: ['patch'] },
)

const appends = (log: WrittenLog) =>
  serveTool(
    TOOLS[JOB_LOGS[log].append],
    (args, context) => asHolder(args, context, (held) => appendChunk(context.world.store, held, log, args)),
    OFTEN,
  )

export const judgeJobAppendTerminal = appends('terminal')
export const judgeJobAppendAgentStatus = appends('agent_status')
export const judgeJobAppendCase = appends('cases')
export const judgeJobAppendTranscript = appends('transcript')

export const judgeJobReadTranscript = serveTool(
  TOOLS['judge.job.read_transcript'],
  (args, context) =>
    asHolder(args, context, async ({ job, action }) => {
      const { offset, max_bytes: maxBytes } = args
      const { logs } = context.world.store
      const name = jobLog(job.id, 'transcript')
      const page = await logs.read(name, { from: { offset }, maxBytes })
      // A page holds at least one entry, however large.
      const bytes = Buffer.concat(page.entries.map((entry) => entry.bytes)).subarray(0, maxBytes)
      const end = await logs.end(name)
      const next = Math.min(offset, end.offset) + bytes.length
      return { chunk_b64: bytes.toString('base64'), next_offset: next, eof: next >= end.offset, action }
    }),
  OFTEN,
)

export const judgeJobPutArtifacts = serveTool(
  TOOLS['judge.job.put_artifacts'],
  (args, context) =>
    asHolder(args, context, async ({ key, job, action }) => {
      const { blobs, jobs } = context.world.store
      const found = readArtifacts(args, job.artifactNames, (await context.world.desk.inputs.of(job.id)).judgeable)
      const stored = []
      for (const { name, bytes } of found)
        stored.push({ name, attempt: args.attempt, ...(await blobs.put(bytes, jobHolder(job.id))) })
      if (stored.length > 0) await jobs.putArtifacts(key, stored)
      return { ok: true as const, action }
    }),
  { anyText: ['main_cpp', 'solution_json', 'report_json', 'files'] },
)

export const judgePrepareGenerate = serveTool(TOOLS['judge.prepare_generate'], (args, context) =>
  asHolder(args, context, (held) => prepareGenerate(args, held, context)),
)

export const judgeUsageIngest = serveTool(TOOLS['judge.usage.ingest'], (args, context) =>
  asHolder(args, context, async (held) => {
    const { world } = context
    const booked = await ingestUsage(world, held, args)
    await writeUsage(world, held.key, held.job, args.attempt)
    return { ok: true as const, action: held.action, booked, total: await world.store.usages.totalOf(held.job.id) }
  }),
)

const isEndWord = (status: unknown): boolean => END_STATUSES.some((end) => end === status)

import { TOOLS, ToolError, iso, wrongArgument } from '@parley/protocol'
import { LeaseLost, NotFound } from '@parley/store'
import { claimNext } from './claim-next.ts'
import { asHolder, leaseLost } from './held-job.ts'
import { judgeViews } from './judge-view.ts'
import { writeLastUsage } from './usage.ts'
import { serveTool } from './judge-world.ts'

/** How long a job that a judge cannot do waits for another one. */
const UNSUPPORTED_MS = 1_000
/** What a judge tells about itself is kept and shown to admins, all judges in one list. */
const FACTS_MAX_CHARS = 16_384

/** A call that may wait for half a minute is written down when it ends: what it took is in the job's own record. */
export const judgeClaimNext = serveTool(
  TOOLS['judge.claim_next'],
  (args, context) => {
    if (args.facts !== undefined && JSON.stringify(args.facts).length > FACTS_MAX_CHARS)
      throw wrongArgument('facts', `must have at most ${FACTS_MAX_CHARS} characters as JSON`)
    return claimNext(args, context)
  },
  { audit: 'soon' },
)

export const judgeReleaseClaim = serveTool(TOOLS['judge.release_claim'], async ({ job_id, claim_id, reason }, context) => {
  const { desk, store, now } = context.world
  context.target = job_id
  // First, or it would hear of its own release.
  desk.controls.forget(claim_id)
  desk.inputs.forget(job_id)
  const key = { jobId: job_id, claimId: claim_id }
  try {
    const job = await store.jobs.byId(job_id)
    // Nobody sets the end of a cancelled job, and a call of its may have been cut a moment ago.
    if (job?.status === 'cancelled' && job.spec.model !== null) await writeLastUsage(context.world, key, job)
    await store.jobs.release(key, {
      countLoss: reason === 'done',
      ...(reason === 'unsupported' ? { notBefore: now() + UNSUPPORTED_MS } : {}),
    })
  } catch (error) {
    throw error instanceof LeaseLost || error instanceof NotFound ? leaseLost(job_id, error) : error
  }
  desk.polls.released(claim_id)
  desk.loadChanged()
  return { released: true as const }
})

export const judgeHeartbeat = serveTool(
  TOOLS['judge.heartbeat'],
  (args, context) =>
    asHolder(args, context, ({ action, expiresAt }) => ({ ok: true as const, action, lease_expires_at: iso(expiresAt) })),
  { audit: 'failures' },
)

export const judgeInputList = serveTool(
  TOOLS['judge.input.list'],
  (args, context) =>
    asHolder(args, context, async ({ action }) => {
      const { items } = await context.world.desk.inputs.of(args.job_id)
      return { items: [...items], action }
    }),
  { audit: 'failures' },
)

export const judgeInputReadChunk = serveTool(
  TOOLS['judge.input.read_chunk'],
  (args, context) =>
    asHolder(args, context, async ({ action }) => {
      const inputs = await context.world.desk.inputs.of(args.job_id)
      const { bytes, nextOffset, eof } = await inputs.read(args.path, args.offset, args.max_bytes)
      return { path: args.path, chunk_b64: Buffer.from(bytes).toString('base64'), next_offset: nextOffset, eof, action }
    }),
  { audit: 'failures' },
)

export const judgeList = serveTool(TOOLS['judge.list'], (args, { world }) => judgeViews(world, args))

export const judgeDrain = serveTool(TOOLS['judge.drain'], async ({ machine_id, drain }, context) => {
  context.target = machine_id
  const judge = await context.world.store.judges.setDrain(machine_id, drain)
  if (judge === undefined)
    throw new ToolError('not_found', `there is no judge ${machine_id}`, { field: 'machine_id', hint: 'judge.list has them' })
  return { machine_id: judge.machineId, drain: judge.drain }
})

import { ToolError, type ToolArguments, type ToolOutput } from '@parley/protocol'
import { type ClaimKey, Conflict, JOB_QUEUE, type JudgeRecord, type Judges, laneOf } from '@parley/store'
import { logEnds } from '../job/log-read.ts'
import type { JudgeContext, JudgeWorld } from './judge-world.ts'
import { type Poll, wokenOrLate } from './polls.ts'
import { type TakenJob, type TakingJudge, takeJob } from './take-job.ts'

/** How often one call may look, at jobs that are not for it most of all; then it answers that there was none. */
const LOOKS_MAX = 256

type Answer = ToolOutput<'judge.claim_next'>

/** Waits for a job that this judge can do and takes it. Nobody polls: the queue, a drain or the end of the call wakes it. */
export async function claimNext(args: ToolArguments<'judge.claim_next'>, context: JudgeContext): Promise<Answer> {
  const { world, call, caller } = context
  const { desk, store } = world
  const { machine_id: machineId, facts } = args
  const { tokenId } = caller
  if (desk.polls.closed)
    throw new ToolError('unavailable', 'this gateway is shutting down', { hint: 'connect again in a moment' })
  const until = performance.now() + args.wait_ms
  return await desk.polls.run({ machineId, tokenId }, call?.cancellation, async (poll) => {
    const entry = await seenAs(store, { machineId, tokenId, ...namesOf(args, caller), ...(facts === undefined ? {} : { facts }) })
    const { name } = entry
    const leave = desk.presence.waits(entry.machineId)
    try {
      poll.drain(entry.drain)
      const taken = await takeWithin(
        world,
        poll,
        { machineId: entry.machineId, name, facts, left: new Map(), holding: holdingOf(args) },
        until,
      )
      if (taken === undefined) return { claimed: false, name, drain: poll.drained }
      const { id: jobId } = taken.job
      const answer = await answerOf(world, taken, name)
      if (poll.ended) return await giveBack(world, taken, name)
      context.target = jobId
      if (call?.link !== undefined) desk.controls.watch({ jobId, claimId: taken.claimId }, call.link)
      desk.count('claimed')
      desk.loadChanged()
      return answer
    } finally {
      leave()
      if (call?.cancellation.aborted === true) await desk.left(entry.machineId)
    }
  })
}

/** What people call a judge; beside one of another token that said the same of itself, what tells the two apart. */
function namesOf(
  { name, machine_id }: ToolArguments<'judge.claim_next'>,
  caller: JudgeContext['caller'],
): { readonly name: string; readonly nameBeside: string } {
  if (name === undefined && caller.tokenId !== null) return { name: caller.name, nameBeside: caller.name }
  const said = name ?? machine_id
  return { name: said, nameBeside: `${said} (${caller.name})` }
}

async function seenAs(store: JudgeWorld['store'], judge: Parameters<Judges['seen']>[0]): Promise<JudgeRecord> {
  try {
    return await store.judges.seen(judge)
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
    throw new ToolError('conflict', `machine_id: ${error.message}`, {
      field: 'machine_id',
      hint: 'give this judge another one (parley judge --name)',
      cause: error,
    })
  }
}

const holdingOf = ({ holding = [] }: ToolArguments<'judge.claim_next'>): readonly ClaimKey[] =>
  holding.map(({ job_id, claim_id }) => ({ jobId: job_id, claimId: claim_id }))

/** The first job that waits, or comes in time, and that this judge can do. A drained judge waits for the drain to be lifted. */
async function takeWithin(world: JudgeWorld, poll: Poll, judge: TakingJudge, until: number): Promise<TakenJob | undefined> {
  const { desk, store } = world
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const { signal } = poll
    const without = await lanesTaken(world, poll, judge)
    const waitMs = Math.max(0, Math.ceil(until - performance.now()))
    // A guest is for a judge with a free slot first; one who had to leave a job must not come before whoever can do it.
    const standsBack = without.length > 0 || judge.left.size > 0
    const lease = poll.drained
      ? await wokenOrLate(signal, waitMs)
      : await store.leases.claim(JOB_QUEUE, judge.machineId, { ttlMs: desk.leaseMs, waitMs, signal, without, standsBack })
    if (lease !== undefined) {
      const taken = await takeJob(world, lease, judge)
      if (taken !== undefined) return taken
    } else if (poll.ended || !signal.aborted) return undefined
  }
  return undefined
}

/**
 * Whose jobs are not for a judge with full slots: those of whoever has one there already. Read anew at each look, because what it holds
 * ends while it waits; it takes nothing else meanwhile, so it can only become less.
 */
async function lanesTaken({ store }: JudgeWorld, poll: Poll, { facts, holding }: TakingJudge): Promise<readonly string[]> {
  const slots = facts?.slots ?? 1
  if (holding.length < slots) return []
  // Before they are read, so that the end of none of them is missed in between.
  poll.dependsOn(holding.map(({ claimId }) => claimId))
  const held = await store.jobs.heldAmong(holding)
  const isFull = held.length >= slots
  poll.dependsOn(isFull ? held.map(({ claimId }) => claimId) : [])
  return isFull ? [...new Set(held.map(({ ownerId }) => laneOf(ownerId)))] : []
}

/** A judge that is gone already gets nothing: the job waits for another at once and not for the end of the lease. */
async function giveBack({ store, desk }: JudgeWorld, { job, claimId }: TakenJob, name: string): Promise<Answer> {
  await store.jobs.release({ jobId: job.id, claimId }, { countLoss: false })
  desk.count('given_back')
  return { claimed: false, name, drain: false }
}

async function answerOf({ store, desk }: JudgeWorld, taken: TakenJob, name: string): Promise<Answer> {
  const { job, claimId, previousClaimId } = taken
  return {
    claimed: true,
    name,
    job_id: job.id,
    owner_user_id: job.ownerId,
    claim_id: claimId,
    claim: job.claims,
    ...(previousClaimId === undefined ? {} : { previous_claim_id: previousClaimId }),
    lease_ms: desk.leaseMs,
    offsets: await logEnds(store, job.id),
    drain: false,
  }
}

import { type JudgeFacts, ToolError, type ToolArguments, type ToolOutput } from '@parley/protocol'
import { JOB_QUEUE } from '@parley/store'
import { logEnds } from '../job/log-read.ts'
import type { ToolContext, World } from '../tool/served-tool.ts'
import { type Poll, wokenOrLate } from './polls.ts'
import { type TakenJob, takeJob } from './take-job.ts'

/** How often one call may look, at jobs that are not for it most of all; then it answers that there was none. */
const LOOKS_MAX = 256

type Answer = ToolOutput<'judge.claim_next'>

/** Waits for a job that this judge can do and takes it. Nobody polls: the queue, a drain or the end of the call wakes it. */
export async function claimNext(args: ToolArguments<'judge.claim_next'>, context: ToolContext): Promise<Answer> {
  const { world, call, caller } = context
  const { desk, store } = world
  const { machine_id: machineId, facts } = args
  if (desk.polls.closed)
    throw new ToolError('unavailable', 'this gateway is shutting down', { hint: 'connect again in a moment' })
  const name = args.name ?? (caller.tokenId === null ? machineId : caller.name)
  const until = performance.now() + args.wait_ms
  const leave = desk.presence.waits(machineId)
  try {
    return await desk.polls.run(machineId, call?.cancellation, async (poll) => {
      const judge = await store.judges.seen({
        machineId,
        name,
        tokenId: caller.tokenId,
        ...(facts === undefined ? {} : { facts }),
      })
      poll.drain(judge.drain)
      const taken = await takeWithin(world, poll, { name, facts }, until)
      if (taken === undefined) return { claimed: false, name, drain: poll.drained }
      const { id: jobId } = taken.job
      const answer = await answerOf(world, taken, name)
      if (poll.ended) return await giveBack(world, taken, name)
      context.target = jobId
      if (call?.link !== undefined) desk.controls.watch({ jobId, claimId: taken.claimId }, call.link)
      desk.count('claimed')
      desk.loadChanged()
      return answer
    })
  } finally {
    leave()
    if (call?.cancellation.aborted === true) await desk.left(machineId)
  }
}

/** The first job that waits, or comes in time, and that this judge can do. A drained judge waits for the drain to be lifted. */
async function takeWithin(
  world: World,
  poll: Poll,
  { name, facts }: { readonly name: string; readonly facts: JudgeFacts | undefined },
  until: number,
): Promise<TakenJob | undefined> {
  const { desk, store } = world
  const left = new Map<string, number>()
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const { signal } = poll
    const waitMs = Math.max(0, Math.ceil(until - performance.now()))
    const lease = poll.drained
      ? await wokenOrLate(signal, waitMs)
      : await store.leases.claim(JOB_QUEUE, poll.machineId, { ttlMs: desk.leaseMs, waitMs, signal })
    if (lease !== undefined) {
      const taken = await takeJob(world, lease, { machineId: poll.machineId, name, facts, left })
      if (taken !== undefined) return taken
    } else if (poll.ended || !signal.aborted) return undefined
  }
  return undefined
}

/** A judge that is gone already gets nothing: the job waits for another at once and not for the end of the lease. */
async function giveBack({ store, desk }: World, { job, claimId }: TakenJob, name: string): Promise<Answer> {
  await store.jobs.release({ jobId: job.id, claimId }, { countLoss: false })
  desk.count('given_back')
  return { claimed: false, name, drain: false }
}

async function answerOf({ store, desk }: World, { job, claimId }: TakenJob, name: string): Promise<Answer> {
  return {
    claimed: true,
    name,
    job_id: job.id,
    owner_user_id: job.ownerId,
    claim_id: claimId,
    claim: job.claims,
    lease_ms: desk.leaseMs,
    offsets: await logEnds(store, job.id),
    drain: false,
  }
}

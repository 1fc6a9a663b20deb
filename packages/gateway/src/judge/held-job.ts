import { type JobId, type JudgeAction, ToolError } from '@parley/protocol'
import { type ClaimKey, type JobRecord, type LeaseFence, LeaseLost, NotFound } from '@parley/store'
import type { JudgeContext } from './judge-world.ts'

/** A job under the claim that the caller showed. */
export interface ClaimedJob {
  readonly key: ClaimKey
  readonly job: JobRecord
  readonly fence: LeaseFence
  readonly expiresAt: number
  readonly action: JudgeAction
}
interface Claimed {
  readonly job_id: JobId
  readonly claim_id: string
}

/** Renews the lease and then does the work; when the claim is over, before or meanwhile, it says `lease_lost`. */
export async function asHolder<Answer>(
  { job_id: jobId, claim_id: claimId }: Claimed,
  context: JudgeContext,
  work: (held: ClaimedJob) => Answer | Promise<Answer>,
): Promise<Answer> {
  const { world, call } = context
  const { desk, store } = world
  const key = { jobId, claimId }
  context.target = jobId
  try {
    const { job, fence, expiresAt } = await store.jobs.renew(key, desk.leaseMs)
    if (job.claim !== null) desk.presence.called(job.claim.machineId)
    if (call?.link !== undefined) desk.controls.watch(key, call.link)
    return await work({ key, job, fence, expiresAt, action: actionOf(job) })
  } catch (error) {
    throw error instanceof LeaseLost || error instanceof NotFound ? leaseLost(jobId, error) : error
  }
}

/** What the judge is to do with a job. */
export const actionOf = (job: Pick<JobRecord, 'status'>): JudgeAction => (job.status === 'cancelled' ? 'cancel' : 'continue')

export function leaseLost(jobId: JobId, cause: unknown): ToolError {
  return new ToolError('lease_lost', `this claim does not hold ${jobId} any more`, {
    hint: 'stop working on it; judge.claim_next gives you the next job',
    cause,
  })
}

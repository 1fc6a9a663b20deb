import { JOB_LIMITS, JobId, type JudgeFacts, isEnd } from '@parley/protocol'
import { type ClaimKey, type JobRecord, type Lease, LeaseLost } from '@parley/store'
import type { JudgeWorld } from './judge-world.ts'
import { preparePoisoned } from './poisoned.ts'
import { endBrokenLine } from './whole-lines.ts'
import { hasEngine, hasLanguage } from '../presence/who-fits.ts'

/**
 * How long a job that a judge cannot do is out of sight: briefly at first, because the judge that can may stand next in
 * line, and for twice as long each time it comes back.
 */
const HIDDEN_MS = { min: 50, max: 1_000 } as const
/** For so many of them they hide for longer, so that a judge gets past a queue full of jobs for others. */
const HIDDEN_STEP = 32
const CLAIM_ID_BYTES = 16

export interface TakenJob {
  readonly job: JobRecord
  readonly claimId: string
  /** The claim before, when no other can have written since: one that was given back leaves no trace of who came before it. */
  readonly previousClaimId: string | undefined
}
export interface TakingJudge {
  readonly machineId: string
  /** What people call it. */
  readonly name: string
  /** Left out: it knows every language and has every engine. */
  readonly facts: JudgeFacts | undefined
  /** What it held when it asked, if its slots were full. */
  readonly holding: readonly ClaimKey[]
  /** The jobs that it left to others in this call, and how often. */
  readonly left: Map<string, number>
}

/** Makes a lease on a job into a claim; `undefined` when it is not for this judge, or there is nothing to do any more. */
export async function takeJob(world: JudgeWorld, lease: Lease, judge: TakingJudge): Promise<TakenJob | undefined> {
  try {
    return await take(world, lease, judge)
  } catch (error) {
    // The database took longer than the lease: somebody else has the job now.
    if (error instanceof LeaseLost) return undefined
    throw error
  }
}

async function take(
  world: JudgeWorld,
  lease: Lease,
  { machineId, name, facts, left }: TakingJudge,
): Promise<TakenJob | undefined> {
  const { store, desk, now, random } = world
  const before = await store.jobs.byId(JobId.parse(lease.key))
  const lacks = before === undefined ? undefined : lackOf(before, facts)
  if (lacks !== undefined) {
    await store.leases.release(lease, { countClaim: false, notBefore: now() + hideMs(left, lease.key) })
    desk.count(lacks)
    return undefined
  }
  const claimId = Buffer.from(random(CLAIM_ID_BYTES)).toString('hex')
  const { lostClaims: maxLost, keptMs } = JOB_LIMITS
  const isLast = before !== undefined && isLastLoss(before, maxLost)
  const report = isLast ? { report: await preparePoisoned(world, before, lease) } : {}
  const taken = await store.jobs.claimed(lease, { id: claimId, machineId, judgeName: name, maxLost, keptMs, ...report })
  if (taken === undefined) return undefined
  if (taken.job.lostClaims > (before?.lostClaims ?? 0)) desk.count('lost')
  if (taken.kind === 'claimed') {
    await endBrokenLine(store, taken.job.id, 'agent_status', lease)
    await endBrokenLine(store, taken.job.id, 'cases', lease)
    return { job: taken.job, claimId, previousClaimId: before?.claim?.id }
  }
  desk.count('poisoned')
  return undefined
}

function hideMs(left: Map<string, number>, key: string): number {
  const times = left.get(key) ?? 0
  left.set(key, times + 1)
  const { min, max } = HIDDEN_MS
  return Math.min(max, min * 2 ** times) + max * Math.floor(left.size / HIDDEN_STEP)
}

/** Whether taking this job counts the loss that ends it. */
function isLastLoss({ status, claim, lostClaims }: JobRecord, maxLost: number): boolean {
  return !isEnd(status) && claim?.begun === true && lostClaims + 1 >= maxLost
}

/** What a judge lacks that the job needs. */
function lackOf({ spec }: JobRecord, facts: JudgeFacts | undefined): 'language' | 'engine' | undefined {
  if (!hasLanguage(facts, spec.language)) return 'language'
  return hasEngine(facts, spec) ? undefined : 'engine'
}

import { isDeepStrictEqual } from 'node:util'
import { type ToolArguments, ToolError, costOf } from '@parley/protocol'
import type { ReachableModel } from '@parley/models'
import type { JudgeWorld } from './judge-world.ts'
import type { ClaimedJob } from './held-job.ts'
import { type ToldUsage, readUsage } from './usage.ts'

/**
 * Books what a judge tells about a call, unless it is booked already: by the same word before, or because every call of an
 * attempt with a key passed our own proxy. Answers whether it was new.
 */
export async function ingestUsage(
  world: JudgeWorld,
  { job, key }: Pick<ClaimedJob, 'job' | 'key'>,
  { attempt, call_id: callId, usage }: Pick<ToolArguments<'judge.usage.ingest'>, 'attempt' | 'call_id' | 'usage'>,
): Promise<boolean> {
  const { usages, modelKeys } = world.store
  const told = readUsage(usage, job.spec.model)
  if (await modelKeys.has(key.claimId, attempt)) {
    const ours = await usages.byCall(key.claimId, attempt, callId)
    // Two estimates of one cut stream never agree, and tell nothing.
    if (ours?.status === 'booked' && !ours.estimated && !isDeepStrictEqual(ours.tokens, told.tokens))
      world.log.warn({ job: job.id, attempt, call: callId, ours: ours.tokens, theirs: told.tokens }, 'a judge counts otherwise')
    return false
  }
  const reachable = await reach(world, told, job.spec.upstream_channel)
  const prices = reachable?.prices ?? null
  return usages.add({
    jobId: job.id,
    agentId: null,
    prompt: null,
    ownerId: job.ownerId,
    claimId: key.claimId,
    claim: job.claims,
    attempt,
    callId,
    channel: reachable?.channel.name ?? job.spec.upstream_channel,
    model: told.model,
    threadId: told.threadId,
    estimated: false,
    tokens: told.tokens,
    prices,
    costMicrousd: prices === null ? null : costOf(told.tokens, prices),
  })
}

/** What the model costs, if it is one of ours. A judge with a model of its own is counted without a price. */
async function reach(
  { directory }: JudgeWorld,
  { model }: ToldUsage,
  channel: string | null,
): Promise<ReachableModel | undefined> {
  if (model === '') return undefined
  try {
    return await directory.resolve(model, channel)
  } catch (error) {
    if (error instanceof ToolError) return undefined
    throw error
  }
}

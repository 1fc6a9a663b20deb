import { type Budget, type ToolArguments, ToolError, type ToolOutput, iso } from '@parley/protocol'
import type { SpendLimits } from '@parley/store'
import { type ReachableModel, boundWords, mintModelKey, payable } from '@parley/models'
import type { ClaimedJob } from './held-job.ts'
import type { JudgeContext, JudgeWorld } from './judge-world.ts'
import { codexAuth, codexConfig } from './codex-config.ts'

/** What one attempt may take beside tokens and money. */
const ATTEMPT_WALL_MS = 20 * 60_000
const ATTEMPT_REQUESTS = 200

/** Makes the key of an attempt and tells all that an engine needs to use it. */
export async function prepareGenerate(
  { attempt }: Pick<ToolArguments<'judge.prepare_generate'>, 'attempt'>,
  { key, job, expiresAt, action }: ClaimedJob,
  { world, caller }: Pick<JudgeContext, 'world' | 'caller'>,
): Promise<ToolOutput<'judge.prepare_generate'>> {
  const { spec } = job
  if (spec.model === null) throw new ToolError('conflict', 'this job has no model: its code is judged as it is')
  const reachable = await world.directory.resolve(spec.model, spec.upstream_channel)
  const { channel, model, prices, contextTokens, script } = reachable
  const budget = await budgetLeft(world, job, reachable)
  const { text: apiKey, hash } = mintModelKey(world.random)
  await world.store.modelKeys.add(key, { hash, attempt, channel: channel.name, model, budget })
  const baseUrl = `${world.urlFor(caller.host)}/v1`
  const { wire } = channel
  return {
    base_url: baseUrl,
    api_key: apiKey,
    model,
    upstream_channel: channel.name,
    wire,
    expires_at: iso(expiresAt),
    budget,
    prices,
    context_tokens: contextTokens,
    script: script !== null,
    effective_config_toml: codexConfig({ model, baseUrl, wire, effort: spec.reasoning_effort }),
    auth_json_b64: codexAuth(apiKey),
    openai_base_url: baseUrl,
    // Older judges take it as a word to ask no model at all; a script is asked like any other.
    mock_mode: false,
    action,
  }
}

/** What is left of the job's budget and of its owner's day. Throws `quota_exceeded` when that is nothing. */
async function budgetLeft(
  { store, quotas }: JudgeWorld,
  job: ClaimedJob['job'],
  reachable: Pick<ReachableModel, 'script'>,
): Promise<Budget> {
  const limits = payable(await quotas.limitsFor(job), reachable)
  const ofOwner = await store.usages.spent(job.ownerId, limits.since)
  const ofJob = await store.usages.spentOnJob(job.id)
  const left = (limit: Exclude<keyof SpendLimits, 'since'>, used: number): number => {
    const most = limits[limit]
    if (most === null) return Infinity
    if (used < most) return most - used
    const { message } = boundWords({ limit, used, most }, quotas.resetsAt())
    throw new ToolError('quota_exceeded', message, { hint: 'end the job; it can be tried again when there is more' })
  }
  return {
    requests: ATTEMPT_REQUESTS,
    tokens: bound(left('ownerTokens', ofOwner.tokens), left('jobTokens', ofJob.tokens)),
    microusd: bound(left('ownerMicrousd', ofOwner.microusd), left('jobMicrousd', ofJob.microusd)),
    wall_ms: ATTEMPT_WALL_MS,
  }
}

function bound(...left: readonly number[]): number | null {
  const least = Math.min(...left)
  return least === Infinity ? null : least
}

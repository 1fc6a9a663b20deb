import { type Budget, type ToolArguments, ToolError, type ToolOutput } from '@parley/protocol'
import { type ReachableModel, jobBounds, mintModelKey, spendingLeft } from '@parley/models'
import { preparedModel } from '../channel/prepared-model.ts'
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
  const { channel, model } = reachable
  const budget = await budgetLeft(world, job, reachable)
  const { text: apiKey, hash } = mintModelKey(world.random)
  await world.store.modelKeys.add(key, { hash, attempt, channel: channel.name, model, budget })
  const baseUrl = `${world.urlFor(caller.host)}/v1`
  const { wire } = channel
  return {
    ...preparedModel(reachable, { baseUrl, apiKey, expiresAt, budget }),
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
  world: JudgeWorld,
  { id: jobId, ownerId, spec }: ClaimedJob['job'],
  reachable: Pick<ReachableModel, 'script'>,
): Promise<Budget> {
  const { tokens, microusd } = await spendingLeft(world, {
    spender: { jobId, ownerId, agentId: null, prompt: null },
    bounds: jobBounds(spec.budget),
    reachable,
    hint: 'end the job; it can be tried again when there is more',
  })
  return { requests: ATTEMPT_REQUESTS, tokens, microusd, wall_ms: ATTEMPT_WALL_MS }
}

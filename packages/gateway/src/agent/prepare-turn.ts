import { type Budget, type PromptId, TOOLS, ToolError } from '@parley/protocol'
import { agentBounds, mintModelKey, spendingLeft } from '@parley/models'
import { AGENT_QUEUE, type AgentRecord, Conflict, LeaseLost, type PromptRecord } from '@parley/store'
import { preparedModel } from '../channel/prepared-model.ts'
import { type AgentWorld, serveTool } from './agent-world.ts'
import { asHost } from './held-agent.ts'

const NEXT = 'host.next_prompt says which one this claim is to answer'
const HINT = 'end the prompt as failed; the agent’s owner sets other budgets with agent.update'

/** Makes the key of a turn and tells all that an engine needs to use it. */
export const hostPrepareTurn = serveTool(TOOLS['host.prepare_turn'], ({ prompt_id: promptId, ...claim }, context) =>
  asHost(claim, context, async (fence, agent) => {
    const { world, caller } = context
    const { store, directory, random, urlFor } = world
    const reachable = await directory.resolve(modelOf(agent), null).catch((error: unknown) => {
      throw forAgent(error)
    })
    const prompt = await runningPrompt(world, agent, promptId)
    const budget = await budgetLeft(world, agent, { prompt, reachable })
    const { text: apiKey, hash } = mintModelKey(random)
    const { channel, model } = reachable
    await store.modelKeys.addForAgent(fence, { hash, promptId, channel: channel.name, model, budget }).catch((error: unknown) => {
      throw error instanceof Conflict ? new ToolError('conflict', error.message, { hint: NEXT, cause: error }) : error
    })
    const lease = await store.leases.get(AGENT_QUEUE, agent.id)
    if (lease?.fence !== fence.fence) throw new LeaseLost(fence)
    const baseUrl = `${urlFor(caller.host)}/v1`
    return preparedModel(reachable, { baseUrl, apiKey, expiresAt: lease.expiresAt, budget })
  }),
)

function modelOf({ kind, name, settings: { model } }: AgentRecord): string {
  if (kind !== 'local') throw new ToolError('conflict', `agent ${name} is external: whoever runs it has a model of its own`)
  if (model === null)
    throw new ToolError('conflict', `agent ${name} has no model`, {
      hint: 'its owner sets one with agent.update; models.list has those that there are',
    })
  return model
}

/** What is wrong with the model of an agent is told to whoever reads its turns. */
function forAgent(error: unknown): unknown {
  if (!(error instanceof ToolError) || error.code !== 'not_found') return error
  return new ToolError(error.code, error.message.replace(/^model: /, ''), {
    hint: `its owner sets another with agent.update; ${error.hint ?? ''}`,
    cause: error,
  })
}

async function runningPrompt({ store }: AgentWorld, { id }: AgentRecord, promptId: PromptId): Promise<PromptRecord> {
  const prompt = await store.prompts.byId(id, promptId)
  if (prompt === undefined) throw new ToolError('not_found', `there is no prompt ${promptId}`, { field: 'prompt_id', hint: NEXT })
  if (prompt.status !== 'running') throw new ToolError('conflict', `prompt ${promptId} is ${prompt.status}`, { hint: NEXT })
  if (prompt.abortedAt !== null)
    throw new ToolError('conflict', `somebody wants the turn of prompt ${promptId} to end`, {
      hint: 'host.end_prompt, as interrupted',
    })
  return prompt
}

/** What is left of the turn, of the agent's day and all, and of its owner's day. Throws `quota_exceeded` when that is nothing. */
async function budgetLeft(
  world: AgentWorld,
  { id: agentId, ownerId, settings: { budgets } }: AgentRecord,
  { prompt, reachable }: { readonly prompt: PromptRecord; readonly reachable: Parameters<typeof preparedModel>[0] },
): Promise<Budget> {
  const spender = { agentId, prompt: prompt.number, ownerId, jobId: null }
  const bounds = agentBounds(budgets)
  const { tokens, microusd } = await spendingLeft(world, { spender, bounds, reachable, hint: HINT })
  const { calls } = await world.store.usages.spentIn('turn', spender, 0)
  const elapsedMs = Math.max(0, world.now() - (prompt.startedAt ?? prompt.createdAt))
  return {
    requests: left('requests', calls, budgets.turn.requests),
    tokens,
    microusd,
    wall_ms: left('wall_ms', elapsedMs, budgets.turn.wall_ms),
  }
}

function left(bound: 'requests' | 'wall_ms', used: number, most: number | null): number | null {
  if (most === null || used < most) return most === null ? null : most - used
  const unit = bound === 'requests' ? 'requests' : 'ms'
  throw new ToolError('quota_exceeded', `budgets.turn.${bound}: ${used} of ${most} ${unit} of the turn are used`, { hint: HINT })
}

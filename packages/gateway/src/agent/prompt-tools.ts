import { nameOf, type ToolContext, untilSo } from '@parley/access'
import { AGENT_LIMITS, type AgentId, type PromptId, TOOLS, ToolError, type ToolOutput } from '@parley/protocol'
import { type AgentRecord, NotFound, type PromptRecord, agentTopic } from '@parley/store'
import { withinShare } from '../blob/inputs-share.ts'
import { waitSignal } from '../job/tools.ts'
import { type AgentWorld, serveTool } from './agent-world.ts'
import { findAgent, noSuchAgent } from './find-agent.ts'
import { isEnded, promptView } from './prompt-view.ts'

const BOUNDS = { maxQueued: AGENT_LIMITS.promptsQueued, maxKept: AGENT_LIMITS.promptsKept }
/** People write what they like, and it is kept as JSON. */
const SAID = { anyText: ['text'] }

export const agentPrompt = serveTool(
  TOOLS['agent.prompt'],
  async ({ agent_id: id, text }, context) => ({ prompt: promptView(await tell(id, text, context)) }),
  SAID,
)

export const agentRun = serveTool(
  TOOLS['agent.run'],
  async ({ agent_id: id, text, wait_ms: waitMs }, context) => {
    const { id: prompt } = await tell(id, text, context)
    return waitFor(context, id, prompt, waitMs)
  },
  SAID,
)

export const agentWait = serveTool(TOOLS['agent.wait'], async ({ agent_id: id, prompt_id: prompt, wait_ms: waitMs }, context) => {
  await findAgent(context.world.store, id, context.caller)
  return waitFor(context, id, prompt, waitMs)
})

/** Tells it under the name of whoever calls. */
async function tell(id: AgentId, text: string, context: ToolContext<AgentWorld>): Promise<PromptRecord> {
  context.target = id
  const { store } = context.world
  const agent = await findAgent(store, id, context.caller)
  if (agent.kind === 'external') throw takesNoTurns(agent)
  if (agent.settings.model === null)
    throw new ToolError('conflict', `agent ${agent.name} has no model to take a turn on`, {
      hint: 'agent.update sets one; models.list has those that there are',
    })
  try {
    return await withinShare({}, () => store.prompts.add(id, { text, by: nameOf(context.caller) }, BOUNDS))
  } catch (error) {
    throw error instanceof NotFound ? noSuchAgent(id) : error
  }
}

const takesNoTurns = ({ name }: AgentRecord): ToolError =>
  new ToolError('conflict', `agent ${name} is external: it takes no turns here`, {
    hint: 'a program with its token (agent.token) is this agent; agent.create with kind local makes one that takes turns',
  })

async function waitFor(
  context: ToolContext<AgentWorld>,
  id: AgentId,
  prompt: PromptId,
  waitMs: number,
): Promise<ToolOutput<'agent.wait'>> {
  const { prompts, topics } = context.world.store
  const found = await untilSo(
    { topics },
    { topic: agentTopic(id), read: () => prompts.byId(id, prompt), isWanted: ({ status }) => isEnded(status) },
    { waitMs, signal: waitSignal(context) },
  )
  if (found === undefined) {
    await findAgent(context.world.store, id, context.caller)
    throw new ToolError('not_found', `agent ${id} was told nothing under ${prompt}`, {
      field: 'prompt_id',
      hint: 'agent.prompts has what it was told lately',
    })
  }
  return { prompt: promptView(found), ended: isEnded(found.status) }
}

export const agentPrompts = serveTool(TOOLS['agent.prompts'], async ({ agent_id: id, before, limit }, { caller, world }) => {
  await findAgent(world.store, id, caller)
  const found = await world.store.prompts.list(id, { ...(before === undefined ? {} : { before }), limit: limit + 1 })
  const items = found.slice(0, limit)
  return { items: items.map(promptView), next_before: found.length > limit ? (items.at(-1)?.number ?? null) : null }
})

export const agentAbort = serveTool(TOOLS['agent.abort'], async ({ agent_id: id, queued }, context) => {
  context.target = id
  const { store } = context.world
  await findAgent(store, id, context.caller)
  try {
    const { restEnded, ...aborted } = await store.prompts.abort(id, { queued })
    return { agent_id: id, ...aborted, rest_ended: restEnded }
  } catch (error) {
    // It was deleted in between.
    throw error instanceof NotFound ? noSuchAgent(id) : error
  }
})

import * as z from 'zod'
import { Agent, AgentKind, AgentName, AgentSettings } from '../agent/agent.ts'
import { AgentBudgets } from '../agent/budgets.ts'
import { AGENT_LIMITS } from '../agent/limits.ts'
import { WakeRules } from '../agent/wake.ts'
import { AgentId, TokenId, UserId } from '../ids.ts'
import { ADDS, ENDS, READS, SETS, tool } from '../tool.ts'
import { textWithin } from '../agent/text-within.ts'
import { ModelName } from './models.ts'

const PresetName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must have small letters, digits and hyphens')

const Changes = {
  instructions: textWithin(AGENT_LIMITS.instructionsBytes).optional(),
  model: ModelName.optional(),
  engine: AgentSettings.shape.engine.unwrap().optional(),
  budgets: AgentBudgets.optional(),
  folder: z.string().startsWith('/').max(4_096).nullable().optional(),
  wake: WakeRules.optional(),
}

/** `warnings`: what it can be made with, and take no turns: a model that nobody knows. */
const Changed = Agent.extend({ warnings: z.array(z.string()) })

export const agentCreate = tool({
  name: 'agent.create',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Makes an agent from a preset; what is given here wins over the preset. A `local` one takes turns on a model (agent.prompt, agent.run); an `external` one is a program of yours that comes with its token (agent.token).',
  input: z.strictObject({
    /** Left out: made from the preset’s name. */
    name: AgentName.optional(),
    preset: PresetName.default('default'),
    /** Left out: as the preset says; else local where there is a model, and external where there is none. */
    kind: AgentKind.optional(),
    ...Changes,
  }),
  output: Changed,
  annotations: ADDS,
})

export const agentList = tool({
  name: 'agent.list',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Your agents, newest first; an admin sees those of everybody, or of `owner_user_id`.',
  input: z.strictObject({
    owner_user_id: UserId.optional(),
    cursor: z.string().max(256).optional(),
    limit: z.int().min(1).max(200).default(50),
  }),
  output: z.object({ items: z.array(Agent), next_cursor: z.string().nullable() }),
  annotations: READS,
})

export const agentGet = tool({
  name: 'agent.get',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'One agent, with the host that holds it.',
  input: z.strictObject({ agent_id: AgentId }),
  output: Agent,
  annotations: READS,
})

export const agentUpdate = tool({
  name: 'agent.update',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Changes an agent. Left out: stays as it is. What it is doing goes on; the change counts from its next turn, that of budgets from its next call of the model.',
  input: z.strictObject({ agent_id: AgentId, name: AgentName.optional(), ...Changes }),
  output: Changed,
  annotations: SETS,
})

export const agentDelete = tool({
  name: 'agent.delete',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Ends an agent and removes all that is kept of it: tokens, mounts, logs, its folder on the host. Its token is refused within a second; calls under way are cut. Refused while a call that somebody approved is under way or `unknown`, unless `forget_unknown`.',
  input: z.strictObject({
    agent_id: AgentId,
    /** What became of such calls can be found out nowhere then: their record goes with the agent. */
    forget_unknown: z.boolean().default(false),
  }),
  output: z.object({ agent_id: AgentId, deleted: z.literal(true) }),
  annotations: ENDS,
})

export const agentToken = tool({
  name: 'agent.token',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'A token with which a program is this agent, on the same /mcp. Its text is in this answer and nowhere else. `rotate` ends those before it.',
  input: z.strictObject({
    agent_id: AgentId,
    ttl_seconds: z
      .int()
      .min(1)
      .max(365 * 86_400)
      .default(30 * 86_400),
    rotate: z.boolean().default(false),
  }),
  output: z.object({ token: z.string(), id: TokenId, agent_id: AgentId, expires_at: z.iso.datetime(), revoked: z.int() }),
  annotations: ADDS,
})

import * as z from 'zod'
import { AgentId, PromptId } from '../ids.ts'
import { EngineName } from '../job/spec.ts'
import { AgentBudgets } from './budgets.ts'
import { AGENT_LIMITS } from './limits.ts'
import { AgentRest, WakeRules } from './wake.ts'

/** `local`: our engine takes its turns. `external`: a program of somebody else's comes with its token. */
export const AgentKind = z.enum(['local', 'external'])
export type AgentKind = z.infer<typeof AgentKind>

/** What people call an agent; each of a person's has a name of its own. */
export const AgentName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must have 1 to 63 letters, digits, - _ or ., and begin with a letter or digit')

/** `asleep` is a row and nothing else; `waking` waits for a host; `awake` is held by one; `deleting` is on its way out. */
export const AgentStatus = z.enum(['asleep', 'waking', 'awake', 'deleting'])
export type AgentStatus = z.infer<typeof AgentStatus>

/** What is set of an agent, by its owner or by the preset it was made from. */
export const AgentSettings = z.object({
  /** The tools that set them count bytes; what was taken before by characters is read all the same. */
  instructions: z.string().max(AGENT_LIMITS.instructionsBytes),
  model: z.string().max(256).nullable(),
  engine: EngineName.nullable(),
  /** What a local one may use up. */
  budgets: AgentBudgets.prefault({}),
  /** The folder of its host that a local one works in; null: one of its own. */
  folder: z.string().startsWith('/').max(4_096).nullable().default(null),
  /** What wakes a local one while it rests. */
  wake: WakeRules.prefault({}),
})
export type AgentSettings = z.infer<typeof AgentSettings>

/** An agent as its owner sees it. */
export const Agent = AgentSettings.extend({
  agent_id: AgentId,
  name: AgentName,
  kind: AgentKind,
  owner_user_id: z.string(),
  owner: z.string(),
  preset: z.string(),
  status: AgentStatus,
  /** The host that holds it. */
  host: z.string().nullable(),
  mounts: z.int(),
  /** What a local one is answering, and how many prompts wait behind it. */
  turn: z.object({ running: PromptId.nullable(), queued: z.int() }),
  /** Calls of it that wait for a person to decide. */
  approvals_pending: z.int(),
  /** For what a local one waits that ended its last turn with loop_yield; null: it did not, or a turn has begun. */
  rest: AgentRest.nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type Agent = z.infer<typeof Agent>

import * as z from 'zod'
import { Agent, AgentName } from '../agent/agent.ts'
import { AGENT_LIMITS } from '../agent/limits.ts'
import { Prompt } from '../agent/prompt.ts'
import { AgentId, PromptId } from '../ids.ts'
import { ADDS, ENDS, READS, tool } from '../tool.ts'
import { textWithin } from '../agent/text-within.ts'

const Said = textWithin(AGENT_LIMITS.promptBytes).min(1)
const WaitMs = z.int().min(0).max(AGENT_LIMITS.runWaitMs)
/** `ended`: the turn is over; otherwise agent.wait waits on. */
const Answer = z.object({ prompt: Prompt, ended: z.boolean() })

export const agentPrompt = tool({
  name: 'agent.prompt',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Tells a local agent something and answers at once. While a turn runs it waits for its own, in order; none is dropped.',
  input: z.strictObject({ agent_id: AgentId, text: Said }),
  output: z.object({ prompt: Prompt }),
  annotations: ADDS,
})

export const agentRun = tool({
  name: 'agent.run',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Tells a local agent something and waits for the end of that turn, `wait_ms` at most. A call that is cut off takes nothing back: agent.wait goes on waiting.',
  input: z.strictObject({ agent_id: AgentId, text: Said, wait_ms: WaitMs.default(600_000) }),
  output: Answer,
  annotations: ADDS,
})

export const agentWait = tool({
  name: 'agent.wait',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Answers when the turn of a prompt has ended or after `wait_ms`, whichever is first.',
  input: z.strictObject({ agent_id: AgentId, prompt_id: PromptId, wait_ms: WaitMs.default(AGENT_LIMITS.logWaitMs) }),
  output: Answer,
  annotations: READS,
})

export const agentPrompts = tool({
  name: 'agent.prompts',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'What a local agent was told, newest first, with what became of it.',
  input: z.strictObject({
    agent_id: AgentId,
    before: z.int().min(1).optional(),
    limit: z.int().min(1).max(100).default(20),
  }),
  /** `next_before` is null when there is no more. */
  output: z.object({ items: z.array(Prompt), next_before: z.int().nullable() }),
  annotations: READS,
})

export const agentAbort = tool({
  name: 'agent.abort',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Ends the turn that a local agent is taking, and what it waits for that ended its last one itself, a time among it; what waits behind it goes on, unless `queued` takes that back too.',
  input: z.strictObject({ agent_id: AgentId, queued: z.boolean().default(false) }),
  output: z.object({ agent_id: AgentId, aborting: PromptId.nullable(), withdrawn: z.int(), rest_ended: z.boolean() }),
  annotations: ENDS,
})

export const agentFork = tool({
  name: 'agent.fork',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Makes a new local agent that knows what this one knew at a point of its transcript: `offset` is where a line of it ends (agent.read_log); left out, all of it. Mounts come along and the policy that holds it, prompts do not. A token with scopes needs `approvals` beside `agents`.',
  input: z.strictObject({ agent_id: AgentId, offset: z.int().min(0).optional(), name: AgentName.optional() }),
  output: Agent,
  annotations: ADDS,
})

export const AgentLogName = z.enum(['transcript', 'calls'])
export type AgentLogName = z.infer<typeof AgentLogName>

export const agentReadLog = tool({
  name: 'agent.read_log',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Whole lines of an agent’s transcript or of its log of calls, from an offset; waits up to `wait_ms` for the first one. A log of calls keeps the newest 64 MiB of 90 days: `not_found` says that an offset is gone and where the log begins now.',
  input: z.strictObject({
    agent_id: AgentId,
    log: AgentLogName,
    /** Left out: the first line that is kept. */
    offset: z.int().min(0).optional(),
    max_bytes: z.int().min(1).max(AGENT_LIMITS.transcriptPageBytes).default(65_536),
    wait_ms: z.int().min(0).max(AGENT_LIMITS.logWaitMs).default(0),
  }),
  output: z.object({
    agent_id: AgentId,
    log: AgentLogName,
    offset: z.int(),
    /** Each with the offset after it: hand that back to go on, or to agent.fork. */
    lines: z.array(z.object({ line: z.string(), next_offset: z.int() })),
    next_offset: z.int(),
    /** Where the log begins and ends now: what was before is not kept. */
    start: z.int(),
    end: z.int(),
  }),
  annotations: READS,
})

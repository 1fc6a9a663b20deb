import * as z from 'zod'
import { AgentId, PromptId } from '../ids.ts'
import type { Moves } from '../moves.ts'
import { AGENT_LIMITS } from './limits.ts'
import { NewsKind } from './wake.ts'

/**
 * `queued` waits for its turn; `running` is being answered; the others are ends. `withdrawn`: it was taken back before its turn began.
 */
export const PromptStatus = z.enum(['queued', 'running', 'completed', 'failed', 'interrupted', 'withdrawn'])
export type PromptStatus = z.infer<typeof PromptStatus>

/** Where each may go. A prompt that runs when its host dies stays `running`, and the next host goes on with it. */
export const PROMPT_MOVES: Moves<PromptStatus> = {
  queued: ['running', 'withdrawn'],
  running: ['completed', 'failed', 'interrupted'],
  completed: [],
  failed: [],
  interrupted: [],
  withdrawn: [],
}

/** How a turn ended. `message` is the last thing the model said, or why it failed; it is cut where it is very long. */
export const PromptOutcome = z.strictObject({
  status: PromptStatus.extract(['completed', 'failed', 'interrupted']),
  /** Of a failure; programs switch on it. */
  code: z.string().max(64).nullable(),
  message: z.string().max(AGENT_LIMITS.answerBytes),
})
export type PromptOutcome = z.infer<typeof PromptOutcome>

/** What somebody told a local agent at once. The tools that take it count bytes; what was taken before by characters is read all the same. */
export const PromptText = z.string().min(1).max(AGENT_LIMITS.promptBytes)

/** What somebody told a local agent, and what became of it. */
export const Prompt = z.object({
  prompt_id: PromptId,
  agent_id: AgentId,
  /** Its place among all that the agent was told, from one. */
  number: z.int(),
  text: z.string(),
  /** Who told it. */
  by: z.string(),
  /** What began this turn where nobody told the agent anything: its input is its news alone. */
  woken_by: NewsKind.nullable(),
  status: PromptStatus,
  /** Somebody wants it to end; it has not yet. */
  aborting: z.boolean(),
  outcome: PromptOutcome.omit({ status: true }).nullable(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
})
export type Prompt = z.infer<typeof Prompt>

import { type Prompt, PROMPT_MOVES, type PromptStatus, iso } from '@parley/protocol'
import type { PromptRecord } from '@parley/store'

/** A prompt as its agent's owner sees it. */
export function promptView(prompt: PromptRecord): Prompt {
  const { id, agentId, number, text, by, wokenBy, status, abortedAt, outcome, createdAt, startedAt, endedAt } = prompt
  return {
    prompt_id: id,
    agent_id: agentId,
    number,
    text,
    by,
    woken_by: wokenBy,
    status,
    aborting: abortedAt !== null && !isEnded(status),
    outcome,
    created_at: iso(createdAt),
    started_at: startedAt === null ? null : iso(startedAt),
    ended_at: endedAt === null ? null : iso(endedAt),
  }
}

/** Whether nothing more becomes of it. */
export const isEnded = (status: PromptStatus): boolean => PROMPT_MOVES[status].length === 0

import type { AgentId, NewsKind, PromptId, PromptOutcome, PromptStatus } from '@parley/protocol'
import type { LeaseFence } from '../../lease/fence.ts'

/** What somebody told a local agent. One of an agent's runs at a time; `number` is its place among all of them. */
export interface PromptRecord {
  readonly id: PromptId
  readonly agentId: AgentId
  readonly number: number
  readonly text: string
  readonly by: string
  /** What began it where nobody told the agent anything. */
  readonly wokenBy: NewsKind | null
  readonly status: PromptStatus
  /** Since when somebody wants it to end. */
  readonly abortedAt: number | null
  readonly outcome: Omit<PromptOutcome, 'status'> | null
  readonly createdAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
}

/** Prompts of local agents, answered in order. Publishes `agent/ID` with each change. An agent with one that is not answered stays awake. */
export interface Prompts {
  /** Puts it behind those that wait, and wakes the agent in the same commit. Throws `NotFound`, `Conflict` for an external agent, `ShareExceeded` past `maxQueued`. */
  add(
    agentId: AgentId,
    prompt: { readonly text: string; readonly by: string },
    bounds: { readonly maxQueued: number; readonly maxKept: number },
  ): Promise<PromptRecord>
  /** Of this agent; `undefined` for one of another. */
  byId(agentId: AgentId, id: PromptId): Promise<PromptRecord | undefined>
  /** Newest first. */
  list(agentId: AgentId, page: { readonly before?: number; readonly limit: number }): Promise<readonly PromptRecord[]>
  /** What is being answered, and how many wait. */
  open(agentId: AgentId): Promise<{ readonly running: PromptRecord | undefined; readonly queued: number }>
  /**
   * What the host that holds the agent is to answer: the one that runs (`resumed` where another host began it), or the next that waits,
   * which runs from then on. `undefined`: nothing. Throws `LeaseLost`.
   */
  next(fence: LeaseFence): Promise<{ readonly prompt: PromptRecord; readonly resumed: boolean } | undefined>
  /** The one that runs has ended; where there is news that may wake the agent it does so in the same commit. The same again changes nothing; throws `LeaseLost`, `NotFound`, and `Conflict` for one that ended otherwise or never ran. */
  end(fence: LeaseFence, id: PromptId, outcome: PromptOutcome): Promise<PromptRecord>
  /** Asks for the end of the one that runs, takes back those that wait where `queued` says so, and ends what the agent rests for (`restEnded`). */
  abort(
    agentId: AgentId,
    options: { readonly queued: boolean },
  ): Promise<{ readonly aborting: PromptId | null; readonly withdrawn: number; readonly restEnded: boolean }>
}

import type { AgentId, BackgroundCallEnd, BackgroundCallState, CallId } from '@parley/protocol'
import type { LeaseFence } from '../../lease/fence.ts'

/** A call that goes on beside the turns of its agent, without its result. */
export interface BackgroundCallRecord {
  readonly id: CallId
  readonly agentId: AgentId
  readonly tool: string
  readonly state: BackgroundCallState
  readonly isError: boolean
  readonly message: string
  /** Null where there is no result, or none any more. */
  readonly resultBytes: number | null
  readonly isCut: boolean
  readonly startedAt: number
  readonly endedAt: number | null
}

export interface NewBackgroundCall {
  /** The same again is the same call. */
  readonly id: CallId
  readonly tool: string
  readonly argumentsJson: string
}

/**
 * Calls in the background: running → returned | failed | cancelled, under the claim of the host that makes them. Those of a claim that is over
 * are unknown from then on. Each end is news for the agent, in the same commit. Publishes `agent/ID/background`.
 */
export interface BackgroundCalls {
  /** Throws `LeaseLost`, `ShareExceeded` beyond `maxRunning`, `Conflict` where the id is another call's. */
  begin(
    fence: LeaseFence,
    call: NewBackgroundCall,
    bounds: { readonly maxRunning: number; readonly maxKept: number },
  ): Promise<BackgroundCallRecord>
  /** The same end again is fine. Of all results the newest stay, within `maxBytes`. Throws `LeaseLost`, `NotFound`, `Conflict`. */
  end(fence: LeaseFence, id: CallId, end: BackgroundCallEnd, bounds: { readonly maxBytes: number }): Promise<BackgroundCallRecord>
  /** Those that another claim left running are unknown now. Answers how many. Throws `LeaseLost`. */
  takeOver(fence: LeaseFence): Promise<number>
  byId(agentId: AgentId, id: CallId): Promise<(BackgroundCallRecord & { readonly result: string | null }) | undefined>
  /** The newest first. */
  list(agentId: AgentId, limit: number): Promise<readonly BackgroundCallRecord[]>
}

export const backgroundTopic = (id: AgentId): string => `agent/${id}/background`

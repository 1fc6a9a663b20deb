import * as z from 'zod'
import { CallId } from '../ids.ts'
import type { Moves } from '../moves.ts'
import { AGENT_LIMITS } from './limits.ts'

/**
 * `running` waits for a person or for its server; `returned` has a result, an error of the tool's own too. `unknown`: the host that made it is gone,
 * and nobody knows whether it took effect.
 */
export const BackgroundCallState = z.enum(['running', 'returned', 'failed', 'cancelled', 'unknown'])
export type BackgroundCallState = z.infer<typeof BackgroundCallState>

/** Where each may go. */
export const BACKGROUND_CALL_MOVES: Moves<BackgroundCallState> = {
  running: ['returned', 'failed', 'cancelled', 'unknown'],
  returned: [],
  failed: [],
  cancelled: [],
  unknown: [],
}

/** What a tool is called with, as JSON. */
export const BackgroundArguments = z.string().max(AGENT_LIMITS.backgroundArgumentsBytes)

/** How a call ended, as the host that made it says. */
export const BackgroundCallEnd = z.strictObject({
  state: BackgroundCallState.extract(['returned', 'failed', 'cancelled']),
  /** What came back, as JSON; where it is longer than may be kept, the beginning of that. */
  result: z.string().max(AGENT_LIMITS.backgroundResultBytes).nullable(),
  is_cut: z.boolean(),
  /** The tool ran and says that it failed. */
  is_error: z.boolean(),
  /** Why it failed. */
  message: z.string().max(AGENT_LIMITS.backgroundMessageChars),
})
export type BackgroundCallEnd = z.infer<typeof BackgroundCallEnd>

/** A call that goes on beside the turns of its agent. */
export const BackgroundCall = z.object({
  call_id: CallId,
  /** Its resource: who watches it is told when it has ended. */
  uri: z.string(),
  tool: z.string(),
  state: BackgroundCallState,
  is_error: z.boolean(),
  /** Why it failed, or what else is to be said of its end. */
  message: z.string(),
  /** Of its result, as it is kept; null where there is none, or none any more. */
  result_bytes: z.int().nullable(),
  /** The end of the result was left out. */
  is_cut: z.boolean(),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
})
export type BackgroundCall = z.infer<typeof BackgroundCall>

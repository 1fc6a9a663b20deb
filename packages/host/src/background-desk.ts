import { randomBytes } from 'node:crypto'
import type { BackgroundDesk } from '@parley/agent'
import { AGENT_LIMITS, CallId, makeId, ToolError } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { AgentOfGateway } from './gateway-calls.ts'

/** The background calls of an agent at its gateway, and how many of them go on here. */
export interface HeldBackgroundDesk extends BackgroundDesk {
  /** While there are some the agent is held. */
  readonly running: number
}

interface BackgroundDeskParts extends AgentOfGateway {
  /** The last one is over. */
  readonly changed: () => void
  /** Why this caller may begin none now. */
  readonly refusal: (caller: Caller) => string | undefined
}

export function openBackgroundDesk({ claim, call, signal, changed, refusal }: BackgroundDeskParts): HeldBackgroundDesk {
  const running = new Set<CallId>()
  const prefix = `resource://agents/${claim.agent_id}/calls/`
  const over = (id: CallId): void => {
    if (running.delete(id) && running.size === 0) changed()
  }
  return {
    get running() {
      return running.size
    },
    begin: async (tool, args, caller) => {
      const refused = refusal(caller)
      if (refused !== undefined) throw new ToolError('conflict', refused)
      const arguments_json = JSON.stringify(args)
      if (arguments_json.length > AGENT_LIMITS.backgroundArgumentsBytes)
        throw new ToolError(
          'invalid_argument',
          `arguments: ${AGENT_LIMITS.backgroundArgumentsBytes} characters at most in the background`,
          {
            field: 'arguments',
          },
        )
      const call_id = makeId(CallId, 'cal', randomBytes)
      running.add(call_id)
      try {
        // A gateway may die before it answers: the next one is told the same id, and it is one call.
        return (await call('host.call_begin', { ...claim, call_id, tool, arguments_json }, signal)).call
      } catch (error) {
        over(call_id)
        throw error
      }
    },
    end: async (call_id, end) => void (await call('host.call_end', { ...claim, call_id, end }, signal)),
    get: (call_id) => call('host.call_get', { ...claim, call_id }, signal),
    list: async () => (await call('host.calls', claim, signal)).items,
    over,
    callAt: (uri) => (uri.startsWith(prefix) ? CallId.safeParse(uri.slice(prefix.length)).data : undefined),
  }
}

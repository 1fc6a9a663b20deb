import { randomBytes } from 'node:crypto'
import type { BackgroundDesk } from '@parley/agent'
import {
  AGENT_LIMITS,
  type BackgroundCallEnd,
  CallId,
  type HeldMount,
  type JsonValue,
  makeId,
  messageOf,
  ToolError,
} from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { AgentOfGateway } from './gateway-calls.ts'
import { type MaskText, maskTexts, secretsOf } from './mount/masked-secrets.ts'
import { isLost } from './turn/outcome.ts'
import { mapTexts } from './turn/shown-line.ts'

/** The background calls of an agent at its gateway, and how many of them go on here. */
export interface HeldBackgroundDesk extends BackgroundDesk {
  /** While there are some the agent is held. */
  readonly running: number
}

export interface BackgroundDeskOptions extends AgentOfGateway {
  /** As they are now: what may be a secret of one is not kept. */
  readonly mounts: () => readonly Pick<HeldMount, 'server'>[]
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Told when the last one is over. */
  readonly changed: () => void
  /** Why this caller may begin none now. */
  readonly refusal: (caller: Caller) => string | undefined
}

const NOTHING: ReadonlySet<string> = new Set()
/** What is kept of a call whose end the gateway did not take. */
const UNKEPT: BackgroundCallEnd = {
  state: 'failed',
  result: null,
  is_cut: false,
  is_error: true,
  message: 'it has ended, and how could not be written down: it may have taken effect',
}

export function openBackgroundDesk({
  claim,
  call,
  signal,
  mounts,
  log,
  changed,
  refusal,
}: BackgroundDeskOptions): HeldBackgroundDesk {
  const running = new Set<CallId>()
  const prefix = `resource://agents/${claim.agent_id}/calls/`
  const over = (id: CallId): void => {
    if (running.delete(id) && running.size === 0) changed()
  }
  const masking = (): MaskText => maskTexts(mounts().flatMap(secretsOf))
  const jsonOf = (value: JsonValue): string => JSON.stringify(mapTexts(value, masking(), NOTHING))
  const tell = async (call_id: CallId, end: BackgroundCallEnd): Promise<void> =>
    void (await call('host.call_end', { ...claim, call_id, end }, signal))
  return {
    mask: (text) => masking()(text),
    jsonOf,
    get running() {
      return running.size
    },
    begin: async (tool, args, caller) => {
      const refused = refusal(caller)
      if (refused !== undefined) throw new ToolError('conflict', refused)
      const arguments_json = jsonOf(args)
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
    end: async (call_id, end) => {
      try {
        await tell(call_id, end)
      } catch (error) {
        if (signal.aborted || isLost(error)) throw error
        log('warn', `how a background call ended is not taken: ${messageOf(error)}`)
        await tell(call_id, UNKEPT)
      }
    },
    get: (call_id) => call('host.call_get', { ...claim, call_id }, signal),
    list: async () => (await call('host.calls', claim, signal)).items,
    over,
    callAt: (uri) => (uri.startsWith(prefix) ? CallId.safeParse(uri.slice(prefix.length)).data : undefined),
  }
}

import type { CallRecorder } from '@parley/agent'
import { iso } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { AgentGate } from './ask/agent-gate.ts'
import type { CallLog } from './call-log.ts'
import type { EngineCalls } from './turn/engine-calls.ts'

/** What is called is written down before it is sent; what a person let through is told how it ended. */
export function callRecorder(options: {
  readonly calls: CallLog
  readonly gate: AgentGate
  /** Left out: no engine of ours calls. */
  readonly engineCalls?: EngineCalls
  /** What a server said when a call failed may be what it was given in secret. */
  readonly masked: (words: string) => string
  readonly now: () => number
}): CallRecorder<Caller> {
  const { calls, gate, engineCalls, masked, now } = options
  let last = { ms: 0, text: '' }
  /** To write a time costs as much as to write the rest of a line, and many calls come in one millisecond. */
  const at = (): string => {
    const ms = now()
    if (ms !== last.ms) last = { ms, text: iso(ms) }
    return last.text
  }
  return {
    decided: (id, call, decision, ms) => {
      const { caller, kind, mount, name, arguments: args } = call
      gate.decided(id, decision)
      engineCalls?.decided(call, decision)
      const entry = { at: at(), id, step: 'decided', by: caller.key, kind, mount, name, arguments: args, decision, ms }
      const writing = calls.write(entry)
      const sending = decision.kind === 'allow' ? engineCalls?.sending(call) : undefined
      // Both at once: a call that only one of them knows of is not sent.
      return sending === undefined ? writing : Promise.all([writing, sending]).then(() => undefined)
    },
    dispatched: (id) => calls.noteUnlessEnded(id, { at: at(), id, step: 'dispatched' }),
    returned: (id, end) => {
      gate.ended(id, 'returned')
      calls.noteEnd(id, { at: at(), id, step: 'returned', ...end })
    },
    failed: (id, end) => {
      gate.ended(id, 'failed')
      calls.noteEnd(id, { at: at(), id, step: 'failed', ...end, message: masked(end.message) })
    },
  }
}

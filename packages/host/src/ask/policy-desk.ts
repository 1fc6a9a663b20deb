import type { PolicyDesk } from '@parley/agent'
import { ToolError } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { AgentOfGateway } from '../gateway-calls.ts'
import type { AgentGate } from './agent-gate.ts'

const NAMED = ['tool', 'resource', 'prompt', 'command'] as const

/** What the agent itself may do about its policies: look, try, wish. A person decides. */
export function openPolicyDesk({ claim, call, signal }: AgentOfGateway, gate: AgentGate): PolicyDesk<Caller> {
  return {
    get: () => call('host.policy', claim, signal),
    propose: ({ text, note }) => call('host.propose', { ...claim, text, note }, signal),
    withdraw: ({ approval_id }) => call('host.withdraw', { ...claim, approval_id }, signal),
    check: ({ mount = null, args, ...named }, caller) => {
      const found = NAMED.flatMap((kind) => (named[kind] === undefined ? [] : [{ kind, name: named[kind] }]))
      const [one] = found
      if (one === undefined || found.length > 1)
        throw new ToolError('invalid_argument', 'tool: say one of tool, resource, prompt and command', { field: 'tool' })
      const { decision, reason, rule, layer } = gate.check({ ...one, mount, arguments: args }, caller)
      return { decision, reason, rule, layer }
    },
  }
}

import type { GatewayCaller } from '@parley/access'
import { ToolError } from '@parley/protocol'

/**
 * Policies go by the name and the id of an agent. Who may not decide about policies does not get an agent, or what it mounts with its secrets, out of
 * one: by another name, or by a fork, which has another id.
 */
export function checkRename({ scopes }: GatewayCaller): void {
  if (decides(scopes)) return
  throw new ToolError('forbidden', 'name: policies go by it, so a token with scopes needs approvals beside agents to change it', {
    field: 'name',
  })
}

export function checkFork({ scopes }: GatewayCaller): void {
  if (decides(scopes)) return
  throw new ToolError(
    'forbidden',
    'agent_id: policies that name this agent do not hold a fork of it, so a token with scopes needs approvals beside agents to make one',
    { field: 'agent_id', hint: 'agent.create makes one without what this one mounts' },
  )
}

const decides = (scopes: GatewayCaller['scopes']): boolean => scopes === null || scopes.includes('approvals')

import { type GatewayCaller } from '@parley/access'
import { type AgentId, ToolError } from '@parley/protocol'
import type { AgentRecord, Store } from '@parley/store'

/** The agent, or `not_found`: a foreign one, and one that is being deleted, is as unknown as one that never was. */
export async function findAgent(
  store: Pick<Store, 'agents'>,
  id: AgentId,
  caller: Pick<GatewayCaller, 'admin' | 'userId'>,
): Promise<AgentRecord> {
  const agent = await store.agents.byId(id)
  if (agent === undefined || agent.status === 'deleting' || !isTheirs(agent, caller)) throw noSuchAgent(id)
  return agent
}

/** Whether an agent is this caller's to see: their own, or any for an admin. */
export const isTheirs = ({ ownerId }: Pick<AgentRecord, 'ownerId'>, caller: Pick<GatewayCaller, 'admin' | 'userId'>): boolean =>
  caller.admin || ownerId === caller.userId

export const noSuchAgent = (id: AgentId): ToolError =>
  new ToolError('not_found', `there is no agent ${id}`, { field: 'agent_id', hint: 'agent.list has yours' })

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

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

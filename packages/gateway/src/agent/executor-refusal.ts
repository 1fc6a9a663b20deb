import type { AgentClaim } from '@parley/protocol'
import { LeaseLost, type Store } from '@parley/store'
import { fenceOf } from './held-agent.ts'
import { labelsOf, mayUse } from './may-mount.ts'

/** Why a host may not reach an executor for an agent. It may while it holds the agent, whose owner was granted that executor. */
export async function executorRefusal(
  { leases, agents, grants, workers }: Pick<Store, 'leases' | 'agents' | 'grants' | 'workers'>,
  claim: AgentClaim,
  executor: string,
): Promise<string | undefined> {
  const lost = `this claim does not hold ${claim.agent_id} any more`
  try {
    await leases.check(fenceOf(claim))
  } catch (error) {
    if (error instanceof LeaseLost) return lost
    throw error
  }
  const agent = await agents.byId(claim.agent_id)
  if (agent === undefined || agent.status === 'deleting') return lost
  const grant = await grants.of(agent.ownerId)
  const isGranted = mayUse({ name: executor, labels: await labelsOf({ workers }, executor, grant) }, grant)
  return isGranted
    ? undefined
    : `to run programs on ${executor} must be granted to its owner by an admin (parley grant set USER --executor ${executor})`
}

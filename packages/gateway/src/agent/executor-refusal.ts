import type { GatewayCaller } from '@parley/access'
import type { AgentClaim } from '@parley/protocol'
import { AGENT_QUEUE, LeaseLost, type Store } from '@parley/store'
import { fenceOf } from './held-agent.ts'
import { labelsOf, mayUse } from './may-mount.ts'

/** Why a host may not reach an executor for an agent. It may while it holds the agent, whose owner was granted that executor. */
export async function executorRefusal(
  store: Pick<Store, 'leases' | 'agents' | 'grants' | 'workers'>,
  claim: AgentClaim,
  caller: Pick<GatewayCaller, 'tokenId'>,
  executor: string,
): Promise<string | undefined> {
  const { agents, grants, workers } = store
  const lost = `this claim does not hold ${claim.agent_id} any more`
  if (!(await isHolder(store, claim, caller))) return lost
  const agent = await agents.byId(claim.agent_id)
  if (agent === undefined || agent.status === 'deleting') return lost
  const grant = await grants.of(agent.ownerId)
  const isGranted = mayUse({ name: executor, labels: await labelsOf({ workers }, executor, grant) }, grant)
  return isGranted
    ? undefined
    : `to run programs on ${executor} must be granted to its owner by an admin (parley grant set USER --executor ${executor})`
}

/** A tunnel is asked for beside the connection on which a host says its name: who holds the agent came with this token. */
async function isHolder(
  { leases, workers }: Pick<Store, 'leases' | 'workers'>,
  claim: AgentClaim,
  { tokenId }: Pick<GatewayCaller, 'tokenId'>,
): Promise<boolean> {
  const held = await leases.get(AGENT_QUEUE, claim.agent_id)
  if (held === undefined || (await workers.byName('host', held.holder))?.tokenId !== tokenId) return false
  try {
    await leases.check(fenceOf(claim, held.holder))
    return true
  } catch (error) {
    if (error instanceof LeaseLost) return false
    throw error
  }
}

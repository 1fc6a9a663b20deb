import { type GatewayCaller } from '@parley/access'
import { type AgentId, type PolicyLayer, type PolicySubject, ToolError } from '@parley/protocol'
import type { AgentRecord, Store } from '@parley/store'
import { findAgent } from '../agent/find-agent.ts'

export interface Whose {
  readonly layer?: PolicyLayer | undefined
  readonly agent_id?: AgentId | undefined
  readonly username?: string | undefined
}

type Person = Pick<GatewayCaller, 'admin' | 'scopes' | 'userId' | 'username'>

/**
 * Whose policy a call is about. Everybody reads that of the installation, which holds for them too, and an admin writes it. A person's is
 * theirs, an agent's its owner's; both are any admin's as well.
 */
export async function policySubject(
  store: Pick<Store, 'agents' | 'users'>,
  whose: Whose,
  caller: Person,
  to: 'read' | 'write',
): Promise<PolicySubject> {
  const layer = whose.layer ?? (whose.agent_id === undefined ? 'owner' : 'agent')
  checkNamed(layer, whose)
  if (layer === 'installation') {
    if (to === 'write' && !caller.admin)
      throw new ToolError('forbidden', 'the policy of the installation is an admin’s to change', {
        field: 'layer',
        ...(caller.scopes === null
          ? {}
          : { hint: 'a token with scopes needs the scope admin for it, and its user has to be one' }),
      })
    return { layer }
  }
  if (layer === 'agent') return { layer, agentId: (await agentNamed(store, whose.agent_id, caller)).id }
  return { layer, userId: await personNamed(store, whose.username, caller) }
}

/** What says nothing about a layer is taken for a mistake, rather than passed over. */
function checkNamed(layer: PolicyLayer, { agent_id: agentId, username }: Whose): void {
  const wrong = (field: string): ToolError =>
    new ToolError('invalid_argument', `${field}: says nothing about the layer ${layer}`, {
      field,
      hint: 'leave it out, or change layer',
    })
  if (agentId !== undefined && layer !== 'agent') throw wrong('agent_id')
  if (username !== undefined && layer !== 'owner') throw wrong('username')
}

async function agentNamed(store: Pick<Store, 'agents'>, id: AgentId | undefined, caller: Person): Promise<AgentRecord> {
  if (id === undefined)
    throw new ToolError('invalid_argument', 'agent_id: say which agent', { field: 'agent_id', hint: 'agent.list has yours' })
  return findAgent(store, id, caller)
}

async function personNamed({ users }: Pick<Store, 'users'>, username: string | undefined, caller: Person) {
  if (username !== undefined && username !== caller.username) {
    const user = caller.admin ? await users.byName(username) : undefined
    if (user === undefined) throw new ToolError('not_found', `there is no user ${username}`, { field: 'username' })
    return user.id
  }
  if (caller.userId !== null) return caller.userId
  throw new ToolError('invalid_argument', 'username: say whose policy', { field: 'username' })
}

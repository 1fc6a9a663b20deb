import { type Agent, iso } from '@parley/protocol'
import type { AgentRecord, Store } from '@parley/store'

/** An agent as its owner sees it: what is kept of it, and which host holds it now. */
export async function agentView(store: Pick<Store, 'agents' | 'prompts'>, agent: AgentRecord): Promise<Agent> {
  const [held, { running, queued }] = await Promise.all([store.agents.held(agent.id), store.prompts.open(agent.id)])
  return {
    agent_id: agent.id,
    name: agent.name,
    kind: agent.kind,
    owner_user_id: agent.ownerId,
    owner: agent.ownerName,
    preset: agent.preset,
    ...agent.settings,
    status: agent.status === 'deleting' ? 'deleting' : held.kind,
    host: held.kind === 'awake' ? held.host : null,
    mounts: agent.mounts,
    turn: { running: running?.id ?? null, queued },
    created_at: iso(agent.createdAt),
    updated_at: iso(agent.updatedAt),
  }
}

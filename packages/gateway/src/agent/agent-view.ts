import { type Agent, type AgentRest, type RestRecord, iso, isoOrNull } from '@parley/protocol'
import type { AgentRecord, Store } from '@parley/store'

/** An agent as its owner sees it: what is kept of it, and which host holds it now. */
export async function agentView(
  store: Pick<Store, 'agents' | 'approvals' | 'news' | 'prompts'>,
  agent: AgentRecord,
): Promise<Agent> {
  const [held, { running, queued }, asked, rest] = await Promise.all([
    store.agents.held(agent.id),
    store.prompts.open(agent.id),
    store.approvals.pending(agent.id),
    agent.kind === 'local' ? store.news.rest(agent.id) : undefined,
  ])
  const isResting = rest !== undefined && running === undefined && queued === 0
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
    approvals_pending: asked,
    rest: isResting ? restView(rest) : null,
    created_at: iso(agent.createdAt),
    updated_at: iso(agent.updatedAt),
  }
}

export const restView = ({ at, ...rest }: RestRecord): AgentRest => ({ ...rest, until: isoOrNull(at) })

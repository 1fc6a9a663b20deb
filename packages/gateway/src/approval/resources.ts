import { LISTED_MAX, type ResourceRequest, type ServedResource, watchTopics } from '@parley/access'
import { AgentId, ApprovalStatus, RESOURCES, ToolError } from '@parley/protocol'
import { agentTopic, approvalsTopic, approversTopic } from '@parley/store'
import type { AgentWorld } from '../agent/agent-world.ts'
import { findAgent } from '../agent/find-agent.ts'
import { activePolicies, policyEntry } from '@parley/rulebook'
import { approvalPage } from './approval-tools.ts'
import { proposalsOf } from './policy-tools.ts'

const pending: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://approvals/pending'],
  read: ({ world, caller }) => approvalPage(world.store, caller, { statuses: ['pending'], limit: LISTED_MAX }),
  watch: (request, changed) => {
    const { admin, userId, username } = request.caller
    const own = userId === null ? [] : [approvalsTopic(userId)]
    const named = username === null ? [] : [approversTopic(username)]
    return watchTopics(request, admin ? ['approvals'] : [...own, ...named], changed)
  },
}

const ofAgent: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/approvals'],
  read: async (request) => {
    const agentId = await idOf(request)
    return approvalPage(request.world.store, request.caller, { agentId, statuses: ApprovalStatus.options, limit: LISTED_MAX })
  },
  watch: async (request, changed) => watchTopics(request, [agentTopic(await idOf(request))], changed),
}

const policy: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/policy'],
  read: async (request) => {
    const { store } = request.world
    const agent = await findAgent(store, await idOf(request), request.caller)
    const [{ name, policies }, allowances] = await Promise.all([
      activePolicies(store, agent),
      store.policies.allowances(agent.id),
    ])
    return {
      active: name,
      policies: policies.map(({ record }) => ({ ...policyEntry(record), text: record.text })),
      allowances,
    }
  },
  // Those of the installation and of its owner hold for many agents, and are told of once for all.
  watch: async (request, changed) => watchTopics(request, [agentTopic(await idOf(request)), 'policies'], changed),
}

const proposals: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/proposals'],
  read: async (request) => proposalsOf(request.world.store, await idOf(request), LISTED_MAX),
  watch: async (request, changed) => watchTopics(request, [agentTopic(await idOf(request))], changed),
}

export const APPROVAL_RESOURCES: readonly ServedResource<AgentWorld>[] = [pending, ofAgent, policy, proposals]

async function idOf({ world, caller, id }: ResourceRequest<AgentWorld>): Promise<AgentId> {
  const { data } = AgentId.safeParse(id)
  if (data === undefined) throw new ToolError('not_found', 'there is no such agent')
  return (await findAgent(world.store, data, caller)).id
}

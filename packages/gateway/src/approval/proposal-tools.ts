import { nameOf } from '@parley/access'
import { APPROVAL_LIMITS, TOOLS, ToolError, iso } from '@parley/protocol'
import { hashOf, proposalPreview } from '@parley/policy'
import { type AgentRecord, type ApprovalRecord, type LeaseFence, type NewPolicy, versionIn } from '@parley/store'
import { findAgent } from '../agent/find-agent.ts'
import { asHost } from '../agent/held-agent.ts'
import { type AgentWorld, serveTool } from '../agent/agent-world.ts'
import { approvalBounds } from './approval-bounds.ts'
import { approvalView } from './approval-view.ts'
import { withinShare } from '../blob/inputs-share.ts'
import { activePolicies, policyIn, reviewPolicy } from '@parley/rulebook'

export const policyPropose = serveTool(TOOLS['policy.propose'], async ({ agent_id: id, text, note }, context) => {
  const { world } = context
  const agent = await findAgent(world.store, id, context.caller)
  context.target = agent.id
  const by = nameOf(context.caller)
  return approvalView(world.store, await proposed(world, agent, agent.id, { text, note, by }), context.caller)
})

export const hostPropose = serveTool(TOOLS['host.propose'], ({ text, note, ...claim }, context) =>
  asHost(claim, context, async (fence, agent) => {
    const approval = await proposed(context.world, agent, fence, { text, note, by: `agent ${agent.name}` })
    return { approval_id: approval.id, version: versionIn(approval), expires_at: iso(approval.expiresAt) }
  }),
)

export const hostPolicy = serveTool(TOOLS['host.policy'], (claim, context) =>
  asHost(claim, context, async (_fence, agent) => {
    const { store } = context.world
    const [[policy], { name }, pending] = await Promise.all([
      store.policies.active([{ layer: 'agent', agentId: agent.id }]),
      activePolicies(store, agent),
      store.approvals.list({ agentId: agent.id, statuses: ['pending'], limit: APPROVAL_LIMITS.pendingPerAgent }),
    ])
    return {
      policy: policy === undefined ? null : { version: policy.version, text: policy.text },
      active: name,
      proposals: pending.filter(({ kind }) => kind === 'proposal').map(proposalView),
    }
  }),
)

const proposalView = (approval: ApprovalRecord) => ({
  approval_id: approval.id,
  version: versionIn(approval),
  note: approval.reason,
  expires_at: iso(approval.expiresAt),
})

export const hostWithdraw = serveTool(TOOLS['host.withdraw'], ({ approval_id: id, ...claim }, context) =>
  asHost(claim, context, async (fence, agent) => {
    const { approvals } = context.world.store
    const approval = await approvals.byId(id)
    // What was asked about a call is its caller's to take back.
    if (approval?.agentId !== agent.id || approval.kind !== 'proposal')
      throw new ToolError('not_found', `nothing was proposed as ${id}`, {
        field: 'approval_id',
        hint: 'policy_get has what waits',
      })
    return { withdrawn: await approvals.withdraw(fence, id) }
  }),
)

/** Asks for a policy of an agent. What people see is all of its text, and what it would change. */
async function proposed(
  world: Pick<AgentWorld, 'store' | 'gateWaitMs'>,
  agent: AgentRecord,
  under: LeaseFence | AgentRecord['id'],
  policy: NewPolicy,
): Promise<ApprovalRecord> {
  const { store } = world
  const document = await policyIn(policy.text)
  const subject = { layer: 'agent', agentId: agent.id } as const
  const sha256 = hashOf(policy.text)
  const review = await reviewPolicy(store, { subject, version: 0, sha256 }, document)
  if (review.examples.failed.length > 0)
    throw new ToolError('invalid_argument', 'text: some of its examples are decided otherwise than they say', { field: 'text' })
  const { name, policies } = await activePolicies(store, agent)
  const active = policies.find(({ record }) => record.subject.layer === 'agent')?.document
  const preview = proposalPreview({ ...policy, policy: document, active, replayed: review.replayed })
  if (Buffer.byteLength(preview.text) > APPROVAL_LIMITS.proposalBytes)
    throw new ToolError('invalid_argument', 'text: too many characters in it cannot be seen, so nobody could look through it', {
      field: 'text',
    })
  return withinShare({}, () =>
    store.approvals.propose(
      under,
      { ...policy, review: { digest: review.digest, base: review.base_version } },
      {
        digest: sha256,
        preview: preview.text,
        previewSha256: preview.hash,
        caller: policy.by,
        reason:
          policy.note === '' ? 'another policy is proposed for this agent' : policy.note.slice(0, APPROVAL_LIMITS.reasonChars),
        policy: name,
        askers: ['agent'],
        approvers: [],
      },
      approvalBounds(world),
    ),
  )
}

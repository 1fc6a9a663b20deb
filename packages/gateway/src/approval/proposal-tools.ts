import { APPROVAL_LIMITS, TOOLS, ToolError, iso } from '@parley/protocol'
import { hashOf, previewOf } from '@parley/policy'
import { type AgentRecord, type ApprovalRecord, type LeaseFence, type NewPolicy, type Store, versionIn } from '@parley/store'
import { findAgent } from '../agent/find-agent.ts'
import { asHost } from '../agent/held-agent.ts'
import { serveTool } from '../agent/agent-world.ts'
import { APPROVAL_BOUNDS } from './approval-bounds.ts'
import { approvalView } from './approval-view.ts'
import { withinShare } from '../blob/inputs-share.ts'
import { nameOf } from '../caller.ts'
import { activePolicies, policyIn, reviewPolicy } from '@parley/rulebook'

export const policyPropose = serveTool(TOOLS['policy.propose'], async ({ agent_id: id, text, note }, context) => {
  const { store } = context.world
  const agent = await findAgent(store, id, context.caller)
  context.target = agent.id
  const by = nameOf(context.caller)
  return approvalView(store, await proposed(store, agent, agent.id, { text, note, by }), context.caller)
})

export const hostPropose = serveTool(TOOLS['host.propose'], ({ text, note, ...claim }, context) =>
  asHost(claim, context, async (fence, agent) => {
    const { store } = context.world
    const approval = await proposed(store, agent, fence, { text, note, by: `agent ${agent.name}` })
    return { approval_id: approval.id, version: versionIn(approval), expires_at: iso(approval.expiresAt) }
  }),
)

/** Asks for a policy of an agent. What people see is its text, and what it would change. */
async function proposed(
  store: Store,
  agent: AgentRecord,
  under: LeaseFence | AgentRecord['id'],
  policy: NewPolicy,
): Promise<ApprovalRecord> {
  const document = policyIn(policy.text)
  const subject = { layer: 'agent', agentId: agent.id } as const
  const sha256 = hashOf(policy.text)
  const review = await reviewPolicy(store, { subject, version: 0, sha256 }, document)
  if (review.examples.failed.length > 0)
    throw new ToolError('invalid_argument', 'text: some of its examples are decided otherwise than they say', { field: 'text' })
  const { calls, changed, looser } = review.replayed
  const preview = previewOf({ policy: policy.text, note: policy.note, replayed: { calls, changed, looser } })
  return withinShare({}, async () =>
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
        policy: (await activePolicies(store, agent)).name,
        askers: ['agent'],
        approvers: [],
      },
      APPROVAL_BOUNDS,
    ),
  )
}

import { untilSo } from '@parley/access'
import { APPROVAL_LIMITS, type ApprovalId, type ApprovalStep, TOOLS, ToolError, iso, parseJson } from '@parley/protocol'
import { digestCall, previewOf } from '@parley/policy'
import { type AgentRecord, type ApprovalRecord, type LeaseFence, type Store, agentTopic } from '@parley/store'
import { serveTool } from '../agent/agent-world.ts'
import { asHost } from '../agent/held-agent.ts'
import { withinShare } from '../blob/inputs-share.ts'
import { waitSignal } from '../job/tools.ts'
import { activePolicies } from '@parley/rulebook'
import { approvalBounds } from './approval-bounds.ts'
import { heldView } from './approval-view.ts'

const QUIET = { audit: 'failures' } as const

export const hostAsk = serveTool(
  TOOLS['host.ask'],
  (
    {
      kind,
      mount,
      mount_version: mountVersion,
      name,
      arguments_json: text,
      caller,
      reason,
      policy,
      rule,
      layer,
      askers,
      approvers,
      again,
      attended,
      ...claim
    },
    context,
  ) =>
    asHost(claim, context, async (fence, agent) => {
      await checkPolicy(context.world.store, agent, policy)
      const args = parseJson(text)
      if (args === undefined) throw new ToolError('invalid_argument', 'arguments_json: must be JSON', { field: 'arguments_json' })
      const call = { agent: shown(agent), caller: { role: 'agent' as const, name: caller }, kind, mount, mountVersion, name }
      if (kind === 'proposal')
        throw new ToolError('invalid_argument', 'kind: proposals are made by policy.propose', { field: 'kind' })
      const digest = digestCall({ ...call, kind, arguments: args })
      if (digest.kind === 'refused')
        throw new ToolError('invalid_argument', `arguments_json: ${digest.reason}`, { field: 'arguments_json' })
      const preview = previewOf(args)
      const bound = { policy, rule, layer, askers, approvers }
      const asked = { kind, mount, mountVersion, name, arguments: text, caller, reason, digest: digest.digest, ...bound }
      const { approval, isAdopted } = await withinShare({}, () =>
        context.world.store.approvals.ask(
          fence,
          { ...asked, preview: preview.text, previewSha256: preview.hash },
          { ...approvalBounds(context.world), isAgain: again, ...(attended === undefined ? {} : { attended }) },
        ),
      )
      return { ...heldView(approval), adopted: isAdopted, expires_at: iso(approval.expiresAt) }
    }),
  QUIET,
)

const shown = ({ id, name, ownerName }: AgentRecord) => ({ id, name, owner: ownerName })

export const hostApprovals = serveTool(
  TOOLS['host.approvals'],
  ({ approval_ids: ids, wait_ms: waitMs, ...claim }, context) =>
    asHost(claim, context, async (_fence, { id: agentId }) => {
      const { store, now } = context.world
      const read = async (): Promise<readonly ApprovalRecord[]> => {
        const found = await Promise.all(ids.map((id) => store.approvals.byId(id)))
        return found.flatMap((each) => (each?.agentId === agentId ? [each] : []))
      }
      const isWanted = (found: readonly ApprovalRecord[]): boolean =>
        found.length < ids.length || found.some(({ status }) => status !== 'pending')
      const ends = Math.min(...(await read()).flatMap((each) => (each.status === 'pending' ? [each.expiresAt] : [])))
      // Who waits hears of the end when it comes, and not when others are swept.
      const wait = { waitMs: Math.max(0, Math.min(waitMs, ends - now())), signal: waitSignal(context) }
      const waited = (await untilSo(store, { topic: agentTopic(agentId), read, isWanted }, wait)) ?? []
      if (isWanted(waited) || ends > now()) return { items: waited.map(heldView) }
      await store.approvals.expire(APPROVAL_LIMITS.pendingPerPerson)
      return { items: (await read()).map(heldView) }
    }),
  QUIET,
)

export const hostApprovalStep = serveTool(
  TOOLS['host.approval_step'],
  ({ approval_id: id, step, ...claim }, context) =>
    asHost(claim, context, async (fence, agent) => {
      const { approvals } = context.world.store
      const ok = await taken(approvals, fence, id, step)
      const found = await approvals.byId(id)
      return { ok, status: found?.agentId === agent.id ? found.status : null }
    }),
  QUIET,
)

/** The store looks whether the approval is of the agent that is held. */
async function taken(approvals: Store['approvals'], fence: LeaseFence, id: ApprovalId, step: ApprovalStep): Promise<boolean> {
  switch (step) {
    case 'dispatch':
      return (await approvals.dispatch(fence, id)) === 'dispatched'
    case 'returned':
    case 'failed':
      return approvals.settle(fence, id, step)
    case 'withdraw':
      return approvals.withdraw(fence, id)
    case 'leave':
      await approvals.leave(fence, id)
      return true
  }
}

/** A host that has not heard of a change yet asks again under what is active now. */
async function checkPolicy(store: Pick<Store, 'policies'>, agent: AgentRecord, policy: string): Promise<void> {
  const { name } = await activePolicies(store, agent)
  if (name !== policy)
    throw new ToolError('conflict', 'policy: others are active now', { field: 'policy', hint: 'host.agent_get has them' })
}

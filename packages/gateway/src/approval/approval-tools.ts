import { cursorOf, type GatewayCaller, nameOf, pageOf, readCursor } from '@parley/access'
import {
  APPROVAL_LIMITS,
  ApprovalId,
  type ApprovalStatus,
  POLICY_LIMITS,
  TOOLS,
  type ToolArguments,
  ToolError,
} from '@parley/protocol'
import type { ApprovalRecord, Decided, Store } from '@parley/store'
import { type AgentWorld, serveTool } from '../agent/agent-world.ts'
import { withinShare } from '../blob/inputs-share.ts'
import { approvalView } from './approval-view.ts'
import { checkDecision, effectsOf } from './decision-effects.ts'
import { type ApprovalPerson, checkApprover, deciderName, maySee, neededFor } from './may-decide.ts'

/** A page of what somebody may decide about, newest first. */
export async function approvalPage(
  store: Pick<Store, 'approvals' | 'agents'>,
  caller: ApprovalPerson,
  page: Omit<Parameters<Store['approvals']['list']>[0], 'ownerId' | 'username'>,
) {
  if (!caller.admin && caller.userId === null) return { items: [], next_cursor: null }
  const { username } = caller
  const owner =
    caller.admin || caller.userId === null ? {} : { ownerId: caller.userId, ...(username === null ? {} : { username }) }
  const found = await store.approvals.list({ ...page, ...owner, limit: page.limit + 1 })
  const { items, next } = pageOf(found, Math.min(page.limit, fitting(found)), cursorOf)
  return { items: await Promise.all(items.map((approval) => approvalView(store, approval, caller))), next_cursor: next }
}

/** How many fit into one answer. What is proposed is shown whole, and two hundred of these would be more than a client takes. */
function fitting(found: readonly ApprovalRecord[]): number {
  let chars = 0
  const over = found.findIndex(({ preview }, at) => (chars += preview.length) > APPROVAL_LIMITS.pagePreviewChars && at > 0)
  return over < 0 ? found.length : over
}

export const approvalList = serveTool(
  TOOLS['approval.list'],
  ({ agent_id: agentId, statuses, search, since, until, cursor, limit }, { caller, world }) =>
    approvalPage(world.store, caller, {
      ...(agentId === undefined ? {} : { agentId }),
      ...(search === undefined ? {} : { search }),
      ...(since === undefined ? {} : { since: Date.parse(since) }),
      // A page goes on where the one before ended, which is earlier than any end that was asked for.
      ...(until === undefined ? {} : { beforeCreatedAt: Date.parse(until) }),
      ...(cursor === undefined ? {} : readCursor(cursor, ApprovalId, 'approval.list')),
      statuses,
      limit,
    }),
)

export const approvalGet = serveTool(TOOLS['approval.get'], async ({ approval_id: id }, { caller, world: { store } }) => {
  const approval = await findApproval(store, id, caller)
  return { ...(await approvalView(store, approval, caller)), arguments_json: approval.arguments }
})

/** The approval, or `not_found`: one of somebody else's agent is as unknown as one that never was. */
async function findApproval(
  { approvals }: Pick<Store, 'approvals'>,
  id: ApprovalId,
  caller: ApprovalPerson,
): Promise<ApprovalRecord> {
  const approval = await approvals.byId(id)
  if (approval === undefined || !maySee(approval, caller)) throw noSuchApproval(id)
  return approval
}

const noSuchApproval = (id: ApprovalId): ToolError =>
  new ToolError('not_found', `there is no approval ${id}`, { field: 'approval_id', hint: 'approval.list has those that wait' })

export const approvalDecide = serveTool(TOOLS['approval.decide'], async (args, context) => {
  const { caller, world } = context
  context.target = args.approval_id
  return approvalView(world.store, await decided(world, caller, args), caller)
})

/** Decides about one. Throws `conflict` that says who decided what where it is too late. */
async function decided(
  { store }: Pick<AgentWorld, 'store'>,
  caller: GatewayCaller,
  args: ToolArguments<'approval.decide'>,
): Promise<ApprovalRecord> {
  const { approval_id: id, decision, reason, preview_sha256: shown } = args
  const approval = await findApproval(store, id, caller)
  if (shown !== undefined && shown !== approval.previewSha256)
    throw new ToolError('conflict', 'preview_sha256: what was shown is not what is asked about', {
      field: 'preview_sha256',
      hint: 'look at it again: approval.get',
    })
  checkApprover(approval, caller)
  checkDecision(approval, args)
  const effects = await effectsOf(store, approval, args, caller)
  const edited = args.arguments_json
  const said = await withinShare({}, () =>
    store.approvals.decide(id, {
      decision,
      by: deciderName(caller),
      person: nameOf(caller),
      reason: reason ?? null,
      needed: neededFor(approval),
      ...(edited === undefined ? {} : { edited }),
      ...(effects === undefined ? {} : { effects }),
    }),
  )
  if (said === undefined) throw noSuchApproval(id)
  if (said.kind === 'late') throw tooLate(said)
  if (said.kind === 'stale')
    throw new ToolError('conflict', 'approval_id: other policies are active than those that asked, so it was withdrawn', {
      field: 'approval_id',
      hint: 'the same call is decided about anew; approval.list has what waits',
    })
  return said.approval
}

function tooLate({ approval: { status, decided: first, edited, endedAt } }: Decided): ToolError {
  const what =
    first === null
      ? `it is ${status}${endedAt === null ? '' : ` since ${new Date(endedAt).toISOString()}`}`
      : `${first.by} has said ${first.decision}${edited === null ? '' : ' with other arguments'} at ${new Date(first.at).toISOString()}`
  const again =
    status === 'expired' || status === 'withdrawn'
      ? { hint: 'the agent must make the call again, and is asked about it anew' }
      : {}
  return new ToolError('conflict', `too late: ${what}`, { field: 'approval_id', ...again })
}

const SESSION_MINUTES = POLICY_LIMITS.allowanceMs / 60_000

export const approvalDecideMany = serveTool(
  TOOLS['approval.decide_many'],
  async ({ approval_ids: ids, decision, reason }, { caller, world }) => {
    const items: { approval_id: ApprovalId; status: ApprovalStatus | null; error: string | null }[] = []
    for (const id of new Set(ids)) {
      try {
        const approval = await decided(world, caller, { approval_id: id, decision, reason, minutes: SESSION_MINUTES })
        items.push({ approval_id: id, status: approval.status, error: null })
      } catch (error) {
        if (!(error instanceof ToolError)) throw error
        items.push({ approval_id: id, status: null, error: `${error.code}: ${error.message}` })
      }
    }
    return { items }
  },
)

export const approvalResolve = serveTool(TOOLS['approval.resolve'], async ({ approval_id: id, outcome }, context) => {
  context.target = id
  const { store } = context.world
  const approval = await findApproval(store, id, context.caller)
  checkApprover(approval, context.caller)
  if (!(await store.approvals.resolve(id, outcome === 'done' ? 'returned' : 'failed', nameOf(context.caller))))
    throw new ToolError('conflict', `only what is unknown can be resolved, and this is ${approval.status}`, {
      field: 'approval_id',
    })
  return approvalView(store, await findApproval(store, id, context.caller), context.caller)
})

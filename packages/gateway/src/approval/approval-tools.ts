import { type AgentId, ApprovalId, type ApprovalStatus, TOOLS, type ToolArguments, ToolError } from '@parley/protocol'
import type { ApprovalRecord, Decided, Store } from '@parley/store'
import { type AgentWorld, serveTool } from '../agent/agent-world.ts'
import { type GatewayCaller, nameOf } from '../caller.ts'
import { cursorOf, pageOf, readCursor } from '../tool/page.ts'
import { approvalView } from './approval-view.ts'

type Person = Pick<GatewayCaller, 'admin' | 'userId'>

/** A page of what somebody may decide about, newest first. */
export async function approvalPage(
  store: Pick<Store, 'approvals' | 'agents'>,
  caller: Person,
  page: {
    readonly agentId?: AgentId
    readonly statuses?: readonly ApprovalStatus[]
    readonly beforeCreatedAt?: number
    readonly beforeId?: ApprovalId
    readonly limit: number
  },
) {
  if (!caller.admin && caller.userId === null) return { items: [], next_cursor: null }
  const owner = caller.admin || caller.userId === null ? {} : { ownerId: caller.userId }
  const found = await store.approvals.list({ ...page, ...owner, limit: page.limit + 1 })
  const { items, next } = pageOf(found, page.limit, cursorOf)
  return { items: await Promise.all(items.map((approval) => approvalView(store, approval))), next_cursor: next }
}

export const approvalList = serveTool(
  TOOLS['approval.list'],
  ({ agent_id: agentId, statuses, cursor, limit }, { caller, world }) =>
    approvalPage(world.store, caller, {
      ...(agentId === undefined ? {} : { agentId }),
      ...(cursor === undefined ? {} : readCursor(cursor, ApprovalId, 'approval.list')),
      statuses,
      limit,
    }),
)

export const approvalGet = serveTool(TOOLS['approval.get'], async ({ approval_id: id }, { caller, world: { store } }) => {
  const approval = await findApproval(store, id, caller)
  return { ...(await approvalView(store, approval)), arguments_json: approval.arguments }
})

/** The approval, or `not_found`: one of somebody else's agent is as unknown as one that never was. */
async function findApproval({ approvals }: Pick<Store, 'approvals'>, id: ApprovalId, caller: Person): Promise<ApprovalRecord> {
  const approval = await approvals.byId(id)
  if (approval === undefined || !(caller.admin || approval.ownerId === caller.userId)) throw noSuchApproval(id)
  return approval
}

const noSuchApproval = (id: ApprovalId): ToolError =>
  new ToolError('not_found', `there is no approval ${id}`, { field: 'approval_id', hint: 'approval.list has those that wait' })

export const approvalDecide = serveTool(TOOLS['approval.decide'], async (args, context) => {
  const { caller, world } = context
  context.target = args.approval_id
  return approvalView(world.store, await decided(world, caller, args))
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
  const said = await store.approvals.decide(id, { decision, by: nameOf(caller), reason: reason ?? null })
  if (said === undefined) throw noSuchApproval(id)
  if (said.kind === 'late') throw tooLate(said)
  return said.approval
}

function tooLate({ approval: { status, decided: first, endedAt } }: Decided): ToolError {
  const what =
    first === null
      ? `it is ${status}${endedAt === null ? '' : ` since ${new Date(endedAt).toISOString()}`}`
      : `${first.by} has said ${first.decision} at ${new Date(first.at).toISOString()}`
  return new ToolError('conflict', `too late: ${what}`, { field: 'approval_id' })
}

export const approvalDecideMany = serveTool(
  TOOLS['approval.decide_many'],
  async ({ approval_ids: ids, decision, reason }, { caller, world }) => {
    const items: { approval_id: ApprovalId; status: ApprovalStatus | null; error: string | null }[] = []
    for (const id of new Set(ids)) {
      try {
        const approval = await decided(world, caller, { approval_id: id, decision, reason })
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
  const { status } = await findApproval(store, id, context.caller)
  if (!(await store.approvals.resolve(id, outcome === 'done' ? 'returned' : 'failed', nameOf(context.caller))))
    throw new ToolError('conflict', `only what is unknown can be resolved, and this is ${status}`, { field: 'approval_id' })
  return approvalView(store, await findApproval(store, id, context.caller))
})

import type { SteadyClient } from '@parley/client'
import { ApprovalId, ApprovalStatus } from '@parley/protocol'
import type { Invocation } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import {
  approvalsText,
  approvalText,
  approveWords,
  callText,
  decideApproval,
  lastPending,
  listWords,
  watchApprovals,
  wholeText,
} from '@parley/shell'
import { findId } from '../../caller/find-id.ts'
import { type ReadPage, allItems } from '../../caller/items-of.ts'
import { withCaller } from '../../caller/with-caller.ts'

const KIND = { noun: 'approval', what: 'APPROVAL', prefix: 'apr_', list: 'parley approvals list' } as const
const PAGE = 200
const PAGES_MAX = 50

export const approvalsList = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const { io, values } = invocation
    const { most, ...words } = listWords(invocation)
    const limit = Math.min(PAGE, most)
    const pages = Math.min(PAGES_MAX, Math.ceil(most / PAGE))
    const all = await allItems((from) => caller.call('approval.list', { limit, ...words, ...from }), pages)
    const items = all.slice(0, most)
    if (items.length === 0 && !values.has('json'))
      io.err(words.statuses === undefined ? 'nothing waits for you\n' : 'nothing of the kind was asked\n')
    return show(invocation, { items }, items.length === 0 ? '' : approvalsText(items, io))
  })

export const approvalsShow = (invocation: Invocation): Promise<number> =>
  withApproval(invocation, async (caller, approval_id) => {
    const approval = await caller.call('approval.get', { approval_id })
    const isWhole = invocation.values.has('whole')
    return show(invocation, approval, isWhole ? wholeText(approval) : approvalText(approval, invocation.io))
  })

export const approvalsApprove = async (invocation: Invocation): Promise<number> => {
  const words = await approveWords(invocation)
  return withApproval(invocation, (caller, id) => decideApproval(caller, id, invocation, words))
}

export const approvalsDeny = (invocation: Invocation): Promise<number> => {
  const decision = invocation.values.has('abort') ? 'deny_abort' : 'deny_continue'
  return withApproval(invocation, (caller, id) => decideApproval(caller, id, invocation, { decision }))
}

export const approvalsWatch = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', (caller) => watchApprovals(caller, invocation))

export const approvalsResolve = (invocation: Invocation): Promise<number> => {
  const outcome = invocation.positionals[1] === 'done' ? 'done' : 'not_done'
  return withApproval(invocation, async (caller, approval_id) => {
    const approval = await caller.call('approval.resolve', { approval_id, outcome })
    return show(invocation, approval, `${approval_id} is ${approval.status}.`)
  })
}

const withApproval = (
  invocation: Invocation,
  use: (caller: SteadyClient, approvalId: ApprovalId) => Promise<number>,
): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const page: ReadPage<{ readonly id: ApprovalId; readonly about: string }> = async (cursor) => {
      const statuses = [...ApprovalStatus.options]
      const { items, next_cursor } = await caller.call('approval.list', { limit: PAGE, statuses, ...cursor })
      return { items: items.map((item) => ({ id: item.approval_id, about: callText(item) })), next_cursor }
    }
    const whole = (text: string): ApprovalId | undefined => ApprovalId.safeParse(text).data
    const given = invocation.positionals[0] ?? ''
    return use(caller, (await lastPending(caller, given)) ?? (await findId({ ...KIND, whole, page }, given)))
  })

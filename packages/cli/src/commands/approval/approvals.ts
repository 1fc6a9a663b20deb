import type { SteadyClient } from '@parley/client'
import { type Approval, ApprovalId, ApprovalStatus } from '@parley/protocol'
import type { Invocation } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import {
  approvalsText,
  approvalText,
  type ApproveWords,
  approveWords,
  callText,
  DECIDE_WORDS,
  decidedText,
  listWords,
  saidBefore,
  toldByOption,
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
    const words = listWords(invocation)
    const items = await allItems((from) => caller.call('approval.list', { limit: PAGE, ...words, ...from }), PAGES_MAX)
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

export const approvalsApprove = async (invocation: Invocation): Promise<number> =>
  decide(invocation, await approveWords(invocation))
export const approvalsDeny = (invocation: Invocation): Promise<number> =>
  decide(invocation, { decision: invocation.values.has('abort') ? 'deny_abort' : 'deny_continue' })

export const approvalsWatch = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', (caller) => watchApprovals(caller, invocation))

export const approvalsResolve = (invocation: Invocation): Promise<number> => {
  const outcome = invocation.positionals[1] === 'done' ? 'done' : 'not_done'
  return withApproval(invocation, async (caller, approval_id) => {
    const approval = await caller.call('approval.resolve', { approval_id, outcome })
    return show(invocation, approval, `${approval_id} is ${approval.status}.`)
  })
}

function decide(invocation: Invocation, words: ApproveWords): Promise<number> {
  const reason = invocation.values.text('reason')
  return withApproval(invocation, async (caller, approval_id) => {
    // What was shown is what is decided about: somebody who lists and decides in one go has seen just this.
    const seen = await caller.call('approval.get', { approval_id })
    const { preview_sha256 } = seen
    const said = { approval_id, preview_sha256, ...words, ...(reason === undefined ? {} : { reason }) }
    const approval = await caller.call('approval.decide', said).catch((error: unknown) => {
      throw toldByOption(error, DECIDE_WORDS)
    })
    const text = saidBefore(seen, words.decision, invocation.io) ?? decidedText(approval, invocation.io, words.minutes)
    return show(invocation, approval, `${text}${await activeText(caller, approval)}`)
  })
}

/** A yes to a proposal has made it the active version: which one that is. */
async function activeText(caller: SteadyClient, { kind, status, agent_id }: Approval): Promise<string> {
  if (kind !== 'proposal' || status !== 'returned') return ''
  const { policy } = await caller.call('policy.get', { agent_id })
  return policy === null ? '' : ` Version ${policy.version} of the agent’s policy is active.`
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
    return use(caller, await findId({ ...KIND, whole, page }, invocation.positionals[0] ?? ''))
  })

import type { SteadyClient } from '@parley/client'
import type { Approval, ApprovalId, ToolInput } from '@parley/protocol'
import { CommandError, type Invocation } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { toldByOption } from '../told-by-option.ts'
import { decidedText, saidBefore } from './approval-text.ts'
import { type ApproveWords, DECIDE_WORDS } from './approve-options.ts'

const LAST = '@last'

/** Says what was typed about one approval. */
export async function decideApproval(
  caller: SteadyClient,
  approval_id: ApprovalId,
  invocation: Pick<Invocation, 'io' | 'values'>,
  words: ApproveWords,
): Promise<number> {
  const reason = invocation.values.text('reason')
  // What was shown is what is decided about: somebody who lists and decides in one go has seen just this.
  const seen = await caller.call('approval.get', { approval_id })
  const said: ToolInput<'approval.decide'> = {
    approval_id,
    preview_sha256: seen.preview_sha256,
    ...words,
    ...(reason === undefined ? {} : { reason }),
  }
  const approval = await caller.call('approval.decide', said).catch((error: unknown) => {
    throw toldByOption(error, DECIDE_WORDS)
  })
  const text = saidBefore(seen, words.decision, invocation.io) ?? decidedText(approval, invocation.io, words.minutes)
  return show(invocation, approval, `${text}${await activeText(caller, approval)}`)
}

/** A yes to a proposal has made it the active version: which one that is. */
async function activeText(caller: SteadyClient, { kind, status, agent_id }: Approval): Promise<string> {
  if (kind !== 'proposal' || status !== 'returned') return ''
  const { policy } = await caller.call('policy.get', { agent_id })
  return policy === null ? '' : ` Version ${policy.version} of the agent’s policy is active.`
}

/** The newest that waits, where that was typed. */
export async function lastPending(caller: SteadyClient, given: string): Promise<ApprovalId | undefined> {
  if (given !== LAST) return undefined
  const { items } = await caller.call('approval.list', { limit: 1 })
  const [newest] = items
  if (newest !== undefined) return newest.approval_id
  throw new CommandError('not_found', `${LAST}: nothing waits for you`, { hint: 'parley approvals list --all shows what did' })
}

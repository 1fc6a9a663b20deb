import * as z from 'zod'
import { APPROVAL_LIMITS, ApprovalAnswer, ApprovalKind, ApprovalStatus } from '../approval/approval.ts'
import { ApprovalId } from '../ids.ts'
import { Allowance } from '../policy/allowance.ts'
import { PolicyLayer } from '../policy/decision.ts'
import { Approvers } from '../policy/document.ts'
import { POLICY_LIMITS } from '../policy/limits.ts'
import { ENDS, READS, SETS, tool } from '../tool.ts'
import { textWithin } from '../agent/text-within.ts'
import { OwnPolicy } from './compositor/policy.ts'
import { AgentClaim } from './host.ts'

/** What a host is told of an approval that it waits for. */
const HeldApproval = z.object({
  approval_id: ApprovalId,
  status: ApprovalStatus,
  decision: ApprovalAnswer.nullable(),
  /** What whoever decided says to the agent. */
  reason: z.string().nullable(),
  by: z.string().nullable(),
  /** What is to be sent instead, where whoever approved changed it. */
  edited_json: z.string().nullable(),
})
export type HeldApproval = z.infer<typeof HeldApproval>

export const hostAsk = tool({
  name: 'host.ask',
  roles: ['host'],
  doc: 'Asks people about a call that is about to be made. The same call that was asked about before, and that nobody waits for, is taken up again.',
  input: z.strictObject({
    ...AgentClaim.shape,
    kind: ApprovalKind,
    mount: z.string().max(64).nullable(),
    mount_version: z.int().nullable(),
    name: z.string().min(1).max(4_096),
    arguments_json: z.string().max(APPROVAL_LIMITS.argumentsBytes),
    caller: z.string().min(1).max(256),
    reason: z.string().max(APPROVAL_LIMITS.reasonChars),
    /** The policies by which it is asked, as the host was told them; others that have become active since are asked instead. */
    policy: z.string().max(256),
    rule: z.string().max(64).nullable(),
    layer: PolicyLayer.nullable(),
    askers: Allowance.shape.answers.max(4),
    approvers: z.array(Approvers).max(3),
    /** It was asked about under an earlier claim, and nobody was told what was said to it: a denial is taken up as well. */
    again: z.boolean().default(false),
    /** Those about this call that the host waits for: another of its own is one whose answer it never heard, and is taken up. */
    attended: z.array(ApprovalId).max(APPROVAL_LIMITS.pendingPerAgent).optional(),
  }),
  output: HeldApproval.extend({ adopted: z.boolean(), expires_at: z.iso.datetime() }),
  annotations: SETS,
})

export const hostApprovals = tool({
  name: 'host.approvals',
  roles: ['host'],
  doc: 'Where those that a host waits for stand, as soon as one of them does not wait any more, or after `wait_ms`. One that is gone is left out.',
  input: z.strictObject({
    ...AgentClaim.shape,
    approval_ids: z.array(ApprovalId).min(1).max(APPROVAL_LIMITS.pendingPerAgent),
    wait_ms: z.int().min(0).max(APPROVAL_LIMITS.waitMs).default(0),
  }),
  output: z.object({ items: z.array(HeldApproval) }),
  annotations: READS,
})

export const hostPropose = tool({
  name: 'host.propose',
  roles: ['host'],
  doc: 'Asks people for another policy of the agent that this host holds, as the agent wrote it.',
  input: z.strictObject({
    ...AgentClaim.shape,
    text: textWithin(POLICY_LIMITS.textBytes),
    note: z.string().max(POLICY_LIMITS.noteChars),
  }),
  output: z.object({ approval_id: ApprovalId, version: z.int(), expires_at: z.iso.datetime() }),
  annotations: SETS,
})

export const hostPolicy = tool({
  name: 'host.policy',
  roles: ['host'],
  doc: 'The policy of the agent that this host holds as it is written, and the changes of it that wait for a person.',
  input: z.strictObject({ ...AgentClaim.shape }),
  output: OwnPolicy,
  annotations: READS,
})

export const hostWithdraw = tool({
  name: 'host.withdraw',
  roles: ['host'],
  doc: 'Takes back a change of the policy that was proposed for the agent that this host holds. False where nobody waits for it any more.',
  input: z.strictObject({ ...AgentClaim.shape, approval_id: ApprovalId }),
  output: z.object({ withdrawn: z.boolean() }),
  annotations: ENDS,
})

/**
 * `dispatch`: it goes out now, once. `returned`, `failed`: what came of it. `withdraw`: its caller took it back. `leave`: its caller was cut
 * off, and may come again.
 */
export const ApprovalStep = z.enum(['dispatch', 'returned', 'failed', 'withdraw', 'leave'])
export type ApprovalStep = z.infer<typeof ApprovalStep>

export const hostApprovalStep = tool({
  name: 'host.approval_step',
  roles: ['host'],
  doc: 'One step of an approval under the claim. `ok: false`: it may not be taken; after a refused `dispatch` nothing may be sent.',
  input: z.strictObject({ ...AgentClaim.shape, approval_id: ApprovalId, step: ApprovalStep }),
  output: z.object({ ok: z.boolean(), status: ApprovalStatus.nullable() }),
  annotations: SETS,
})

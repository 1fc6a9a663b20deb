import * as z from 'zod'
import { APPROVAL_LIMITS, ApprovalAnswer, ApprovalKind, ApprovalStatus } from '../approval/approval.ts'
import { AgentId, ApprovalId } from '../ids.ts'
import { PolicyLayer } from '../policy/decision.ts'
import { PolicyRule } from '../policy/document.ts'
import { POLICY_LIMITS } from '../policy/limits.ts'
import { ENDS, READS, SETS, tool } from '../tool.ts'
import { textWithin } from '../agent/text-within.ts'

const Reason = z.string().max(APPROVAL_LIMITS.reasonChars)
const MANY = 100

/** A call that somebody is asked about, as those who may decide see it. */
export const Approval = z.object({
  approval_id: ApprovalId,
  agent_id: AgentId,
  agent: z.string(),
  owner: z.string(),
  kind: ApprovalKind,
  mount: z.string().nullable(),
  name: z.string(),
  /** The arguments with secrets hidden, or all of a policy that is proposed; and the hash of just this text. */
  preview: z.string(),
  preview_sha256: z.string(),
  /** Whether secrets are hidden in it, and whether something is left out for its size. `approval.get` has the arguments whole. */
  masked: z.boolean(),
  cut: z.boolean(),
  /** Who calls, by the token. */
  caller: z.string(),
  /** Why somebody is asked, by which rule of whose policy. */
  reason: z.string(),
  rule: z.string().nullable(),
  layer: PolicyLayer.nullable(),
  /** Who has said yes so far, and how many must. */
  votes: z.array(z.string()),
  needed: z.int(),
  /** Whether you may decide. */
  may_decide: z.boolean(),
  /** What whoever approved made of the arguments, with secrets hidden. */
  edited_preview: z.string().nullable(),
  status: ApprovalStatus,
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  /** Since when nobody waits for it; the same call takes it up again. */
  caller_gone_at: z.iso.datetime().nullable(),
  decided: z.object({ by: z.string(), decision: ApprovalAnswer, reason: z.string().nullable(), at: z.iso.datetime() }).nullable(),
  dispatched_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
})
export type Approval = z.infer<typeof Approval>

export const approvalList = tool({
  name: 'approval.list',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'Calls of your agents that people are asked about, newest first: those that wait, or those in `statuses`. `search` finds a text in the call as it was shown, in who called, why it was asked about, who decided and why; capitals of the letters a to z do not matter, every other sign is found as it is written. An admin sees those of everybody.',
  input: z.strictObject({
    agent_id: AgentId.optional(),
    statuses: z.array(ApprovalStatus).min(1).max(ApprovalStatus.options.length).default(['pending']),
    search: z.string().min(1).max(APPROVAL_LIMITS.searchChars).optional(),
    /** When they were asked: from, and before. */
    since: z.iso.datetime().optional(),
    until: z.iso.datetime().optional(),
    cursor: z.string().max(256).optional(),
    limit: z.int().min(1).max(200).default(50),
  }),
  output: z.object({ items: z.array(Approval), next_cursor: z.string().nullable() }),
  annotations: READS,
})

export const approvalGet = tool({
  name: 'approval.get',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'One call that people are asked about, with its arguments as they will be sent.',
  input: z.strictObject({ approval_id: ApprovalId }),
  output: Approval.extend({ arguments_json: z.string() }),
  annotations: READS,
})

export const approvalDecide = tool({
  name: 'approval.decide',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'Answers one: `approve` lets this very call through, once; `approve_session` also those of the same name of the same client for `minutes` (of commands and patches only the very same); `approve_rule` writes a rule into the policy that asked; `deny_continue` tells the agent why and lets it go on; `deny_abort` ends its turn. With `arguments_json` the call is sent with these instead. The first answer counts; the same again is fine, another is told who decided what. With `preview_sha256` it counts only for what was shown.',
  input: z.strictObject({
    approval_id: ApprovalId,
    decision: ApprovalAnswer,
    reason: Reason.optional(),
    arguments_json: textWithin(APPROVAL_LIMITS.argumentsBytes).optional(),
    /** For `approve_rule`: instead of one that matches just this call. It must match this call, and allow it. */
    rule: PolicyRule.optional(),
    minutes: z
      .int()
      .min(1)
      .max(POLICY_LIMITS.allowanceMs / 60_000)
      .default(POLICY_LIMITS.allowanceMs / 60_000),
    preview_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
      .optional(),
  }),
  output: Approval,
  annotations: SETS,
})

export const approvalDecideMany = tool({
  name: 'approval.decide_many',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'Answers several alike. Each is told by itself: what was decided, or why not.',
  input: z.strictObject({
    approval_ids: z.array(ApprovalId).min(1).max(MANY),
    decision: ApprovalAnswer.exclude(['approve_rule']),
    reason: Reason.optional(),
  }),
  output: z.object({
    items: z.array(z.object({ approval_id: ApprovalId, status: ApprovalStatus.nullable(), error: z.string().nullable() })),
  }),
  annotations: SETS,
})

export const approvalResolve = tool({
  name: 'approval.resolve',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'Says what became of a call whose outcome is unknown, because what had sent it died: `done`, or `not_done`. Nothing is sent again by it.',
  input: z.strictObject({ approval_id: ApprovalId, outcome: z.enum(['done', 'not_done']) }),
  output: Approval,
  annotations: ENDS,
})

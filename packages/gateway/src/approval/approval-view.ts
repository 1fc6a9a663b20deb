import { type Approval, type HeldApproval, iso, parseJson } from '@parley/protocol'
import { marksIn, previewOf } from '@parley/policy'
import type { ApprovalRecord, Store } from '@parley/store'
import { type ApprovalPerson, isApprover, neededFor } from './may-decide.ts'

const time = (at: number | null): string | null => (at === null ? null : iso(at))

/** An approval as those who may decide see it. */
export async function approvalView(
  { agents }: Pick<Store, 'agents'>,
  approval: ApprovalRecord,
  caller: ApprovalPerson,
): Promise<Approval> {
  const agent = await agents.byId(approval.agentId)
  const { decided } = approval
  const edited = approval.edited === null ? null : previewOf(parseJson(approval.edited) ?? null).text
  const marks = marksIn(`${approval.preview}${edited ?? ''}`)
  return {
    approval_id: approval.id,
    agent_id: approval.agentId,
    agent: agent?.name ?? '',
    owner: agent?.ownerName ?? '',
    kind: approval.kind,
    mount: approval.mount,
    name: approval.name,
    preview: approval.preview,
    preview_sha256: approval.previewSha256,
    masked: marks.masked,
    cut: marks.cut,
    caller: approval.caller,
    reason: approval.reason,
    rule: approval.rule,
    layer: approval.layer,
    votes: [...approval.votes],
    needed: neededFor(approval),
    may_decide: isApprover(approval, caller),
    edited_preview: edited,
    status: approval.status,
    created_at: iso(approval.createdAt),
    expires_at: iso(approval.expiresAt),
    caller_gone_at: time(approval.callerGoneAt),
    decided: decided === null ? null : { ...decided, at: iso(decided.at) },
    dispatched_at: time(approval.dispatchedAt),
    ended_at: time(approval.endedAt),
  }
}

/** What the host that waits for it is told. */
export function heldView({ id, status, decided, edited }: ApprovalRecord): HeldApproval {
  return {
    approval_id: id,
    status,
    decision: decided?.decision ?? null,
    reason: decided?.reason ?? null,
    by: decided?.by ?? null,
    edited_json: edited,
  }
}

import type { AgentId, Approval, ApprovalAnswer, ApprovalId, ApprovalStatus } from '@parley/protocol'
import type { ApprovalRecord } from '@parley/store'
import * as z from 'zod'

const CallText = z.string().transform((text) => z.looseObject({ call: z.string() }).parse(JSON.parse(text)).call)

/** An approval with the names of calls in the place of arguments, from what a gateway says or from the store. */
export interface KeptApproval {
  readonly id: ApprovalId
  readonly agentId: AgentId
  /** The name of the call that was asked about. */
  readonly asked: string
  /** The name under which whoever approved it has it sent instead. */
  readonly edited: string | undefined
  readonly status: ApprovalStatus
  readonly decided: { readonly by: string; readonly decision: ApprovalAnswer; readonly reason: string | null } | undefined
  readonly createdAt: number
  readonly expiresAt: number
  readonly goneAt: number | undefined
  readonly dispatchedAt: number | undefined
  readonly endedAt: number | undefined
}

export function keptOfView(view: Approval): KeptApproval {
  const { decided } = view
  return {
    id: view.approval_id,
    agentId: view.agent_id,
    asked: CallText.parse(view.preview),
    edited: view.edited_preview === null ? undefined : CallText.parse(view.edited_preview),
    status: view.status,
    decided: decided === null ? undefined : { by: decided.by, decision: decided.decision, reason: decided.reason },
    createdAt: Date.parse(view.created_at),
    expiresAt: Date.parse(view.expires_at),
    goneAt: timeOf(view.caller_gone_at),
    dispatchedAt: timeOf(view.dispatched_at),
    endedAt: timeOf(view.ended_at),
  }
}

export function keptOfRecord(record: ApprovalRecord): KeptApproval {
  const { id, agentId, status, decided, createdAt, expiresAt } = record
  return {
    id,
    agentId,
    asked: CallText.parse(record.arguments),
    edited: record.edited === null ? undefined : CallText.parse(record.edited),
    status,
    decided: decided === null ? undefined : { by: decided.by, decision: decided.decision, reason: decided.reason },
    createdAt,
    expiresAt,
    goneAt: record.callerGoneAt ?? undefined,
    dispatchedAt: record.dispatchedAt ?? undefined,
    endedAt: record.endedAt ?? undefined,
  }
}

const timeOf = (iso: string | null): number | undefined => (iso === null ? undefined : Date.parse(iso))

/** In one line, for whoever wonders what became of it. */
export function shownApproval({ id, asked, edited, status, decided, ...times }: KeptApproval): string {
  const { createdAt, expiresAt: _expiresAt, agentId: _agentId, ...later } = times
  const since = Object.entries(later).flatMap(([name, at]) => (at === undefined ? [] : [`${name} +${at - createdAt}`]))
  const said = decided === undefined ? '' : ` ${decided.decision} by ${decided.by} (${decided.reason ?? ''})`
  const names = edited === undefined ? asked : `${asked} as ${edited}`
  return `${id} ${names} ${status}${said} created ${new Date(createdAt).toISOString()} ${since.join(' ')}`
}

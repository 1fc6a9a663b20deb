import {
  type Allowance,
  AllowanceId,
  AgentId,
  Allowance as AllowanceShape,
  PolicyStatus,
  PolicySubject,
  UserId,
  iso,
} from '@parley/protocol'
import { type Row, fromJson, integer, integerOrNull, parsedOrNull, text, textOrNull } from '@parley/database'
import type { PolicyRecord } from './policy.ts'

export function toPolicy(row: Row): PolicyRecord {
  const digest = textOrNull(row, 'review')
  const base = integerOrNull(row, 'base')
  return {
    subject: toSubject(row),
    version: integer(row, 'version'),
    status: PolicyStatus.parse(text(row, 'status')),
    text: text(row, 'body'),
    sha256: text(row, 'sha256'),
    note: text(row, 'note'),
    review: digest === null ? null : { digest, base },
    createdBy: text(row, 'created_by'),
    createdAt: integer(row, 'created_at'),
    activatedBy: textOrNull(row, 'activated_by'),
    activatedAt: integerOrNull(row, 'activated_at'),
  }
}

function toSubject(row: Row): PolicySubject {
  const layer = text(row, 'layer')
  const userId = parsedOrNull(UserId, textOrNull(row, 'user_id'))
  const agentId = parsedOrNull(AgentId, textOrNull(row, 'agent_id'))
  return PolicySubject.parse({
    layer,
    ...(userId === null ? {} : { userId }),
    ...(agentId === null ? {} : { agentId }),
  })
}

export const ALLOWANCE_ANSWERS = AllowanceShape.shape.answers

export function toAllowance(row: Row): Allowance {
  return AllowanceShape.parse({
    id: AllowanceId.parse(text(row, 'id')),
    agent_id: AgentId.parse(text(row, 'agent_id')),
    session: textOrNull(row, 'session'),
    kind: text(row, 'kind'),
    mount: textOrNull(row, 'mount'),
    mount_version: integerOrNull(row, 'mount_version'),
    name: text(row, 'name'),
    digest: textOrNull(row, 'digest'),
    answers: fromJson(ALLOWANCE_ANSWERS, text(row, 'answers')) ?? [],
    expires_at: iso(integer(row, 'expires_at')),
  })
}

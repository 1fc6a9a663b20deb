import {
  APPROVAL_LIMITS,
  Allowance,
  AgentId,
  ApprovalAnswer,
  ApprovalId,
  ApprovalKind,
  ApprovalStatus,
  Approvers,
  PolicyLayer,
  UserId,
  parseJson,
} from '@parley/protocol'
import {
  type Row,
  type Value,
  InvalidArgument,
  fromJson,
  integer,
  integerOrNull,
  parsedOrNull,
  text,
  textOrNull,
  toJson,
} from '@parley/database'
import { checkName, checkText } from '../../limits.ts'
import type { ApprovalRecord, NewApproval } from './approval.ts'

const SHA256 = /^[0-9a-f]{64}$/
/** A character of a reason may take this many bytes. */
const REASON_BYTES = APPROVAL_LIMITS.reasonChars * 4
const ManyApprovers = Approvers.array()
const Votes = Approvers.shape.users.unwrap()
const { answers: Askers } = Allowance.shape

export function toApproval(row: Row): ApprovalRecord {
  const by = textOrNull(row, 'decided_by')
  return {
    id: ApprovalId.parse(text(row, 'id')),
    agentId: AgentId.parse(text(row, 'agent_id')),
    ownerId: UserId.parse(text(row, 'owner_id')),
    kind: ApprovalKind.parse(text(row, 'kind')),
    mount: textOrNull(row, 'mount'),
    mountVersion: integerOrNull(row, 'mount_version'),
    name: text(row, 'name'),
    digest: text(row, 'digest'),
    arguments: text(row, 'arguments'),
    preview: text(row, 'preview'),
    previewSha256: text(row, 'preview_sha256'),
    caller: text(row, 'caller'),
    reason: text(row, 'reason'),
    policy: text(row, 'policy'),
    rule: textOrNull(row, 'rule'),
    layer: parsedOrNull(PolicyLayer, textOrNull(row, 'layer')),
    askers: fromJson(Askers, text(row, 'askers')) ?? [],
    approvers: fromJson(ManyApprovers, text(row, 'approvers')) ?? [],
    votes: fromJson(Votes, text(row, 'votes')) ?? [],
    edited: textOrNull(row, 'edited'),
    status: ApprovalStatus.parse(text(row, 'status')),
    createdAt: integer(row, 'created_at'),
    expiresAt: integer(row, 'expires_at'),
    callerGoneAt: integerOrNull(row, 'caller_gone_at'),
    decided:
      by === null
        ? null
        : {
            by,
            decision: ApprovalAnswer.parse(text(row, 'decision')),
            reason: textOrNull(row, 'decision_reason'),
            at: integer(row, 'decided_at'),
          },
    dispatchedAt: integerOrNull(row, 'dispatched_at'),
    endedAt: integerOrNull(row, 'ended_at'),
  }
}

/** What is asked, as columns: kind to people. */
export function approvalValues(approval: NewApproval): readonly Value[] {
  const { kind, mount, mountVersion, name, digest, preview, previewSha256, caller, reason, policy, rule, layer } = approval
  if (mount !== null) checkName('mount', mount)
  checkName('name', name, REASON_BYTES)
  for (const [field, hash] of Object.entries({ digest, previewSha256 }))
    if (!SHA256.test(hash)) throw new InvalidArgument(field, 'must be a SHA-256 in hex')
  checkText('arguments', approval.arguments, APPROVAL_LIMITS.argumentsBytes)
  if (parseJson(approval.arguments) === undefined) throw new InvalidArgument('arguments', 'must be JSON')
  checkText('preview', preview, kind === 'proposal' ? APPROVAL_LIMITS.proposalBytes : APPROVAL_LIMITS.previewBytes)
  checkName('caller', caller)
  checkText('reason', reason, REASON_BYTES)
  checkText('policy', policy, REASON_BYTES)
  const askers = toJson('askers', Askers, approval.askers)
  const approvers = toJson('approvers', ManyApprovers, approval.approvers)
  const people = namesIn(approval.approvers.flatMap(({ users }) => users))
  const asked = [kind, mount, name, digest, approval.arguments, preview, previewSha256, caller, reason]
  return [...asked, mountVersion, policy, rule, layer, askers, approvers, people]
}

export function checkReason(reason: string | null): void {
  if (reason !== null) checkText('reason', reason, REASON_BYTES)
}

export function editedValue(edited: string | undefined): string | null {
  if (edited === undefined) return null
  checkText('edited', edited, APPROVAL_LIMITS.argumentsBytes)
  if (parseJson(edited) === undefined) throw new InvalidArgument('edited', 'must be JSON')
  return edited
}

export const votesValue = (votes: readonly string[]): string => toJson('votes', Votes, votes)

/** Names between line ends, which no name holds: one is found with those around it. */
export const namesIn = (names: readonly string[]): string => (names.length === 0 ? '' : `\n${names.join('\n')}\n`)

/** A name as it stands among those of `namesIn`; null, which stands nowhere, without one. */
export const nameAmong = (name: string | undefined): string | null => (name === undefined ? null : namesIn([name]))

/** What is searched for, with capitals of A to Z made small, as both engines do with what they look through. */
export const searchedFor = (search: string | undefined): string | null =>
  search?.replaceAll(/[A-Z]+/g, (capitals) => capitals.toLowerCase()) ?? null

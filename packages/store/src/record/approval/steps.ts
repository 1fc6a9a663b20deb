import { type AgentId, type ApprovalAnswer, type ApprovalId, isJsonObject, parseJson, policySubjectText } from '@parley/protocol'
import { type Row, type Transaction, Conflict, integer } from '@parley/database'
import { topicSignal } from '../../topic/signal-topics.ts'
import { announceAgent } from '../agent/steps.ts'
import { toPolicy } from '../policy/row.ts'
import { ACTIVE, BY_VERSION, END_PROPOSAL } from '../policy/statements.ts'
import { activeName } from '../policy/active-name.ts'
import { activateVersion, addAllowance, addVersion } from '../policy/steps.ts'
import {
  type ApprovalRecord,
  type Decided,
  type DecisionEffects,
  approvalTopic,
  approvalsTopic,
  approversTopic,
} from './approval.ts'
import { toApproval } from './row.ts'
import * as sql from './statements.ts'

/** What a change of an agent's policy is asked about as. */
export const PROPOSAL = { kind: 'proposal', mount: null, mountVersion: null, name: 'policy', rule: null, layer: null } as const

/** Tells all who look at it: those who wait for it, its agent's host, and whoever decides. */
export function told(tx: Transaction, row: Row): ApprovalRecord {
  const approval = toApproval(row)
  const named = approval.approvers.flatMap(({ users }) => users.map(approversTopic))
  const topics = new Set([approvalTopic(approval.id), approvalsTopic(approval.ownerId), 'approvals', ...named])
  for (const topic of topics) tx.signal(topicSignal(topic))
  announceAgent(tx, approval.agentId)
  return approval
}

/** How a decision is answered that comes after another, or after the end. */
export async function tooLate(
  tx: Transaction,
  {
    id,
    decision,
    edited,
    now,
  }: { readonly id: ApprovalId; readonly decision: ApprovalAnswer; readonly edited: string | null; readonly now: number },
): Promise<Decided | undefined> {
  const expired = await tx.get(sql.EXPIRE, [id, now])
  const found = expired ?? (await tx.get(sql.BY_ID, [id]))
  if (found === undefined) return undefined
  const approval = expired === undefined ? toApproval(found) : told(tx, found)
  if (expired !== undefined) await endProposal(tx, approval, 'withdrawn')
  // Who approved other arguments has not said the same: these are not what is sent.
  const isSame = approval.decided?.decision === decision && approval.edited === edited
  return { kind: isSame ? 'repeated' : 'late', approval }
}

/**
 * A yes to what was asked under policies that decide no more: these may deny it, or ask others. It is over, and the same call is decided about
 * anew. Answers the row; `undefined`: they are the same.
 */
export async function withdrawStale(tx: Transaction, approval: ApprovalRecord, now: number): Promise<ApprovalRecord | undefined> {
  if (approval.kind === 'proposal' || approval.policy === (await activeName(tx, approval))) return undefined
  const row = await tx.get(sql.WITHDRAW, [approval.id, approval.agentId, now])
  return row && told(tx, row)
}

/** The votes of those who could still vote. */
export async function standingVotes(tx: Transaction, votes: readonly string[]): Promise<readonly string[]> {
  const standing: string[] = []
  for (const vote of votes) if ((await tx.get(sql.MAY_NOT_VOTE, [vote])) === undefined) standing.push(vote)
  return standing
}

/** What a yes does beyond its call. What it is about is locked. */
export async function takeEffect(
  tx: Transaction,
  agentId: AgentId,
  said: {
    readonly effects: DecisionEffects
    readonly by: string
    readonly now: number
    readonly random: (size: number) => Uint8Array
  },
): Promise<void> {
  const { effects, by, now, random } = said
  if (effects.allowance !== undefined) await addAllowance(tx, agentId, { ...effects.allowance, by, now, random })
  if (effects.policy === undefined) return
  const { subject, base, text, note } = effects.policy
  const { version } = await addVersion(tx, subject, { text, note, by, status: 'draft', now })
  await checkBase(tx, policySubjectText(subject), base)
  // A rule before the one that asked: who is asked about the rest is as it was.
  await activateVersion(tx, subject, { version, by, now, keepsAllowances: true })
}

/** A yes makes the proposed version the active one; a no ends it. Answers the row as it is then. */
export async function decideProposal(
  tx: Transaction,
  approval: ApprovalRecord,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<Row> {
  const isApproved = approval.status === 'approved'
  if (isApproved) {
    const version = versionIn(approval)
    const name = `agent/${approval.agentId}`
    const proposed = await tx.get(BY_VERSION, [name, version])
    if (proposed === undefined) throw new Conflict('the version that was proposed is gone')
    await checkBase(tx, name, toPolicy(proposed).review?.base ?? null)
    await activateVersion(tx, { layer: 'agent', agentId: approval.agentId }, { version, by, now })
  } else await endProposal(tx, approval, 'refused')
  const row = await (isApproved ? tx.get(sql.DONE, [approval.id, now]) : tx.get(sql.BY_ID, [approval.id]))
  if (row === undefined) throw new TypeError('an approval vanished inside a transaction')
  return row
}

/** What people were shown is what would change from this version. */
async function checkBase(tx: Transaction, subject: string, base: number | null): Promise<void> {
  const active = await tx.get(ACTIVE, [subject])
  if ((active === undefined ? null : integer(active, 'version')) !== base)
    throw new Conflict('the policy has changed since; look at it again')
}

/** The version that a proposal was about ends with it. */
export async function endProposal(tx: Transaction, approval: ApprovalRecord, as: 'refused' | 'withdrawn'): Promise<void> {
  if (approval.kind !== 'proposal') return
  const version = versionIn(approval)
  await tx.run(END_PROPOSAL, [`agent/${approval.agentId}`, version, as])
}

/** Which version a proposal is about. */
export function versionIn({ arguments: text }: ApprovalRecord): number {
  const value = parseJson(text)
  const version = isJsonObject(value) ? value['version'] : undefined
  if (typeof version !== 'number') throw new TypeError('a proposal names no version')
  return version
}

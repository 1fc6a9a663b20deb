import { createHash } from 'node:crypto'
import { type AgentId, AllowanceId, POLICY_LIMITS, type PolicySubject, makeId, policySubjectText } from '@parley/protocol'
import { type Transaction, InvalidArgument, NotFound, ShareExceeded, integer, lockNamed, toJson } from '@parley/database'
import { checkInteger, checkName, checkText } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { checkOwner } from '../access/enabled.ts'
import { announceAgent, lockActive } from '../agent/steps.ts'
import { TOUCH } from '../agent/statements.ts'
import type { NewAllowance, NewPolicy, PolicyRecord } from './policy.ts'
import { ALLOWANCE_ANSWERS, toPolicy } from './row.ts'
import * as sql from './statements.ts'

/** The signal of `policies`. */
const POLICIES_CHANGED = topicSignal('policies')
const NOTE_BYTES = POLICY_LIMITS.noteChars * 4

/** Nobody else changes what this subject has before the commit; its person or agent is there, and stays. */
export async function lockSubject(tx: Transaction, subject: PolicySubject): Promise<string> {
  if (subject.layer === 'owner') await checkOwner(tx, subject.userId)
  if (subject.layer === 'agent') await lockActive(tx, subject.agentId)
  const name = policySubjectText(subject)
  await tx.get(lockNamed('policies'), [name])
  return name
}

/** Adds a version; the subject is locked. */
export async function addVersion(
  tx: Transaction,
  subject: PolicySubject,
  policy: NewPolicy & { readonly status: 'draft' | 'proposed'; readonly now: number },
): Promise<PolicyRecord> {
  const { text: body, note, by, status, now } = policy
  checkText('text', body, POLICY_LIMITS.textBytes)
  checkText('note', note, NOTE_BYTES)
  checkName('by', by)
  const name = policySubjectText(subject)
  const next = await tx.get(sql.NEXT_VERSION, [name])
  const version = next === undefined ? 1 : integer(next, 'version')
  if (version > POLICY_LIMITS.versions) await tx.run(sql.DROP_OLD, [name, version - POLICY_LIMITS.versions])
  const userId = subject.layer === 'owner' ? subject.userId : null
  const agentId = subject.layer === 'agent' ? subject.agentId : null
  const sha256 = createHash('sha256').update(body).digest('hex')
  const row = await tx.get(sql.ADD, [name, version, subject.layer, userId, agentId, status, body, sha256, note, by, now])
  if (row === undefined) throw new TypeError('a policy vanished inside a transaction')
  return toPolicy(row)
}

/**
 * Makes a version the active one; the subject is locked. What people allowed in answer to the one before ends with it: another may ask others,
 * or more of them. `keepsAllowances`: it asks as the one before did.
 */
export async function activateVersion(
  tx: Transaction,
  subject: PolicySubject,
  to: { readonly version: number; readonly by: string; readonly now: number; readonly keepsAllowances?: boolean },
): Promise<PolicyRecord> {
  checkName('by', to.by)
  const name = policySubjectText(subject)
  await tx.run(sql.RETIRE, [name])
  const row = await tx.get(sql.ACTIVATE, [name, to.version, to.by, to.now])
  if (row === undefined) throw new NotFound(`version ${to.version} of the policy ${name}`)
  if (to.keepsAllowances !== true) await endAnswers(tx, subject)
  await announcePolicy(tx, subject, to.now)
  return toPolicy(row)
}

/** Ends what people allowed in answer to what this subject's policy asked. */
export async function endAnswers(tx: Transaction, subject: PolicySubject): Promise<void> {
  const whose = subject.layer === 'owner' ? [subject.userId] : subject.layer === 'agent' ? [subject.agentId] : []
  await tx.run(sql.END_ANSWERS[subject.layer], [JSON.stringify(subject.layer), ...whose])
}

/** Tells the hosts of whom it is about. */
export async function announcePolicy(tx: Transaction, subject: PolicySubject, now: number): Promise<void> {
  if (subject.layer !== 'agent') return tx.signal(POLICIES_CHANGED)
  await tx.get(TOUCH, [subject.agentId, now])
  announceAgent(tx, subject.agentId)
}

/** Allows something to an agent that is locked. Throws `ShareExceeded` (`allowances`) past what is looked at for one call. */
export async function addAllowance(
  tx: Transaction,
  agentId: AgentId,
  allowance: NewAllowance & { readonly now: number; readonly random: (size: number) => Uint8Array },
): Promise<void> {
  const { session, kind, mount, mount_version: mountVersion, name, digest, by, ttlMs, now, random } = allowance
  checkInteger('ttlMs', ttlMs, 1, POLICY_LIMITS.allowanceMs)
  checkName('by', by)
  if (session !== null) checkName('session', session)
  if (digest !== null && !/^[0-9a-f]{64}$/.test(digest)) throw new InvalidArgument('digest', 'must be a SHA-256 in hex')
  const answers = toJson('answers', ALLOWANCE_ANSWERS, allowance.answers)
  const held = await tx.get(sql.ALLOWANCES_COUNT, [agentId, now])
  if (held !== undefined && integer(held, 'held') >= POLICY_LIMITS.allowances)
    throw new ShareExceeded('allowances', POLICY_LIMITS.allowances)
  const id = makeId(AllowanceId, 'alw', random)
  const what = [session, kind, mount, mountVersion, name, digest, answers]
  await tx.run(sql.ALLOW, [id, agentId, ...what, by, now, now + ttlMs])
  await announcePolicy(tx, { layer: 'agent', agentId }, now)
}

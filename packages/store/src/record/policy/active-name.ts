import { type AgentId, type PolicySubject, policySubjectText, type UserId } from '@parley/protocol'
import { type Transaction, integer } from '@parley/database'
import type { PolicyRecord } from './policy.ts'
import { ACTIVE } from './statements.ts'
import { lockSubject } from './steps.ts'

/** One name for the versions that are active: an approval is bound to it. */
export const policiesName = (
  policies: readonly { readonly subject: Pick<PolicyRecord['subject'], 'layer'>; readonly version: number }[],
): string => policies.map(({ subject: { layer }, version }) => `${layer}:${version}`).join(' ')

export interface Governed {
  readonly agentId: AgentId
  readonly ownerId: UserId
}

/** Whose policies decide about an agent, in the order in which they are named and locked. */
export const subjectsOf = ({ agentId, ownerId: userId }: Governed): readonly PolicySubject[] => [
  { layer: 'installation' },
  { layer: 'owner', userId },
  { layer: 'agent', agentId },
]

/** Nobody activates another version of any of them before the commit. */
export async function lockPolicies(tx: Transaction, governed: Governed): Promise<void> {
  for (const subject of subjectsOf(governed)) await lockSubject(tx, subject)
}

/** The name of what is active now, as this transaction sees it. */
export async function activeName(tx: Transaction, governed: Governed): Promise<string> {
  const active: { readonly subject: PolicySubject; readonly version: number }[] = []
  for (const subject of subjectsOf(governed)) {
    const row = await tx.get(ACTIVE, [policySubjectText(subject)])
    if (row !== undefined) active.push({ subject, version: integer(row, 'version') })
  }
  return policiesName(active)
}

import { type PolicyDocument, type PolicyEntry, ToolError, iso } from '@parley/protocol'
import { compileTextInSteps, problemText, readPolicy } from '@parley/policy'
import type { PolicyRecord } from '@parley/store'
import { Pace, paced } from './pace.ts'

/** Problems of a policy that are named at once. */
const PROBLEMS_SHOWN = 10

export function policyEntry(policy: PolicyRecord): PolicyEntry {
  const { subject, version, status, sha256, note, createdBy, createdAt, activatedBy, activatedAt } = policy
  return {
    layer: subject.layer,
    agent_id: subject.layer === 'agent' ? subject.agentId : null,
    version,
    status,
    sha256,
    note,
    created_by: createdBy,
    created_at: iso(createdAt),
    activated_by: activatedBy,
    activated_at: activatedAt === null ? null : iso(activatedAt),
  }
}

/** A policy out of what somebody wrote, or all that is wrong with it. */
export async function policyIn(text: string, pace: Pace = new Pace()): Promise<PolicyDocument> {
  await paced(compileTextInSteps(text), pace)
  const read = readPolicy(text)
  if (read.kind === 'policy') return read.policy
  const shown = read.problems.slice(0, PROBLEMS_SHOWN).map(problemText)
  const more = read.problems.length - shown.length
  throw new ToolError('invalid_argument', `text: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`, {
    field: 'text',
    hint: 'docs/policy.md has every field, with examples',
  })
}

import { createHash } from 'node:crypto'
import { type AgentId, POLICY_LIMITS, policySubjectText } from '@parley/protocol'
import type { Transaction } from '@parley/database'
import { checkName, checkText } from '../../limits.ts'
import type { NewAgent } from './agent.ts'
import { FIRST_POLICY } from './statements.ts'

const NOTE_BYTES = POLICY_LIMITS.noteChars * 4

/** In the commit that makes the agent: it is never there without what holds it. */
export async function putFirstPolicy(
  tx: Transaction,
  id: AgentId,
  { text, note, by }: NonNullable<NewAgent['policy']>,
  now: number,
): Promise<void> {
  checkText('policy', text, POLICY_LIMITS.textBytes)
  checkText('note', note, NOTE_BYTES)
  checkName('by', by)
  const sha256 = createHash('sha256').update(text).digest('hex')
  await tx.run(FIRST_POLICY, [policySubjectText({ layer: 'agent', agentId: id }), id, text, sha256, note, by, now])
}

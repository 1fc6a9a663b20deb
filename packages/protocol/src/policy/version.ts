import * as z from 'zod'
import { AgentId, UserId } from '../ids.ts'

/**
 * `draft`: written down. `proposed`: an agent asks for it. `active`: it decides. `retired`: another one took its place; it can become active
 * again. `refused`, `withdrawn`: what became of a proposal.
 */
export const PolicyStatus = z.enum(['draft', 'proposed', 'active', 'retired', 'refused', 'withdrawn'])
export type PolicyStatus = z.infer<typeof PolicyStatus>

/** Whose policy: everybody's, one person's, or one agent's. */
export const PolicySubject = z.discriminatedUnion('layer', [
  z.strictObject({ layer: z.literal('installation') }),
  z.strictObject({ layer: z.literal('owner'), userId: UserId }),
  z.strictObject({ layer: z.literal('agent'), agentId: AgentId }),
])
export type PolicySubject = z.infer<typeof PolicySubject>

/** As it is kept and shown: `installation`, `owner/usr_…`, `agent/agt_…`. */
export function policySubjectText(subject: PolicySubject): string {
  if (subject.layer === 'installation') return subject.layer
  return `${subject.layer}/${subject.layer === 'owner' ? subject.userId : subject.agentId}`
}

import * as z from 'zod'
import { ApprovalId } from '../../ids.ts'
import { PolicyDecision, PolicyLayer } from '../../policy/decision.ts'
import { POLICY_LIMITS } from '../../policy/limits.ts'
import { ADDS, ENDS, READS, tool } from '../../tool.ts'
import { textWithin } from '../../agent/text-within.ts'

/** What an agent, or whoever else proposed it, waits for. */
const Proposal = z.object({
  approval_id: ApprovalId,
  version: z.int(),
  note: z.string(),
  expires_at: z.iso.datetime(),
})

/** The policy of one agent, as that agent sees it. */
export const OwnPolicy = z.object({
  /** The agent's own policy as it is written; null where it has none. */
  policy: z.object({ version: z.int(), text: z.string() }).nullable(),
  /** Those of all layers that decide now, by their versions. */
  active: z.string(),
  proposals: z.array(Proposal),
})

const Name = z.string().min(1).max(4_096)

export const policyGetOwn = tool({
  name: 'policy_get',
  roles: ['agent'],
  doc: 'The agent’s own policy as it is written, and the changes of it that wait for a person. What the installation and the owner say besides is told by policy_check.',
  input: z.strictObject({}),
  output: OwnPolicy,
  annotations: READS,
})

export const policyCheck = tool({
  name: 'policy_check',
  roles: ['agent'],
  doc: 'What would be decided about a call now, without making it: one of `tool`, `resource`, `prompt` (with its `mount`, by the server’s own name) or `command`.',
  input: z.strictObject({
    mount: z.string().max(64).optional().describe('the name of a mount; left out: what the engine does itself'),
    tool: Name.optional(),
    resource: Name.optional(),
    prompt: Name.optional(),
    command: Name.optional(),
    args: z.record(z.string(), z.json()).default({}),
  }),
  output: z.object({
    decision: z.union([PolicyDecision, z.literal('evaluator_error')]),
    reason: z.string(),
    rule: z.string().nullable(),
    layer: PolicyLayer.nullable(),
  }),
  annotations: READS,
})

export const policyProposeOwn = tool({
  name: 'policy_propose',
  roles: ['agent'],
  doc: 'Asks people for another policy of this agent, in TOML: all of it, not what is to change. Nothing changes until a person says yes.',
  input: z.strictObject({
    text: textWithin(POLICY_LIMITS.textBytes),
    note: z.string().max(POLICY_LIMITS.noteChars).default('').describe('why, for whoever decides'),
  }),
  output: z.object({ approval_id: ApprovalId, version: z.int(), expires_at: z.iso.datetime() }),
  annotations: ADDS,
})

export const policyWithdraw = tool({
  name: 'policy_withdraw',
  roles: ['agent'],
  doc: 'Takes back a change of the policy that was proposed and not decided about.',
  input: z.strictObject({ approval_id: ApprovalId }),
  output: z.object({ withdrawn: z.boolean() }),
  annotations: ENDS,
})

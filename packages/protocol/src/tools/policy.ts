import * as z from 'zod'
import { AgentId, AllowanceId } from '../ids.ts'
import { Allowance } from '../policy/allowance.ts'
import { PolicyDecision, PolicyLayer } from '../policy/decision.ts'
import { ExampleCall } from '../policy/document.ts'
import { POLICY_LIMITS } from '../policy/limits.ts'
import { PolicyStatus } from '../policy/version.ts'
import { ADDS, ENDS, READS, SETS, tool } from '../tool.ts'
import { textWithin } from '../agent/text-within.ts'
import { Approval } from './approval.ts'
import { Username } from './user.ts'

/** Whose policy: the installation's, a person's (`username`, or your own), or an agent's (`agent_id`). */
const Whose = z.strictObject({ layer: PolicyLayer.optional(), agent_id: AgentId.optional(), username: Username.optional() })
const Version = z.int().min(1).max(1_000_000)
const Text = textWithin(POLICY_LIMITS.textBytes)
const Note = z.string().max(POLICY_LIMITS.noteChars)
const Outcome = z.union([PolicyDecision, z.literal('evaluator_error')])

/** One version of a policy, without its text. */
const PolicyEntry = z.object({
  layer: PolicyLayer,
  agent_id: AgentId.nullable(),
  version: z.int(),
  status: PolicyStatus,
  sha256: z.string(),
  note: z.string(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  activated_by: z.string().nullable(),
  activated_at: z.iso.datetime().nullable(),
})
export type PolicyEntry = z.infer<typeof PolicyEntry>

/** What somebody is shown before a version becomes active. `digest` stands for all of it. */
const PolicyReview = z.object({
  digest: z.string(),
  /** The version that is active now; null where none is. */
  base_version: z.int().nullable(),
  examples: z.object({
    run: z.int(),
    failed: z.array(z.object({ example: z.int(), wanted: PolicyDecision, decided: Outcome, rule: z.string().nullable() })),
  }),
  /** Calls that were made before, and what would be decided otherwise about them; `items` are the first of these, those that become looser before others. */
  replayed: z.object({
    calls: z.int(),
    agents: z.int(),
    changed: z.int(),
    looser: z.int(),
    items: z.array(
      z.object({
        agent: z.string(),
        mount: z.string().nullable(),
        kind: z.string(),
        name: z.string(),
        at: z.iso.datetime(),
        before: Outcome,
        after: Outcome,
        rule: z.string().nullable(),
        looser: z.boolean(),
      }),
    ),
  }),
})
export type PolicyReview = z.infer<typeof PolicyReview>

/** A call to be tried: as an example writes it. The agent is the one that is named beside it. */
const TriedCall = ExampleCall.omit({ agent: true, args: true }).extend({ args: z.record(z.string(), z.json()).default({}) })

export const policyGet = tool({
  name: 'policy.get',
  roles: ['user'],
  scopes: ['agents', 'approvals'],
  doc: 'The policy of a layer as it is written: the active one, or the version named; for an agent also what people have allowed it for a while. Without `layer` it is the agent’s where one is named, otherwise your own.',
  input: Whose.extend({ version: Version.optional() }),
  output: z.object({ policy: PolicyEntry.extend({ text: z.string() }).nullable(), allowances: z.array(Allowance) }),
  annotations: READS,
})

export const policySet = tool({
  name: 'policy.set',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'Writes a new version of a policy down and answers what it would change: which of its examples fail, and which calls that were made would be decided otherwise. Nothing changes before policy.activate.',
  input: Whose.extend({ text: Text, note: Note.default('') }),
  output: PolicyEntry.extend({
    review: PolicyReview,
    /** The newest version before it that has the very same text. */
    same_as: z.int().nullable(),
  }),
  annotations: ADDS,
})

export const policyReplay = tool({
  name: 'policy.replay',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'What a version that was written down would change now, as policy.set answers it: for one that was active before, too.',
  input: Whose.extend({ version: Version }),
  output: PolicyEntry.extend({ review: PolicyReview }),
  annotations: SETS,
})

export const policyActivate = tool({
  name: 'policy.activate',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'Makes a version the active one. `digest` is that of the answer of policy.set or policy.replay: what was looked at is what is confirmed. Its examples must hold.',
  input: Whose.extend({ version: Version, digest: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex') }),
  output: PolicyEntry,
  annotations: SETS,
})

export const policyRetire = tool({
  name: 'policy.retire',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'Takes the active version of a layer away: it has no rules then. Its versions are kept.',
  input: Whose,
  output: z.object({ retired: z.boolean() }),
  annotations: ENDS,
})

export const policyHistory = tool({
  name: 'policy.history',
  roles: ['user'],
  scopes: ['agents', 'approvals'],
  doc: 'The versions of a policy, newest first.',
  input: Whose.extend({ before_version: Version.optional(), limit: z.int().min(1).max(200).default(50) }),
  output: z.object({ items: z.array(PolicyEntry) }),
  annotations: READS,
})

export const policyTest = tool({
  name: 'policy.test',
  roles: ['user'],
  scopes: ['agents', 'approvals'],
  doc: 'What would be decided about a call of an agent, and how it comes to that. Nothing is called. With `text` that policy stands in the place of the layer named, the agent’s unless another is.',
  input: z.strictObject({
    agent_id: AgentId,
    call: TriedCall,
    text: Text.optional(),
    layer: PolicyLayer.default('agent'),
  }),
  output: z.object({
    decision: Outcome,
    reason: z.string(),
    rule: z.string().nullable(),
    layer: PolicyLayer.nullable(),
    allowances: z.array(z.string()),
    /** What each policy said. */
    trace: z.array(
      z.object({
        layer: PolicyLayer,
        shadow: z.boolean(),
        outcome: Outcome.nullable(),
        rule: z.string().nullable(),
        delegated: z.boolean(),
        passed_over: z.array(z.string()),
      }),
    ),
    /** Why it may be none that the agent can make, and which one may be meant. */
    warnings: z.array(
      z.object({
        code: z.enum(['no_such_mount', 'no_mount', 'renamed', 'not_shown']),
        message: z.string(),
        meant: z.object({ mount: z.string(), name: z.string() }).nullable(),
      }),
    ),
  }),
  annotations: READS,
})

export const policyPropose = tool({
  name: 'policy.propose',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Asks for another policy of an agent: whoever may decide about it finds it among the approvals, and a yes makes it active.',
  input: z.strictObject({ agent_id: AgentId, text: Text, note: Note.default('') }),
  output: Approval,
  annotations: ADDS,
})

export const policyListProposals = tool({
  name: 'policy.list_proposals',
  roles: ['user'],
  scopes: ['agents', 'approvals'],
  doc: 'The versions that were proposed for an agent, newest first, and what became of them.',
  input: z.strictObject({ agent_id: AgentId, limit: z.int().min(1).max(200).default(50) }),
  output: z.object({ items: z.array(PolicyEntry) }),
  annotations: READS,
})

export const policyDisallow = tool({
  name: 'policy.disallow',
  roles: ['user'],
  scopes: ['approvals'],
  doc: 'Ends something that was allowed to an agent for a while: policy.get lists it.',
  input: z.strictObject({ agent_id: AgentId, allowance_id: AllowanceId }),
  output: z.object({ disallowed: z.boolean() }),
  annotations: ENDS,
})

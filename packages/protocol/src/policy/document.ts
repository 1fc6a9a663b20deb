import * as z from 'zod'
import type { JsonValue } from '../json.ts'
import { CallKind, PolicyDecision } from './decision.ts'
import { POLICY_LIMITS } from './limits.ts'

/** `*` stands for any characters, `\` takes the meaning from what follows it. */
const Pattern = z
  .string()
  .min(1)
  .max(POLICY_LIMITS.patternChars)
  .refine((text) => /^(?:[^\\]|\\.)*$/su.test(text), 'ends with a lone \\: write \\\\ for a backslash')
const Patterns = z.union([Pattern, z.array(Pattern).min(1).max(POLICY_LIMITS.patterns)])

/** What rules and examples are called; reports and audits name them by it. */
const RuleName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must have 1 to 64 small letters, digits, . _ or -, and begin with a letter or digit')

/** What a server says of its own tool. */
const Annotations = z.strictObject({
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
})

const Count = z.int().min(0).max(1_000_000_000)

/** Calls of the same thing by the same agent that were let through before: in this turn, in the last hour and day. */
export const PolicyCounts = z.strictObject({ turn: Count, hour: Count, day: Count })
export type PolicyCounts = z.infer<typeof PolicyCounts>

/** What a call must look like, and what is decided then. What is left out matches everything. */
export const PolicyRule = z.strictObject({
  name: RuleName,
  kind: z.union([CallKind, z.array(CallKind).min(1)]).optional(),
  /** `owner/name`, or the name alone. */
  agent: Patterns.optional(),
  /** `role:name`, as in `user:ada`. */
  caller: Patterns.optional(),
  /** The mount's name; `@engine` for what an engine does itself. */
  mount: Patterns.optional(),
  /** Each of these is a kind and the names within it. */
  tool: Patterns.optional(),
  resource: Patterns.optional(),
  prompt: Patterns.optional(),
  command: Patterns.optional(),
  annotations: Annotations.optional(),
  /** A condition in CEL. */
  when: z.string().min(1).max(POLICY_LIMITS.conditionChars).optional(),
  /** The rule matches while fewer calls than these were let through. */
  counts: PolicyCounts.partial().optional(),
  decision: PolicyDecision,
  /** The model reads it. */
  reason: z.string().min(1).max(POLICY_LIMITS.reasonChars).optional(),
  /** Lets the layers below decide otherwise, where they have a rule for the call. */
  delegate: z.boolean().default(false),
})
export type PolicyRule = z.infer<typeof PolicyRule>

/** Any JSON. That it is bounded and has no numbers that JSON lacks is looked at where it is used. */
const Json = z.custom<JsonValue>((value) => value !== undefined)

/** A call as an example writes it: the fields are those of a rule. */
export const ExampleCall = z.strictObject({
  kind: CallKind.optional(),
  /** The name, where the kind has no field of its own. */
  name: z.string().optional(),
  agent: z.string().default('somebody/agent'),
  caller: z.string().default('agent:agent'),
  mount: z.string().optional(),
  tool: z.string().optional(),
  resource: z.string().optional(),
  prompt: z.string().optional(),
  command: z.string().optional(),
  annotations: Annotations.default({}),
  args: Json.default({}),
  counts: PolicyCounts.partial().default({}),
  now: z.iso.datetime({ offset: true }).default('2026-01-01T12:00:00Z'),
})
export type ExampleCall = z.infer<typeof ExampleCall>

/** A call and what must be decided about it, by the rule named where one is. */
export const PolicyExample = z.strictObject({ call: ExampleCall, decision: PolicyDecision, rule: RuleName.optional() })
export type PolicyExample = z.infer<typeof PolicyExample>

/** Who may decide what this policy asks: those who are said here and nobody else. Left out: the agent's owner, or any admin. */
export const Approvers = z.strictObject({
  users: z.array(z.string().min(1).max(64)).max(POLICY_LIMITS.approvers).default([]),
  admins: z.boolean().default(false),
  owner: z.boolean().default(false),
  /** So many different people must say yes. */
  needed: z.int().min(1).max(10).default(1),
  /** Only somebody who signed in decides, not a token that acts for them. */
  sign_in: z.boolean().default(false),
})
export type Approvers = z.infer<typeof Approvers>

/** A policy, as its TOML is parsed. */
export const PolicyDocument = z.strictObject({
  /** What no rule covers is denied, instead of left to others or asked. */
  deny_unknown: z.boolean().default(false),
  /** Decided and logged, not enforced. */
  shadow: z.boolean().default(false),
  approvers: Approvers.optional(),
  rule: z.array(PolicyRule).max(POLICY_LIMITS.rules).default([]),
  example: z.array(PolicyExample).max(POLICY_LIMITS.examples).default([]),
})
export type PolicyDocument = z.infer<typeof PolicyDocument>

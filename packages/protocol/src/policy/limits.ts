/** Every bound of policies, by name. */
export const POLICY_LIMITS = {
  rules: 500,
  examples: 500,
  /** Patterns of one field of a rule, and the characters of each. */
  patterns: 64,
  patternChars: 512,
  reasonChars: 500,
  /** One condition, and all conditions of a policy: what it costs to parse goes by their length. */
  conditionChars: 2_000,
  conditionsChars: 32_000,
  approvers: 64,
  /** Allowances that are looked at for one call. */
  allowances: 256,
  /** The text of one policy, and what somebody writes beside it. */
  textBytes: 128 * 1024,
  noteChars: 500,
  /** Versions of one policy that are kept: the active one always, of the others the newest. */
  versions: 50,
  /** The longest that an allowance goes on. */
  allowanceMs: 12 * 3_600_000,
  /** Decisions that would change, as they are listed; the counts are of all. */
  changes: 50,
  /** How many agents and how many of the newest calls of each a policy for several is tried on. */
  replayedAgents: 20,
  replayedCalls: 500,
} as const

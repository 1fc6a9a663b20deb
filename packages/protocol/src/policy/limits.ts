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
} as const

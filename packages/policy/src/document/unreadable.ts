import type { PolicyDocument } from '@parley/protocol'
import type { ParsedPolicy } from './parse-policy.ts'

/** What a newer version of us wrote and this one cannot read denies everything. */
const UNREADABLE: PolicyDocument = { deny_unknown: true, shadow: false, rule: [], example: [] }

/** A policy that was kept, and so was right when it was written. */
export const policyOrDenial = (parsed: ParsedPolicy): PolicyDocument => (parsed.kind === 'policy' ? parsed.policy : UNREADABLE)

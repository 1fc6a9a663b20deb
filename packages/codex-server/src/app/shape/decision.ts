import type { ApprovalDecision } from '@parley/agent'
import { type JsonValue, isJsonObject } from '@parley/protocol'

/** Codex's own words, then those that its documents declare. */
const DECISIONS: Readonly<Record<string, ApprovalDecision>> = {
  approved: 'approved',
  approved_for_session: 'approved_for_session',
  denied: 'denied',
  abort: 'abort',
  allow: 'approved',
  deny: 'denied',
}
const DECLARED = new Set(['allow', 'deny'])

export type ReadDecision =
  | { readonly kind: 'read'; readonly decision: ApprovalDecision }
  /** In a declared word: `word` is what it said. */
  | { readonly kind: 'translated'; readonly decision: ApprovalDecision; readonly word: string }
  /** Counts as denied. */
  | { readonly kind: 'unreadable' }

/** What a client's answer to an approval means. */
export function readDecision(answer: JsonValue): ReadDecision {
  const word = isJsonObject(answer) ? answer['decision'] : undefined
  const decision = typeof word === 'string' && Object.hasOwn(DECISIONS, word) ? DECISIONS[word] : undefined
  if (typeof word !== 'string' || decision === undefined) return { kind: 'unreadable' }
  return DECLARED.has(word) ? { kind: 'translated', decision, word } : { kind: 'read', decision }
}

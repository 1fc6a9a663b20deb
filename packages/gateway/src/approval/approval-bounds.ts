import { APPROVAL_LIMITS } from '@parley/protocol'

/** How long an approval waits, and how many may. */
export const APPROVAL_BOUNDS = {
  ttlMs: APPROVAL_LIMITS.ttlMs,
  maxPerAgent: APPROVAL_LIMITS.pendingPerAgent,
  maxPerPerson: APPROVAL_LIMITS.pendingPerPerson,
}

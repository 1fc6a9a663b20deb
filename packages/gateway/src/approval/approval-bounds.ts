import { APPROVAL_LIMITS } from '@parley/protocol'
import type { AgentWorld } from '../agent/agent-world.ts'

/** How long an approval waits, and how many may. */
export const approvalBounds = ({ gateWaitMs }: Pick<AgentWorld, 'gateWaitMs'>) => ({
  ttlMs: gateWaitMs,
  maxPerAgent: APPROVAL_LIMITS.pendingPerAgent,
  maxPerPerson: APPROVAL_LIMITS.pendingPerPerson,
})

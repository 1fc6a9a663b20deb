import type { GateDefault } from '@parley/protocol'
import type { MountDecision } from '@parley/agent'

const DENIED = 'this installation lets agents call nothing: an admin sets gate.default'

/** What the gate says to every call until there are policies. */
export const gateDecision = (gate: GateDefault): MountDecision =>
  gate === 'allow' ? { kind: 'allow' } : { kind: 'deny', reason: DENIED, endsTurn: false }

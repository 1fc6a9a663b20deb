import type { PolicyDecision, PolicyLayer } from '@parley/protocol'
import type { PolicyCall } from '../call/policy-call.ts'
import type { CallValues } from '../cel/call-values.ts'
import type { CompiledPolicy } from './compile-policy.ts'

/** A decision, or that there could be none: a condition failed, and the call is denied. */
export type PolicyOutcome = PolicyDecision | 'evaluator_error'

/** A policy and whose it is. */
export interface LayerPolicy {
  readonly layer: PolicyLayer
  readonly policy: CompiledPolicy
}

/** What one policy says about a call. */
export interface LayerSaid extends LayerPolicy {
  /** Null: it has no rule for the call, and leaves it to others. */
  readonly outcome: PolicyOutcome | null
  readonly rule: string | null
  readonly reason: string
  readonly delegate: boolean
  /** Rules that would have matched, had their condition held. */
  readonly passedOver: readonly string[]
}

const NONE: readonly string[] = []

/** The first rule that matches. A condition that fails ends the search: what came after it might have been looser. */
export function layerSays({ layer, policy }: LayerPolicy, call: PolicyCall, values: () => CallValues): LayerSaid {
  let passedOver: string[] | undefined
  for (const rule of policy.candidates(call.kind, call.mount, call.name)) {
    if (!rule.covers(call)) continue
    const held = rule.condition?.holds(values())
    if (held?.kind === 'failed') {
      const reason = `the condition of the rule ${rule.name} could not be evaluated: ${held.reason}`
      return {
        layer,
        policy,
        outcome: 'evaluator_error',
        rule: rule.name,
        reason,
        delegate: false,
        passedOver: passedOver ?? NONE,
      }
    }
    if (held?.holds !== false) {
      const { name, decision, reason, delegate } = rule
      return { layer, policy, outcome: decision, rule: name, reason, delegate, passedOver: passedOver ?? NONE }
    }
    passedOver ??= []
    passedOver.push(rule.name)
  }
  const outcome = policy.denyUnknown ? 'deny_continue' : null
  const reason = 'no rule covers this call, and what is not covered is denied'
  return { layer, policy, outcome, rule: null, reason, delegate: false, passedOver: passedOver ?? NONE }
}

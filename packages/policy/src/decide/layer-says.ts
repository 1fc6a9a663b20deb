import { messageOf, type PolicyDecision, type PolicyLayer } from '@parley/protocol'
import type { PolicyCall } from '../call/policy-call.ts'
import { type CallValues, UNCOUNTED } from '../cel/call-values.ts'
import type { ConditionResult } from '../cel/condition.ts'
import type { CostMeter } from '../cel/meter.ts'
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

/** What one decision goes by in all layers. */
export interface Deciding {
  readonly call: PolicyCall
  readonly values: CallValues
  readonly meter: CostMeter
}

const NONE: readonly string[] = []
const UNKNOWN: ConditionResult = { kind: 'failed', reason: UNCOUNTED }

/** What one policy says. It never throws: where the decision costs too much it is an error of this layer. */
export function layerSays(one: LayerPolicy, deciding: Deciding): LayerSaid {
  try {
    return firstMatch(one, deciding)
  } catch (error) {
    const reason = `the policy could not be evaluated: ${messageOf(error)}`
    return { ...one, outcome: 'evaluator_error', rule: null, reason, delegate: false, passedOver: NONE }
  }
}

/** The first rule that matches. A condition that fails ends the search: what came after it might have been looser. */
function firstMatch({ layer, policy }: LayerPolicy, { call, values, meter }: Deciding): LayerSaid {
  let passedOver: string[] | undefined
  for (const rule of policy.candidates(call, meter)) {
    if (!rule.covers(call)) continue
    const held = rule.isLimited && call.counts === null ? UNKNOWN : rule.condition?.holds(values, meter)
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

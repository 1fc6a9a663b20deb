import { type Allowance, type Approvers, type GateDefault, messageOf, type PolicyLayer, type RpcCodeName } from '@parley/protocol'
import { isPlainUri } from '../call/plain-uri.ts'
import type { PolicyCall } from '../call/policy-call.ts'
import { callValues } from '../cel/call-values.ts'
import { CostMeter } from '../cel/meter.ts'
import { answering } from './allowances.ts'
import { ANYBODY } from './approvers.ts'
import { type LayerPolicy, type LayerSaid, layerSays, type PolicyOutcome } from './layer-says.ts'

/** What was decided, by which rule of which layer, and how it came to that. */
export interface PolicyAnswer {
  readonly decision: PolicyOutcome
  /** The model reads it. */
  readonly reason: string
  readonly rule: string | null
  readonly layer: PolicyLayer | null
  /** Who may decide, of each policy that asks. */
  readonly approvers: readonly Approvers[]
  /** The allowances that answered what would have been asked. */
  readonly allowances: readonly string[]
  readonly trace: readonly TraceStep[]
  /** What would be decided if the policies in shadow were enforced, where there are any. */
  readonly shadow: Pick<PolicyAnswer, 'decision' | 'reason' | 'rule' | 'layer'> | null
}

/** What one policy said. */
export interface TraceStep {
  readonly layer: PolicyLayer
  readonly shadow: boolean
  readonly outcome: PolicyOutcome | null
  readonly rule: string | null
  readonly delegated: boolean
  readonly passedOver: readonly string[]
}

type Settled = Omit<PolicyAnswer, 'trace' | 'shadow'>

/** What a decision goes by beside policies. */
export interface Beside {
  readonly allowances?: readonly Allowance[]
  /** What is decided where no rule covers a call. */
  readonly uncovered?: GateDefault
}

const UNCOVERED: Readonly<Record<GateDefault, { readonly decision: PolicyOutcome; readonly reason: string }>> = {
  allow: { decision: 'allow', reason: 'no rule covers this call, and this installation allows such calls' },
  ask: { decision: 'ask', reason: 'no rule covers this call, so a person is asked' },
  deny: {
    decision: 'deny_continue',
    reason: 'no rule covers this call, and this installation denies such calls: an admin sets gate.default',
  },
}

/** A server's question to the person at the client: that person decides, and nobody else is asked before whether they may be asked. */
const ASKS_PERSON = 'elicitation/create'
const asksPerson = ({ kind, name }: PolicyCall): boolean => kind === 'question' && name === ASKS_PERSON

const STRICTNESS: Readonly<Record<PolicyOutcome, number>> = {
  allow: 0,
  ask: 1,
  deny_continue: 2,
  evaluator_error: 3,
  deny_abort: 4,
}
const RANK: Readonly<Record<PolicyLayer, number>> = { installation: 0, owner: 1, agent: 2 }

export const isLooser = (outcome: PolicyOutcome, than: PolicyOutcome): boolean => STRICTNESS[outcome] < STRICTNESS[than]

/** The error of a denial on the wire; undefined for what is no denial. */
export function denialCode(outcome: PolicyOutcome): RpcCodeName | undefined {
  if (outcome === 'deny_abort') return 'policy_denied'
  if (outcome === 'deny_continue') return 'policy_denied_continue'
  return outcome === 'evaluator_error' ? 'policy_evaluator_error' : undefined
}

/**
 * Whether a call may be made. The strictest layer wins, unless the rule of an upper one delegates and a lower one has a rule. Where no
 * layer has one, a person is asked, or it is as `uncovered` says. A question to a person needs no other person: only a denial stops it. It
 * never throws: what cannot be decided is denied.
 */
export function decide(
  call: PolicyCall,
  layers: readonly LayerPolicy[],
  { allowances = [], uncovered = 'ask' }: Beside = {},
): PolicyAnswer {
  try {
    if (call.kind === 'resource' && !isPlainUri(call.name))
      return refused('deny_continue', 'the URI is not plain: write it without . and .. parts')
    const meter = new CostMeter()
    const deciding = { call, values: callValues(call, meter), meter }
    // What a policy in shadow costs must not deny anything: it has what the others leave.
    const said = layers
      .toSorted((a, b) => Number(a.policy.shadow) - Number(b.policy.shadow))
      .map((one) => layerSays(one, deciding))
      .toSorted((a, b) => RANK[a.layer] - RANK[b.layer])
    const enforced = said.filter(({ policy }) => !policy.shadow)
    const beside = { allowances, uncovered }
    const answer = settle(call, enforced, beside)
    if (enforced.length === said.length) return { ...answer, trace: said.map((one) => step(one, said)), shadow: null }
    // Of one layer its policies in shadow count, where it has such.
    const tried = said.filter(
      ({ layer, policy }) => policy.shadow || !said.some((other) => other.layer === layer && other.policy.shadow),
    )
    const { decision, reason, rule, layer } = settle(call, tried, beside)
    const trace = said.map((one) => step(one, one.policy.shadow ? tried : enforced))
    return { ...answer, trace, shadow: { decision, reason, rule, layer } }
  } catch (error) {
    return refused('evaluator_error', `the policy could not be evaluated: ${messageOf(error)}`)
  }
}

function settle(call: PolicyCall, said: readonly LayerSaid[], { allowances, uncovered }: Required<Beside>): Settled {
  const standing = said.filter((one) => one.outcome !== null && !isDelegated(one, said))
  const strictest = standing.reduce<LayerSaid | undefined>(
    (sofar, one) => (sofar === undefined || strictnessOf(one) > strictnessOf(sofar) ? one : sofar),
    undefined,
  )
  const decision = strictest?.outcome ?? UNCOVERED[uncovered].decision
  const settled: Settled = {
    decision,
    reason: strictest?.reason ?? UNCOVERED[uncovered].reason,
    rule: strictest?.rule ?? null,
    layer: strictest?.layer ?? null,
    approvers: [],
    allowances: [],
  }
  if (asksPerson(call) && (strictest === undefined || decision === 'ask'))
    return { ...settled, decision: 'allow', reason: 'the person who is asked decides' }
  if (decision !== 'ask') return settled
  const asking = standing.filter(({ outcome }) => outcome === 'ask')
  const answers = answering(call, asking.length === 0 ? ['default'] : asking.map(({ layer }) => layer), allowances)
  if (answers !== undefined) return { ...settled, decision: 'allow', reason: 'a person allowed such calls', allowances: answers }
  const asked = (asking.length === 0 ? said : asking).map(({ policy }) => policy.approvers)
  return { ...settled, approvers: asked.length === 0 ? [ANYBODY] : asked }
}

/** A rule that delegates stands where nobody below has a rule. */
const isDelegated = (one: LayerSaid, said: readonly LayerSaid[]): boolean =>
  one.delegate && said.some(({ layer, rule }) => rule !== null && RANK[layer] > RANK[one.layer])

const strictnessOf = ({ outcome }: LayerSaid): number => (outcome === null ? -1 : STRICTNESS[outcome])

function step(one: LayerSaid, said: readonly LayerSaid[]): TraceStep {
  const { layer, policy, outcome, rule, passedOver } = one
  return { layer, shadow: policy.shadow, outcome, rule, delegated: isDelegated(one, said), passedOver }
}

function refused(decision: 'deny_continue' | 'evaluator_error', reason: string): PolicyAnswer {
  return { decision, reason, rule: null, layer: null, approvers: [], allowances: [], trace: [], shadow: null }
}

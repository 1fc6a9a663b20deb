import type { ToolOutput } from '@parley/protocol'
import { type LayerPolicy, type PolicyAnswer, type PolicyCall, decide } from '@parley/policy'
import { compiledOf } from './ready-policies.ts'
import { type Counting, RecentCalls } from './recent-calls.ts'

type Spec = ToolOutput<'host.agent_get'>
export type PolicySpec = Pick<
  Spec,
  'agent_id' | 'name' | 'owner' | 'kind' | 'gate' | 'policy' | 'policies' | 'allowances' | 'counted' | 'counted_from'
>
/** A call before it is known how often there were such, and when. */
export type AskedCall = Omit<PolicyCall, 'agent' | 'counts' | 'now'>

/** The policies of one agent, as the gateway had them last. */
export class AgentPolicies {
  readonly #now: () => number
  readonly #counts: RecentCalls
  #spec: PolicySpec
  #layers: readonly LayerPolicy[]

  constructor(spec: PolicySpec, now: () => number) {
    this.#now = now
    this.#counts = new RecentCalls(now, spec.kind === 'local')
    this.#spec = spec
    this.#layers = layersOf(spec)
    this.#counts.begin(countingOf(this.#layers), spec)
  }

  /** One name for the versions that decide now. */
  get name(): string {
    return this.#spec.policy
  }

  /** The gateway has told the agent anew. */
  set(spec: PolicySpec): void {
    const isOther = spec.policy !== this.#spec.policy
    this.#spec = spec
    if (!isOther) return
    this.#layers = layersOf(spec)
    this.#counts.begin(countingOf(this.#layers), spec)
  }

  turnBegins(): void {
    this.#counts.turnBegins()
  }

  decide(call: AskedCall): PolicyAnswer {
    const { agent_id: id, name, owner, allowances, gate } = this.#spec
    const counts = this.#counts.of(call)
    return decide({ ...call, agent: { id, name, owner }, counts, now: this.#now() }, this.#layers, {
      allowances,
      uncovered: gate,
    })
  }

  /** It is let through. */
  count(call: AskedCall): void {
    this.#counts.add(call)
  }
}

const layersOf = ({ policies }: PolicySpec): readonly LayerPolicy[] =>
  policies.map(({ layer, sha256, document_json: json }) => ({ layer, policy: compiledOf(sha256, json) }))

/** All that some rule counts, those in shadow too. */
const countingOf = (layers: readonly LayerPolicy[]): Counting => ({
  minutes: Math.max(0, ...layers.map(({ policy }) => policy.countedMinutes)),
  isCounted: (thing) => layers.some(({ policy }) => policy.counts(thing)),
})

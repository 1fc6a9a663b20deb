import type { PolicyCall } from '../call/policy-call.ts'
import { decide, isLooser, type PolicyAnswer } from '../decide/decide.ts'
import type { LayerPolicy } from '../decide/layer-says.ts'

/** Calls that are looked at in one go; whoever has more comes again with the rest. */
export const REPLAY_CALLS = 10_000

/** A call about which the new layers decide otherwise. */
export interface ChangedDecision {
  readonly call: PolicyCall
  readonly before: PolicyAnswer
  readonly after: PolicyAnswer
  /** Whether the new decision is looser: what people should look at first. */
  readonly looser: boolean
}

export interface PolicyReplay {
  /** How many calls were looked at. */
  readonly calls: number
  readonly changed: readonly ChangedDecision[]
}

/** What would be decided otherwise about calls that were made. Policies in shadow take part as if they were enforced. */
export function replay(
  calls: readonly PolicyCall[],
  before: readonly LayerPolicy[],
  after: readonly LayerPolicy[],
): PolicyReplay {
  const looked = calls.slice(0, REPLAY_CALLS)
  const changed = looked.flatMap((call) => {
    const [then, now] = [decide(call, before), decide(call, after)]
    const [was, is] = [(then.shadow ?? then).decision, (now.shadow ?? now).decision]
    return was === is ? [] : [{ call, before: then, after: now, looser: isLooser(is, was) }]
  })
  return { calls: looked.length, changed }
}

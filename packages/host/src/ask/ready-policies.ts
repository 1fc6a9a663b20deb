import { setImmediate as turn } from 'node:timers/promises'
import type { ToolOutput } from '@parley/protocol'
import { type CompiledPolicy, compileInSteps, compilePolicy, parsePolicy, policyOrDenial } from '@parley/policy'

/** Policies that are kept ready for all agents of this host. */
const READY_MAX = 512
/** After so long the other agents have their turn. */
const SLICE_MS = 4

/** Most agents of a host have the installation's policy in common: each text is made ready once. */
const ready = new Map<string, CompiledPolicy>()

/** Makes the conditions of policies ready in pieces: many of them take so long that calls of other agents would wait. */
export async function readyPolicies({ policies }: Pick<ToolOutput<'host.agent_get'>, 'policies'>): Promise<void> {
  let sliceAt = performance.now()
  for (const { sha256, document_json: json } of policies) {
    if (ready.has(sha256)) continue
    for (const _ of compileInSteps(JSON.parse(json))) {
      if (performance.now() - sliceAt < SLICE_MS) continue
      await turn()
      sliceAt = performance.now()
    }
  }
}

export function compiledOf(sha256: string, json: string): CompiledPolicy {
  const known = ready.get(sha256)
  if (known !== undefined) return known
  const compiled = compilePolicy(policyOrDenial(parsePolicy(JSON.parse(json))))
  if (ready.size >= READY_MAX) ready.delete(ready.keys().next().value ?? '')
  ready.set(sha256, compiled)
  return compiled
}

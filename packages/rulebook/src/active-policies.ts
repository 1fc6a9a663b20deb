import type { PolicyDocument, PolicyLayer } from '@parley/protocol'
import {
  type CompiledPolicy,
  type LayerPolicy,
  compilePolicy,
  compileTextInSteps,
  policyOrDenial,
  readPolicy,
} from '@parley/policy'
import { type AgentRecord, type PolicyRecord, type Store, policiesName, subjectsOf } from '@parley/store'
import { Pace, paced } from './pace.ts'

/** Policies that are kept ready: of the installation and of those who were active last. */
const READY_MAX = 256

/** A policy of a layer, read. */
export interface ReadPolicy {
  readonly record: PolicyRecord
  readonly document: PolicyDocument
  readonly compiled: CompiledPolicy
}

/** All that is active for an agent, and one name for just these versions: an approval is bound to it. */
export interface ActivePolicies {
  readonly name: string
  readonly policies: readonly ReadPolicy[]
}

const ready = new Map<string, Omit<ReadPolicy, 'record'>>()

export async function activePolicies(
  { policies }: Pick<Store, 'policies'>,
  { id: agentId, ownerId }: Pick<AgentRecord, 'id' | 'ownerId'>,
  pace: Pace = new Pace(),
): Promise<ActivePolicies> {
  const records = await policies.active(subjectsOf({ agentId, ownerId }))
  for (const { sha256, text } of records) if (!ready.has(sha256)) await paced(compileTextInSteps(text), pace)
  return { name: policiesName(records), policies: records.map(readRecord) }
}

function readRecord(record: PolicyRecord): ReadPolicy {
  const known = ready.get(record.sha256)
  if (known !== undefined) return { record, ...known }
  const document = policyOrDenial(readPolicy(record.text))
  const made = { document, compiled: compilePolicy(document) }
  if (ready.size >= READY_MAX) ready.delete(ready.keys().next().value ?? '')
  ready.set(record.sha256, made)
  return { record, ...made }
}

export const layersOf = ({ policies }: ActivePolicies): readonly LayerPolicy[] =>
  policies.map(({ record, compiled }) => ({ layer: record.subject.layer, policy: compiled }))

/** The layers with another policy in the place of one. */
export const layersWith = (active: ActivePolicies, layer: PolicyLayer, policy: PolicyDocument): readonly LayerPolicy[] => [
  ...layersOf(active).filter((each) => each.layer !== layer),
  { layer, policy: compilePolicy(policy) },
]

import { type JsonObject, isJsonObject } from '@parley/protocol'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { type Basis, type Registry, basisOf, registry } from '../registry/registry.ts'
import { type ContractName, OBSERVED_VERSIONS } from '../registry/registry-types.ts'
import { toolGates } from './tool-params.ts'
import { type CodexVersion, compareReleases, isWithin, knownVersion } from '../version/version.ts'

/** Where a parameter was written: that decides what becomes of one that the version lacks. */
export type ParamLayer = 'cli' | 'config' | 'wire'

/** One parameter that a version lacks, or is said to lack. */
export interface ParamProblem {
  readonly param: string
  readonly currentVersion: string
  /** The first version that has it; null where it was taken away. */
  readonly minVersion: string | null
  /** The last version that has it; null where it came later. */
  readonly maxVersion: string | null
  /** `warning`: whoever hears it may go on. */
  readonly severity: 'error' | 'warning'
  /** `declared`: the documents say so and the real version takes it. `unmeasured`: nobody knows for this version. */
  readonly evidence: 'observed' | 'declared' | 'unmeasured'
  readonly message: string
}

export interface ParamsChecked {
  /** What goes on to Codex: without what was left out. */
  readonly params: JsonObject
  readonly problems: readonly ParamProblem[]
}

/** Which versions have a parameter. */
export interface ParamVersions {
  readonly param: string
  /** Only this value of it. */
  readonly value?: string
  readonly minVersion: string | null
  readonly maxVersion: string | null
  readonly evidence: ParamProblem['evidence']
}

/**
 * What becomes of parameters on a version. On the command line one that it lacks is an error; in configuration a warning,
 * and it is left out; on the wire an error that `invalidParams` turns into an answer. A gate that is only declared is a
 * warning everywhere. `tool:codex` and `tool:codex-reply` are the arguments of the two tools.
 */
export function checkParams(
  method: string,
  params: JsonObject,
  version: CodexVersion,
  layer: ParamLayer,
  contracts: Registry = registry,
): ParamsChecked {
  const gates = method.startsWith('tool:')
    ? toolGates(method.slice('tool:'.length), params, version)
    : methodGates(method, params, version, contracts)
  const problems = gates.map((gate) => problemOf(gate, version, layer))
  const lacking = new Set(gates.filter(({ evidence }) => evidence === 'observed').map(({ param }) => param))
  if (layer !== 'config' || lacking.size === 0) return { params, problems }
  return { params: Object.fromEntries(Object.entries(params).filter(([name]) => !lacking.has(name))), problems }
}

/** The answer on the wire to the first parameter that is lacking; undefined when all are there. */
export function invalidParams(problems: readonly ParamProblem[]): RemoteFailure | undefined {
  const first = problems.find(({ severity }) => severity === 'error')
  if (first === undefined) return undefined
  const { param, currentVersion, minVersion, maxVersion, message } = first
  const data = { param, currentVersion, minVersion, ...(maxVersion === null ? {} : { maxVersion }) }
  return new RemoteFailure('invalid_params', `Invalid params: ${message}`, data)
}

/** The parameters of a request that the registry knows from other versions than this one. */
function methodGates(method: string, params: JsonObject, version: CodexVersion, contracts: Registry): readonly ParamVersions[] {
  const name = contracts.find(method)
  const basis = basisOf(version)
  if (name === undefined || basis === undefined) return []
  return Object.keys(params).flatMap((param) => {
    const gate = observedGate(name, param, version, basis, contracts) ?? declaredGate(name, param, version, contracts)
    return gate === undefined ? [] : [gate]
  })
}

function observedGate(
  name: ContractName,
  param: string,
  version: CodexVersion,
  basis: Basis,
  contracts: Registry,
): ParamVersions | undefined {
  if (hasParam(name, param, basis.version, contracts) !== false) return undefined
  const having = OBSERVED_VERSIONS.filter((other) => hasParam(name, param, other, contracts) === true)
  const later = having.find((other) => compareReleases(knownVersion(other), version) > 0)
  const earlier = having.findLast((other) => compareReleases(knownVersion(other), version) < 0)
  // No version has it: not a matter of versions, and real Codex ignores what it does not know.
  if (later === undefined && earlier === undefined) return undefined
  return { param, minVersion: later ?? null, maxVersion: later === undefined ? (earlier ?? null) : null, evidence: 'observed' }
}

function declaredGate(name: ContractName, param: string, version: CodexVersion, contracts: Registry): ParamVersions | undefined {
  const gates = contracts.declared(name).versionSpecificParams
  // A client names what it likes, `constructor` too.
  const gate = Object.hasOwn(gates, param) ? gates[param] : undefined
  if (gate === undefined || isWithin(version, gate.minVersion, null)) return undefined
  return { param, minVersion: gate.minVersion, maxVersion: null, evidence: 'declared' }
}

/** Undefined where the version has no such method, which is another matter. */
function hasParam(
  name: ContractName,
  param: string,
  version: (typeof OBSERVED_VERSIONS)[number],
  contracts: Registry,
): boolean | undefined {
  const { present, request } = contracts.observed(name, version)
  if (!present || request === undefined) return undefined
  const choices = [request, ...[request['anyOf'], request['oneOf'], request['allOf']].flatMap((list) => list ?? [])]
  return choices.some((choice) => isJsonObject(choice) && isJsonObject(choice['properties']) && param in choice['properties'])
}

/** What is wrong, in words for where it was written. */
export function problemOf(
  { param, value, minVersion, maxVersion, evidence }: ParamVersions,
  { text }: CodexVersion,
  layer: ParamLayer,
): ParamProblem {
  const severity = evidence === 'observed' && layer !== 'config' ? 'error' : 'warning'
  const needs = minVersion === null ? `requires Codex <= ${maxVersion}` : `requires Codex >= ${minVersion}`
  const ends: Record<ParamProblem['evidence'], string> = {
    observed: layer === 'config' ? ' and is left out' : '',
    declared: ', says its documentation; this version takes it all the same',
    unmeasured: ' as far as was measured; whether this version has it is not known',
  }
  const message = `'${param}'${value === undefined ? '' : ` with the value '${value}'`} ${needs} (current: ${text})${ends[evidence]}`
  return { param, currentVersion: text, minVersion, maxVersion, severity, evidence, message }
}

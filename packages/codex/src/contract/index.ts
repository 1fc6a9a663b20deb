export { type CodexVersion, NEWEST_KNOWN, OLDEST_SUPPORTED, SUPPORTED_RANGE, compareVersions, parseVersion } from './version.ts'
export { SERVES, type Serves, type VersionSupport, servesOf, supportOf } from './version-support.ts'
export { type CodexFile, type Detected, type RunCodex, VersionDetector, detectVersion } from './version-detect.ts'
export { type ParamLayer, type ParamProblem, type ParamsChecked, checkParams, invalidParams } from './param-check.ts'
export { checkConfig, hasVersionedSettings } from './config-params.ts'
export { type Basis, Registry, RegistryBroken, basisOf, registry } from './registry.ts'
export {
  type ContractName,
  type DeclaredContract,
  type Difference,
  OBSERVED_VERSIONS,
  type ObservedContract,
  type ObservedVersion,
} from './registry-types.ts'
export { type SchemaField, schemaFields, typeText } from './schema-fields.ts'
export { type Change, diffVersions, fieldText } from './diff.ts'
export { type Explanation, type Refusal, explain } from './explain/explain.ts'
export { BadRequestText, readRequest } from './explain/read-request.ts'
export type { Step as TranslationStep } from './explain/step.ts'
export { type CheckReport, type ScenarioEnd, checkServer } from './check/check.ts'
export type { MethodVerdict } from './check/verdict.ts'
export { type RecordingWorld, recordScenario } from './record/record-scenario.ts'
export type { ModelAnswer, ModelMove, Scenario, ScenarioSettings } from './record/scenario.ts'
export { DOT } from './record/scenarios/conversations.ts'
export { scenariosOf } from './record/scenarios/index.ts'
export { BadMethodName, ContractExists, newContract } from './new-contract.ts'
export type * from './generated/index.ts'

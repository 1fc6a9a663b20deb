export type { CodexProcess, StartCodex } from './process/codex-process.ts'
export type { ProgramCall, ProgramEnd, Programs } from './process/programs.ts'
export { type Basis, Registry, RegistryBroken, basisOf, registry } from './registry/registry.ts'
export {
  type ContractName,
  type DeclaredContract,
  type Difference,
  OBSERVED_VERSIONS,
  type ObservedContract,
  type ObservedVersion,
} from './registry/registry-types.ts'
export { type SchemaField, schemaFields, typeText } from './registry/schema-fields.ts'
export { type Change, diffVersions, fieldText } from './registry/diff.ts'
export { type Explanation, type Refusal, explain } from './explain/explain.ts'
export { BadRequestText, readRequest } from './explain/read-request.ts'
export type { Rewrite as TranslationStep } from './explain/step.ts'
export { type CheckReport, type ScenarioEnd, checkServer } from './check/check.ts'
export type { MethodVerdict } from './check/verdict.ts'
export type { Places } from './record/normalise.ts'
export { type RecordingWorld, recordScenario } from './record/record-scenario.ts'
export type { ScenarioAnswer, Scenario, ScenarioSettings, Step } from './record/scenario.ts'
export { scenariosOf } from './record/scenarios/index.ts'
export { type Server, type Worlds, type WorldsOptions, openWorlds } from './world/codex-world.ts'
export { WorkFolderFailed } from './world/work-folder.ts'
export { BadMethodName, ContractExists, newContract } from './new-contract/new-contract.ts'
export type * from './generated/index.ts'

/** Whether parameters are such as a version takes. */
export { type ParamLayer, type ParamProblem, type ParamsChecked, checkParams, invalidParams } from './param-check.ts'
export { checkConfig, hasVersionedSettings } from './config-params.ts'
export { RegistryBroken } from '../registry/registry.ts'
export { TOOL_PARAMS } from './tool-params.ts'

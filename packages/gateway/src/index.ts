export { openGateway } from './gateway.ts'
export {
  type ChannelSeed,
  type Gateway,
  type GatewayLimits,
  type GatewayOptions,
  type ModelSeed,
  type QuotaDefaults,
  type Scripts,
} from './options.ts'
export { GatewayRefused, type StartFailure } from './failure.ts'
export { type LocalAdmin, openLocalAdmin } from './local-admin.ts'
export { type GatewayCaller } from './caller.ts'
export { type ServedTool, type ToolContext, type World, serveTool } from './tool/served-tool.ts'
export { type Keys, deriveKeys } from './secret/keys.ts'
export { type LoggerOptions, createLogger } from './log/logger.ts'
export { type PageFile, type PageFiles } from './http/page-route.ts'
export { type JwksOptions } from './auth/external-token.ts'
export { type Rate } from './limit/meter.ts'
export { type SignInRates } from './limit/sign-in-limit.ts'

export type { ApprovalPolicy, OpenOrder, SandboxMode, SandboxPolicy, TurnOrder } from './order.ts'
export { type Backend, BackendError, type BackendErrorCode } from './backend/backend.ts'
export { type MiniBackendOptions, openMiniBackend } from './backend/mini/open-mini-backend.ts'
export type { FolderCommands } from './backend/workspace/folder-commands.ts'
export type { GitPlace, OpenGit, ProgramOutcome, RunProgram } from './backend/workspace/run-program.ts'
export {
  type CodexVersion,
  NEWEST_KNOWN,
  OLDEST_SUPPORTED,
  SUPPORTED_RANGE,
  compareVersions,
  parseVersion,
} from './contract/version.ts'
export { SERVES, type Serves, type VersionSupport, servesOf, supportOf } from './contract/version-support.ts'
export { type CodexFile, type Detected, type RunCodex, VersionDetector, detectVersion } from './contract/version-detect.ts'
export { type CodexBackendOptions, openCodexBackend } from './backend/codex/open-codex-backend.ts'
export { type BridgeLimits, BRIDGE_LIMITS } from './bridge/bridge-limits.ts'
export type { CodexProcess, StartCodex } from './bridge/codex-process.ts'
export { type EngineOfOptions, engineOf } from './bridge/engine-of.ts'
export { type Bridge, type BridgeOptions, openBridge } from './bridge/open-bridge.ts'
export { PeerGone, RemoteFailure } from './wire/wire-failure.ts'
export { APP_DIALECTS, type AppDialect, type AppServerOptions, type UserAgentFacts } from './server/app/app-server-options.ts'
export { serveApp } from './server/app/serve-app.ts'
export { METHOD_TABLE, type MethodRow, renderMethodTable } from './server/app/method-table.ts'

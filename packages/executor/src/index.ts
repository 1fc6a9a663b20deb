export {
  ProcessError,
  type ProcessErrorCode,
  type Processes,
  type ProcessExit,
  type ProcessSpec,
  type RunningProcess,
} from './local/processes.ts'
export { type ProcessesOptions, openProcesses } from './local/open-processes.ts'
export { type ChildProgram, type ProgramSpec, startProgram } from './local/program.ts'
export { type Captured, type CaptureOptions, capture } from './local/capture.ts'
export { LazyProcesses } from './local/lazy-processes.ts'
export { type BoxedBackendOptions, boxedBackend } from './backend/boxed-backend.ts'
export { type ExecBackend, type ExecSpec, StartRefused } from './backend/exec-spec.ts'
export { type LocalBackendOptions, localBackend } from './backend/local-backend.ts'
export { dialTunnel } from './client/dial-tunnel.ts'
export { ExecutorLost } from './client/executor-lost.ts'
export { LastingExecutor } from './client/lasting-executor.ts'
export { SessionRefused } from './client/session-refused.ts'
export { type Executor, executorFolder, type ExecutorOptions, openExecutor } from './client/open-executor.ts'
export type { ExecProcess, ProcessEvent, ReadRequest, ReadResult, Subscription, WriteStatus } from './process/exec-process.ts'
export { followProcess, type ProcessEnd, type ProcessFollower } from './process/follow-process.ts'
export { joinAsExecutor, type JoinAsExecutorOptions } from './join/join-as-executor.ts'
export { type ExecServer, type ExecServerOptions, openExecServer } from './server/exec-server.ts'
export { DEFAULT_SERVER_LIMITS, type ServerLimits } from './server/server-limits.ts'
export {
  ExecutorProcessTransport,
  type ProcessTransportOptions,
  type TransportLog,
} from './transport/executor-process-transport.ts'
export { type McpServerSpec, startMcpServer, type StartMcpServerOptions } from './transport/start-mcp-server.ts'
export { StdinFailure } from './transport/stdin-failure.ts'

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
export { childTransport } from './local/child-transport.ts'
export { LazyProcesses } from './local/lazy-processes.ts'

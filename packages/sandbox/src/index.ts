export { BoxBusy } from './box-busy.ts'
export { BadRunRequest } from './check-request.ts'
export { foreignHandOn } from './foreign-hand.ts'
export { knownHome, knownShell } from './known-home.ts'
export { openSandbox } from './open-sandbox.ts'
export { RUN_STATUSES, SandboxUnavailable } from './sandbox.ts'
export { isShown, problemOfReadable } from './workspace/check-readable.ts'
export { type Toolchains, toolchainsIn, unseenProgram } from './workspace/toolchains.ts'
export { type UnseenPart, unseenPart } from './workspace/unseen-part.ts'
export type {
  Box,
  BoxFile,
  BoxProfile,
  InteractOutcome,
  InteractRequest,
  KeptFile,
  LiveProgram,
  LiveRequest,
  Placeholder,
  ProxyNetwork,
  RunInput,
  RunLimits,
  RunOutcome,
  RunOutput,
  RunRequest,
  RunStatus,
  Sandbox,
  SandboxOptions,
  SandboxReport,
  StartLive,
} from './sandbox.ts'

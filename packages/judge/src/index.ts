export { type EngineFor, type EnginePorts, type GeneratorOptions } from './generate/generator-options.ts'
export { FolderWatch } from './generate/folder/folder-watch.ts'
export { type GenerateLimits } from './generate/generate-limits.ts'
export { openGenerator } from './generate/open-generator.ts'
export {
  type CommandLimits,
  type HeldNames,
  type SandboxCommands,
  type SandboxCommandsOptions,
  openSandboxCommands,
} from './generate/folder/sandbox-commands.ts'
export { type FoundProgram, type ProgramSearch, findProgram } from './language/find-program.ts'
export { type FoundLanguage, findBehindShim, findLanguages } from './language/find-languages.ts'
export { JobFolderInvalid, type LocalStatus, type LocalStatusOptions, openLocalStatus } from './status/local-status.ts'
export { SelfTests, type SelfTestParts } from './status/self-test.ts'
export { type StatusServiceParts, statusService } from './status/status-service.ts'
export { type StatusSocket, openStatusSocket, shortSocketPath } from './status/status-socket.ts'
export { LazyTester, type OpenedTester } from './test/lazy-tester.ts'
export { type TesterOptions, openTester } from './test/open-tester.ts'
export type { JobVoice, LanguageFacts, StatusLine, TestListener, TestRequest, Tester } from './tester.ts'
export {
  type Generated,
  type GeneratePorts,
  type GenerateRequest,
  type Generator,
  type JobMemory,
  type BookedCall,
  type Prepared,
} from './worker/generator.ts'
export { type ProgramFolder, lockPrograms } from './worker/lock-programs.ts'
export { judgeLog } from './worker/judge-log.ts'
export { type TryLock } from './worker/work-folder.ts'
export { type Worker, type WorkerOptions, guestsOf, openWorker } from './worker/worker.ts'
export { type WorkerLimits } from './worker/worker-limits.ts'

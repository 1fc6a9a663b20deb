/** What a server decides before it serves: its engine, its log, how it calls itself. It loads nothing else. */
export { LazyBackend } from '../backend/lazy-backend.ts'
export { agentFacts } from './agent-facts.ts'
export { type EngineAsk, type EngineChoice, EngineMissing, chooseEngine } from './choose-engine.ts'
export { type ServerLogLevel, type LogTarget, type ServerLog, codexLine, openServerLog } from './server-log.ts'

/** A Codex in a box: its home, its one way to a model, and what it says carried to the next judge. */
export { boxEnvironment } from './box-environment.ts'
export { type BoxedProgram, boxedProcess } from './boxed-process.ts'
export { type BoxedEngineOptions, boxedEngine } from './boxed-engine.ts'
export { type CodexHome, type CodexHomeOptions, openCodexHome } from './codex-home.ts'
export { type ModelDoor, type ModelDoorOptions, openModelDoor } from './model-door.ts'

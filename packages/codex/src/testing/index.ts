export { codexWorld, type CodexWorld, type CodexWorldOptions, openCodexWorld } from './codex-world.ts'
export { codexModelAnswers, pieceOf } from './model-answers.ts'
export { type Mounted, serveCommand, serveHttp } from './serve-mounted.ts'
export { OLD_DIFFERS, oldCodexContract } from './old-codex-contract.ts'

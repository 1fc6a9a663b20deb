/** Which Codex there is on this machine, and what it is. */
export { type AskVersionOptions, askVersion } from './ask-version.ts'
export { type CodexProgram, codexProgram } from './codex-program.ts'
export { type CodexPlaces, findCodex } from './find-codex.ts'

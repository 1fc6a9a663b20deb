export { asCommandError, splitAdvice } from './failure.ts'
export { COMMAND_OF, inCommands } from './tool-words.ts'
export { KNOWN_CODES, wayOut } from './way-out.ts'

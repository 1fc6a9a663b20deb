export { askYes, canAsk } from './ask-yes.ts'
export { checkGiven, readGiven, readGivenLine, readGivenText } from './given-file.ts'
export { makePrivateFile, readSecretLine, warnIfOpen } from './private-file.ts'
export { show } from './show.ts'

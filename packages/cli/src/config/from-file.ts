import { resolve } from 'node:path'

/** A path in a file is one from the folder of that file, whatever folder we are called in. */
export const pathFrom = (text: string, folder: string): string => resolve(folder, text)

const SQLITE = /^sqlite:(\/\/(?=\/))?/
/** The same where it may be a URL. */
export const databaseFrom = (text: string, folder: string): string =>
  /^postgres(ql)?:/.test(text) || (text.includes('://') && !SQLITE.test(text))
    ? text
    : `sqlite:${resolve(folder, text.replace(SQLITE, ''))}`

import { closeSync, openSync } from 'node:fs'

/** Hashes of tokens and passwords are inside. */
const PRIVATE = 0o600

/**
 * Makes an empty file that nobody but its owner may read, unless there is one. SQLite itself would make it readable for
 * all, and it gives the files that it puts beside it, such as the write-ahead log, the mode of this one. One that is there
 * is not even opened: closing it again would end the locks that this process has on it.
 */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', PRIVATE))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

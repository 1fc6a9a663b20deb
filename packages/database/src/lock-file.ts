import { DatabaseSync } from 'node:sqlite'
import { StoreLocked, StoreUnavailable } from './errors.ts'
import { makePrivate } from './private-file.ts'
import { isBusy } from './sqlite-failure.ts'

/** Ends the ownership. */
export interface FileLock {
  release(): void
}

/**
 * Takes the one ownership of `path`, or throws `StoreLocked` at once. The lock is the kernel's, taken through an empty
 * SQLite file, so it is gone the moment its process is, even after `kill -9`. Nothing else may open `path` in the same
 * process: closing any other descriptor of the file would end the lock.
 */
export function lockFile(path: string): FileLock {
  let lock: DatabaseSync
  try {
    makePrivate(path)
    lock = new DatabaseSync(path, { timeout: 0 })
  } catch (cause) {
    throw new StoreUnavailable(`${path} cannot be opened`, { cause })
  }
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    throw isBusy(cause) ? new StoreLocked(path, { cause }) : new StoreUnavailable(`${path} cannot be locked`, { cause })
  }
  return {
    release: () => {
      if (lock.isOpen) lock.close()
    },
  }
}

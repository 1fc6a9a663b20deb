import { DatabaseSync } from 'node:sqlite'
import type { LockPath } from '../loop/transcript/open-file-transcripts.ts'

/** A lock of the kernel's, taken through an empty SQLite file: gone with its process, also after `kill -9`. */
export const lockPath: LockPath = (path) => {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    throw error
  }
  return {
    release: () => {
      if (lock.isOpen) lock.close()
    },
  }
}

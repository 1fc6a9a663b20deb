import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type StoreFault, StoreUnavailable } from './errors.ts'

const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const DAMAGED = 11
const FULL = 13
const CANNOT_OPEN = 14
const NOT_A_DATABASE = 26
/** Codes of SQLite that say something about the disk or the file, not about the statement. */
const ENVIRONMENT = new Set([BUSY, LOCKED, 7, READ_ONLY, 10, DAMAGED, FULL, CANNOT_OPEN, NOT_A_DATABASE])
const PRIMARY = 0xff

const FAULTS = new Map<number | string, StoreFault>([
  [READ_ONLY, 'read_only'],
  [DAMAGED, 'damaged'],
  [NOT_A_DATABASE, 'damaged'],
  [FULL, 'full'],
  ['EACCES', 'read_only'],
  ['EPERM', 'read_only'],
  ['EROFS', 'read_only'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
])

/** Whether another process is in the way. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === BUSY || code === LOCKED
}

/** What is no fault of the statement becomes `StoreUnavailable`; everything else is a bug and stays as it is. */
export function sqliteFailure(error: unknown, path: string): unknown {
  const code = primaryCode(error)
  const outside = code !== undefined ? ENVIRONMENT.has(code) : isOutside(error)
  if (!outside || !(error instanceof Error)) return error
  // It says no more than that when it cannot make the files beside the database.
  const isReadOnly = code === CANNOT_OPEN && existsSync(path) && !(isWritable(path) && isWritable(dirname(path)))
  const fault = isReadOnly ? 'read_only' : FAULTS.get(code ?? ('code' in error ? String(error.code) : ''))
  if (fault === undefined) return new StoreUnavailable(`SQLite: ${error.message}`, { cause: error })
  return sqliteFault(fault, path, error)
}

/** A fault in words, with what to do about it. */
export function sqliteFault(fault: StoreFault, path: string, cause?: Error): StoreUnavailable {
  const said = cause === undefined ? '' : ` (${cause.message})`
  switch (fault) {
    case 'full':
      return new StoreUnavailable(`the disk of ${path} is full${said}`, {
        fault,
        hint: 'free some space on it; nothing that was written is lost',
        ...(cause === undefined ? {} : { cause }),
      })
    case 'damaged':
      return new StoreUnavailable(`the database ${path} is damaged${said}`, {
        fault,
        hint: `move it away with its -wal and -shm files, then parley restore FILE puts a backup in its place`,
        ...(cause === undefined ? {} : { cause }),
      })
    case 'read_only':
      return new StoreUnavailable(`the database ${path} cannot be written${said}`, {
        fault,
        hint: 'let this user write the file and its folder, or mount its disk for writing',
        ...(cause === undefined ? {} : { cause }),
      })
    default:
      return fault satisfies never
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & PRIMARY
}

/** The file system's errors, and a connection that was closed. */
function isOutside(error: unknown): boolean {
  return error instanceof Error && ('syscall' in error || ('code' in error && error.code === 'ERR_INVALID_STATE'))
}

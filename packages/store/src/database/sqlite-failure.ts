import { StoreUnavailable } from '../errors.ts'

const BUSY = 5
const LOCKED = 6
/** Codes of SQLite that say something about the disk or the file, not about the statement. */
const ENVIRONMENT = new Set([BUSY, LOCKED, 7, 8, 10, 11, 13, 14, 26])
const PRIMARY = 0xff

/** Whether another process is in the way. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === BUSY || code === LOCKED
}

/** What a caller can wait out becomes `StoreUnavailable`; everything else is a bug and stays as it is. */
export function sqliteFailure(error: unknown): unknown {
  const code = primaryCode(error)
  const outside = code !== undefined ? ENVIRONMENT.has(code) : isOutside(error)
  return outside && error instanceof Error ? new StoreUnavailable(`SQLite: ${error.message}`, { cause: error }) : error
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & PRIMARY
}

/** The file system's errors, and a connection that was closed. */
function isOutside(error: unknown): boolean {
  return error instanceof Error && ('syscall' in error || ('code' in error && error.code === 'ERR_INVALID_STATE'))
}

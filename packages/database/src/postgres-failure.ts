import { DatabaseError } from 'pg'
import { InvalidArgument, StoreUnavailable } from './errors.ts'

/** Classes and codes of PostgreSQL that say something about the server, not about the statement. */
const ENVIRONMENT = /^(?:08|53|57P|58|XX000|25006|3D000|28|40)/
/** What is wrong with a value that was handed in. It should have been refused before, with the name of its field; this is for what was not. */
const VALUES: ReadonlyMap<string | undefined, string> = new Map([
  ['22021', 'must not contain a NUL character'],
  ['22P05', 'must not contain a NUL character'],
  ['22003', 'must be smaller'],
  ['54000', 'must be shorter'],
])
const AGAIN = /^40(?:001|P01)$/

/** Two transactions were in each other's way; the same one can succeed now. */
export function isWorthRepeating(error: unknown): boolean {
  return error instanceof DatabaseError && error.code !== undefined && AGAIN.test(error.code)
}

/** What a caller can wait out becomes `StoreUnavailable`, a value that cannot be kept `InvalidArgument`; a wrong statement is a bug and stays as it is. */
export function postgresFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error
  if (!(error instanceof DatabaseError)) return isConnection(error) ? unavailable(error) : error
  const fault = VALUES.get(error.code)
  if (fault !== undefined) return new InvalidArgument('a value', fault, { cause: error })
  return error.code !== undefined && ENVIRONMENT.test(error.code) ? unavailable(error) : error
}

/** The driver's own errors are plain: by a socket's code, or by these words. */
function isConnection(error: Error): boolean {
  return 'syscall' in error || /connection|connect|timeout|not queryable|closed|end on the pool/i.test(error.message)
}

const DISK_FULL = '53100'
const READ_ONLY = '25006'

function unavailable(cause: Error): StoreUnavailable {
  const code = cause instanceof DatabaseError ? cause.code : undefined
  if (code === DISK_FULL)
    return new StoreUnavailable(`the disk of the PostgreSQL server is full (${cause.message})`, {
      fault: 'full',
      hint: 'free some space on it; nothing that was written is lost',
      cause,
    })
  if (code === READ_ONLY)
    return new StoreUnavailable(`the PostgreSQL server takes no writes (${cause.message})`, {
      fault: 'read_only',
      hint: 'name the primary server, or let this role write',
      cause,
    })
  return new StoreUnavailable(`PostgreSQL: ${cause.message}`, { cause })
}

/** Stable: programs switch on it. */
export type StoreErrorCode =
  | 'already_exists'
  | 'conflict'
  | 'hash_mismatch'
  | 'invalid_argument'
  | 'lease_lost'
  | 'locked'
  | 'not_a_store'
  | 'not_empty'
  | 'not_found'
  | 'offset_mismatch'
  | 'quota_exceeded'
  | 'schema_too_new'
  | 'too_large'
  | 'trimmed'
  | 'unavailable'

/** A promise of this room that was broken, or an argument that cannot be served. `code` says which. */
export class StoreError extends Error {
  readonly code: StoreErrorCode
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/** Somebody else holds the lease, or it ran out. Stop the work: nothing more of it is accepted. */
export class LeaseLost extends StoreError {
  constructor({ queue, key }: { readonly queue: string; readonly key: string }) {
    super('lease_lost', `the lease on ${queue}/${key} is no longer held under this fence`)
  }
}

/** The name is taken. Choose another, or use what is there. `field` names the parameter, where one of several could be meant. */
export class AlreadyExists extends StoreError {
  readonly field: string | undefined
  constructor(what: string, field?: string) {
    super('already_exists', `${what} already exists`)
    this.field = field
  }
}

/** There is no such thing, or it is not the caller's. */
export class NotFound extends StoreError {
  constructor(what: string) {
    super('not_found', `${what} was not found`)
  }
}

/** The state does not allow it, as with a new token for a disabled user. */
export class Conflict extends StoreError {
  constructor(message: string) {
    super('conflict', message)
  }
}

/** The chunk does not continue the upload. Go on from `offset`. */
export class UploadGap extends StoreError {
  readonly offset: number
  constructor(upload: string, offset: number) {
    super('offset_mismatch', `upload ${upload} stands at byte ${offset}`)
    this.offset = offset
  }
}

/** The bytes are not those that were announced. Upload again. */
export class HashMismatch extends StoreError {
  readonly actual: string
  constructor(expected: string, actual: string) {
    super('hash_mismatch', `the bytes hash to ${actual}, not to ${expected}`)
    this.actual = actual
  }
}

/** More bytes than the named limit allows. Send less. */
export class TooLarge extends StoreError {
  readonly limitBytes: number
  constructor(what: string, limitBytes: number) {
    super('too_large', `${what} is larger than ${limitBytes} bytes`)
    this.limitBytes = limitBytes
  }
}

/**
 * One person would have us keep more than their share: of bytes, of jobs, of jobs that have not ended, of jobs that wait or run, of
 * uploads under way, of kept ones, of agents, or of what one agent has mounted, listens to or was told. Nothing was written. Delete something
 * first, or wait for a job to end.
 */
export class ShareExceeded extends StoreError {
  readonly bound:
    | 'bytes'
    | 'jobs'
    | 'unfinished'
    | 'jobs_at_once'
    | 'uploads'
    | 'kept_uploads'
    | 'agents'
    | 'allowances'
    | 'approvals'
    | 'mounts'
    | 'calls'
    | 'prompts'
    | 'subscriptions'
  readonly limit: number
  constructor(bound: ShareExceeded['bound'], limit: number) {
    super('quota_exceeded', `beyond a share of ${limit} (${bound})`)
    this.bound = bound
    this.limit = limit
  }
}

/** What stood there in a log is not kept any more: the log begins at `first` now. Go on from there, and say that something is missing. */
export class LogTrimmed extends StoreError {
  readonly first: { readonly seq: number; readonly offset: number }
  constructor(first: LogTrimmed['first']) {
    super('trimmed', `the log begins at byte ${first.offset} now: what was before is not kept any more`)
    this.first = first
  }
}

/** A parameter that no state could accept. `field` names it. */
export class InvalidArgument extends StoreError {
  readonly field: string
  constructor(field: string, message: string, options?: ErrorOptions) {
    super('invalid_argument', `${field} ${message}`, options)
    this.field = field
  }
}

/** A newer version wrote this database. Run that version, or restore a backup from before. */
export class SchemaTooNew extends StoreError {
  constructor(found: number, known: number) {
    super('schema_too_new', `the database has schema ${found}, this version knows ${known}: run the version that wrote it`)
  }
}

/** What is wrong with a database that is there. Waiting helps with none of them. */
export type StoreFault = 'full' | 'damaged' | 'read_only'

/**
 * The database does not answer. Whether the last write happened is unknown: ask again, resend with `at`. With a `fault` it is known
 * what is wrong, and the message says it.
 */
export class StoreUnavailable extends StoreError {
  readonly fault: StoreFault | undefined
  /** What to do about the fault. */
  readonly hint: string | undefined
  constructor(message: string, options: ErrorOptions & { readonly fault?: StoreFault; readonly hint?: string } = {}) {
    super('unavailable', message, options)
    this.fault = options.fault
    this.hint = options.hint
  }
}

/** Another process owns the file. Stop it, or go through it. */
export class StoreLocked extends StoreError {
  constructor(path: string, options?: ErrorOptions) {
    super('locked', `${path} is held by another process`, options)
  }
}

/** The file is no backup and no database of ours, or it is damaged. */
export class NotAStore extends StoreError {
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super('not_a_store', `${path} ${reason}`, options)
  }
}

/** The target of a restore has content. Name an empty one: nothing is ever overwritten. */
export class TargetNotEmpty extends StoreError {
  constructor(target: string) {
    super('not_empty', `${target} is not empty: restore into a new file or an empty database`)
  }
}

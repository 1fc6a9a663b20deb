import { JOB_LIMITS } from '@parley/protocol'
import { InvalidArgument } from '@parley/database'

const KIB = 1024
const MIB = 1024 * KIB

/** Names of logs, queues, keys, holders and owners. PostgreSQL's index rows must hold two of them. */
export const MAX_NAME_BYTES = KIB
/** A NOTIFY payload carries at most 8,000 bytes, the topic among them. */
export const MAX_TOPIC_BYTES = 4 * KIB
/** What a lease carries along. */
export const MAX_PAYLOAD_BYTES = MIB
/** One append, all its entries together. */
export const MAX_APPEND_BYTES = 16 * MIB
export const MAX_APPEND_ENTRIES = 10_000
/** Caps of a log that was not created with its own. */
export const DEFAULT_LOG_MAX_BYTES = 64 * MIB
export const DEFAULT_LOG_MAX_ENTRIES = 1_000_000
/** One page of a read. */
export const MAX_PAGE_BYTES = 16 * MIB
export const MAX_PAGE_ENTRIES = 1_000
/** What a follower may hold in memory before it goes on by reads. */
export const DEFAULT_FOLLOW_BUFFER_BYTES = MIB
/** How long a read may wait for its first byte. */
export const MAX_READ_WAIT_MS = 30_000
/** How long a claim may wait for an item. */
export const MAX_CLAIM_WAIT_MS = 10 * 60_000
/** Lanes that one claim may leave out. */
export const MAX_LANES_LEFT_OUT = 1_024
/** The longest time that a lease may be taken for. */
export const MAX_LEASE_TTL_MS = 24 * 60 * 60_000
/** Blob bytes are rows of this size on both engines; the last row of a blob is shorter. */
export const CHUNK_BYTES = MIB
export const MAX_BLOB_BYTES = JOB_LIMITS.blobBytes
export const MAX_BLOB_READ_BYTES = 16 * MIB
/** An upload that nobody touched for this long is collected. */
export const UPLOAD_AGE_MS = 60 * 60_000
/** What is kept of a mount: its sealed specification, and what is shown of it. */
export const MAX_MOUNT_BYTES = MIB
/** What an agent listens to: 4,096 characters, however many bytes each has. */
export const MAX_URI_BYTES = 16 * KIB
/** Rows of one page of a list. */
export const MAX_LIST = 1_000

/** Refuses what is empty, too long, or cannot be stored: a NUL on PostgreSQL, half of a surrogate pair on neither engine. */
export function checkName(field: string, value: string, maxBytes = MAX_NAME_BYTES): void {
  if (value.length === 0) throw new InvalidArgument(field, 'must not be empty')
  checkText(field, value, maxBytes)
}

/** As `checkName`, and empty is allowed. */
export function checkText(field: string, value: string, maxBytes: number): void {
  if (value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes) {
    throw new InvalidArgument(field, `must have at most ${maxBytes} bytes`)
  }
  if (value.includes('\0')) throw new InvalidArgument(field, 'must not contain a NUL character')
  if (!value.isWellFormed()) throw new InvalidArgument(field, 'must be well-formed Unicode: half of a surrogate pair is missing')
}

/** Refuses what is no whole number between the bounds. */
export function checkInteger(field: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new InvalidArgument(field, `must be a whole number from ${min} to ${max}`)
  }
}

import type { UserId } from '@parley/protocol'

/** How much of a bound is taken. */
export interface Taken {
  readonly used: number
  readonly limit: number
}

/**
 * What one person has us keep, and how much that may be; null is whoever has no account. Bytes: uploads under way and kept ones,
 * inputs and artifacts of their jobs (the same bytes once), the jobs' texts, the room made for their logs, and blobs that were
 * let go of and are not collected yet. Whatever adds to it looks at it in the transaction that writes.
 */
export interface Shares {
  /** `unfinished` are those of the jobs that wait or run. */
  of(ownerId: UserId | null): Promise<{ readonly bytes: Taken; readonly jobs: Taken; readonly unfinished: Taken }>
  /** Throws `ShareExceeded` unless so much more would fit now: for whoever asks before a long way. */
  check(ownerId: UserId | null, added: { readonly bytes?: number; readonly jobs?: number }): Promise<void>
}

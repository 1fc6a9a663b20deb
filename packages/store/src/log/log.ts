import type { Transaction } from '@parley/database'
import type { LeaseFence } from '../lease/fence.ts'
import type { ChainedEntry, ChainedLog, LogChain } from './chain.ts'

/** Where a reader or writer stands: by byte, or by entry. */
export type Position = { readonly offset: number } | { readonly seq: number }

export interface AppendOptions {
  /** Where the writer believes the log ends. Omitted: wherever it ends. */
  readonly at?: Position
  /** The write counts only while this lease is held; otherwise `LeaseLost` is thrown. */
  readonly fence?: LeaseFence
  /** Each entry is chained to the one before, in the same commit. */
  readonly chain?: LogChain
  /** Where the log is full, its oldest entries go; one that does not exist is created with this cap. */
  readonly rolls?: { readonly maxBytes: number }
  /** What is written in the same commit, where this append adds something: of a resend it was. */
  readonly also?: (tx: Transaction) => Promise<void>
}

/** `seq` and `offset` are where the log ends now: the next entry's number, the bytes so far. */
export type AppendOutcome =
  | { readonly kind: 'appended'; readonly seq: number; readonly offset: number }
  /** Everything that was sent is there already, byte for byte: a resend after a lost answer. */
  | { readonly kind: 'repeated'; readonly seq: number; readonly offset: number }
  /** The writer is ahead of the log, or what stands there differs: nothing was written. */
  | { readonly kind: 'mismatch'; readonly seq: number; readonly offset: number }
  /** The log's cap is reached, or it is closed: nothing was written. */
  | { readonly kind: 'full' | 'closed'; readonly seq: number; readonly offset: number }

export interface LogEntry {
  readonly seq: number
  /** Byte offset after this entry: hand it back to go on from there. */
  readonly offset: number
  readonly at: number
  readonly bytes: Uint8Array
}
export interface ReadOptions {
  readonly from: Position
  /** At least one entry is returned if there is one, however large; from a byte offset the first may be a tail of one. */
  readonly maxBytes: number
  /** How long to wait for the first byte; 0 answers at once. At most 30,000. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}
export interface LogPage {
  readonly entries: readonly LogEntry[]
  readonly next: { readonly seq: number; readonly offset: number }
  readonly closed: boolean
}

/** Append-only, one sequence per log; what was read once is never missed or repeated from its cursor. */
export interface Logs {
  create(name: string, caps?: { readonly maxBytes?: number; readonly maxEntries?: number }): Promise<void>
  /** Appends entries all or none. A log that does not exist is created with the default caps. */
  append(name: string, entries: readonly Uint8Array[], options?: AppendOptions): Promise<AppendOutcome>
  read(name: string, options: ReadOptions): Promise<LogPage>
  /**
   * Follows from a cursor until the log is closed and read, or the signal fires. New entries are handed over from
   * memory while the reader keeps up; a reader that lags past `bufferBytes` goes on by reads, without loss or repeat.
   */
  follow(
    name: string,
    from: Position,
    options?: { readonly bufferBytes?: number; readonly signal?: AbortSignal },
  ): AsyncIterable<LogEntry>
  end(name: string): Promise<{ readonly seq: number; readonly offset: number; readonly closed: boolean }>
  /** Where it begins: further than at 0 when old entries went. A read from before is answered with `LogTrimmed`. */
  start(name: string): Promise<{ readonly seq: number; readonly offset: number }>
  /** Lets go of the entries from before a time, a part in each commit, and of a chained log with its chain. Answers how many. */
  trim(name: string, options: { readonly before: number; readonly chain?: LogChain }): Promise<number>
  /** A log and what its chain is known by, at one moment; `undefined` when there is none. */
  chained(name: string): Promise<ChainedLog | undefined>
  /** Entries as they are in their rows from a number on, at most so many bytes from `offset` on; at least one if there is one. */
  chainedEntries(
    name: string,
    from: { readonly seq: number; readonly offset: number; readonly maxBytes: number },
  ): Promise<readonly ChainedEntry[]>
  /** No more appends; followers end when they have read all. */
  close(name: string): Promise<void>
  delete(name: string): Promise<void>
}

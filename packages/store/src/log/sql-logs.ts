import { type Database, AlreadyExists, InvalidArgument, TooLarge } from '@parley/database'
import {
  DEFAULT_FOLLOW_BUFFER_BYTES,
  DEFAULT_LOG_MAX_BYTES,
  DEFAULT_LOG_MAX_ENTRIES,
  MAX_APPEND_BYTES,
  MAX_APPEND_ENTRIES,
  MAX_PAGE_BYTES,
  MAX_READ_WAIT_MS,
  checkInteger,
  checkName,
} from '../limits.ts'
import { type Placed, append } from './append.ts'
import { type ChainedEntry, type ChainedLog, type LogChain, ChainedEnds } from './chain.ts'
import { follow } from './follow.ts'
import { findHead, logSignal } from './head.ts'
import type { AppendOptions, AppendOutcome, LogEntry, LogPage, Logs, Position, ReadOptions } from './log.ts'
import { readPage } from './page.ts'
import { readChained, readChainedEntries } from './read-chained.ts'
import { CLOSE, CREATE, DELETE } from './statements.ts'
import { Tails } from './tails.ts'
import { trimOld } from './trim.ts'

/** Logs as rows. A log that does not exist reads as an empty one, so that readers may come before the first writer. */
export class SqlLogs implements Logs {
  readonly #db: Database
  readonly #now: () => number
  readonly #tails: Tails
  readonly #ends = new ChainedEnds()

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
    this.#tails = new Tails(db)
  }

  async create(name: string, caps: { readonly maxBytes?: number; readonly maxEntries?: number } = {}): Promise<void> {
    const { maxBytes = DEFAULT_LOG_MAX_BYTES, maxEntries = DEFAULT_LOG_MAX_ENTRIES } = caps
    checkName('name', name)
    checkInteger('maxBytes', maxBytes, 1)
    checkInteger('maxEntries', maxEntries, 1)
    if ((await this.#db.run(CREATE, [name, maxBytes, maxEntries])) === 0) throw new AlreadyExists(`log ${name}`)
  }

  async append(name: string, entries: readonly Uint8Array[], options: AppendOptions = {}): Promise<AppendOutcome> {
    checkName('name', name)
    checkEntries(entries)
    if (options.at !== undefined) checkPosition('at', options.at)
    const { outcome, placed } = await append(this.#db, { now: this.#now, ends: this.#ends }, name, entries, options)
    if (placed !== undefined) this.#arrived(name, placed)
    return outcome
  }

  async read(name: string, { from, maxBytes, waitMs = 0, signal }: ReadOptions): Promise<LogPage> {
    checkName('name', name)
    checkPosition('from', from)
    checkInteger('maxBytes', maxBytes, 1)
    checkInteger('waitMs', waitMs, 0, MAX_READ_WAIT_MS)
    if (waitMs === 0) return this.#page(name, from, maxBytes)
    const until = performance.now() + waitMs
    const watch = this.#db.signals.watch(logSignal(name))
    try {
      for (;;) {
        const page = await this.#page(name, from, maxBytes)
        if (page.entries.length > 0 || page.closed) return page
        if (await watch.changed(until - performance.now(), signal)) continue
        // Read once more at the end: the signal is lost when its sender dies before it was sent.
        return this.#db.signals.ended ? page : await this.#page(name, from, maxBytes)
      }
    } finally {
      watch.end()
    }
  }

  follow(
    name: string,
    from: Position,
    options: { readonly bufferBytes?: number; readonly signal?: AbortSignal } = {},
  ): AsyncIterable<LogEntry> {
    const { bufferBytes = DEFAULT_FOLLOW_BUFFER_BYTES, signal } = options
    checkName('name', name)
    checkPosition('from', from)
    checkInteger('bufferBytes', bufferBytes, 1, MAX_PAGE_BYTES)
    return follow(this.#db, this.#tails, { name, from, bufferBytes, signal })
  }

  async end(name: string): Promise<{ readonly seq: number; readonly offset: number; readonly closed: boolean }> {
    const head = await findHead(this.#db, name)
    return { seq: head?.seq ?? 0, offset: head?.offset ?? 0, closed: head?.closed ?? false }
  }

  async start(name: string): Promise<{ readonly seq: number; readonly offset: number }> {
    const head = await findHead(this.#db, name)
    return { seq: head?.firstSeq ?? 0, offset: head?.firstOffset ?? 0 }
  }

  async trim(name: string, { before, chain }: { readonly before: number; readonly chain?: LogChain }): Promise<number> {
    checkInteger('before', before, 0)
    for (let gone = 0; ;) {
      const { entries, isDone } = await trimOld(this.#db, name, before, chain)
      gone += entries
      if (isDone) return gone
    }
  }

  chained(name: string): Promise<ChainedLog | undefined> {
    return readChained(this.#db, name)
  }

  chainedEntries(
    name: string,
    { seq, offset, maxBytes }: { readonly seq: number; readonly offset: number; readonly maxBytes: number },
  ): Promise<readonly ChainedEntry[]> {
    checkInteger('maxBytes', maxBytes, 1, MAX_PAGE_BYTES)
    return readChainedEntries(this.#db, name, { seq, lastByte: offset + maxBytes })
  }

  async close(name: string): Promise<void> {
    checkName('name', name)
    if ((await this.#db.change(CLOSE, [name], logSignal(name))) > 0) return
    // Closing before the first entry must still end the followers that wait for it.
    await this.#db.run(CREATE, [name, DEFAULT_LOG_MAX_BYTES, DEFAULT_LOG_MAX_ENTRIES])
    await this.#db.change(CLOSE, [name], logSignal(name))
  }

  async delete(name: string): Promise<void> {
    await this.#db.change(DELETE, [name], logSignal(name))
  }

  /** On SQLite the writer and all readers are one process: what was written is handed over from memory. */
  #arrived(name: string, placed: Placed): void {
    if (this.#db.engine === 'sqlite') this.#tails.deliver(name, () => toEntries(placed))
    this.#db.signalSoon(logSignal(name))
  }

  async #page(name: string, from: Position, maxBytes: number): Promise<LogPage> {
    const head = await findHead(this.#db, name)
    if (head === undefined) return { entries: [], next: { seq: 0, offset: 0 }, closed: false }
    return readPage(this.#db, head, from, Math.min(maxBytes, MAX_PAGE_BYTES))
  }
}

/** The writer may use its arrays again, so followers get copies. */
function toEntries({ entries, seq, offset, at }: Placed): readonly LogEntry[] {
  const size = entries.reduce((sum, entry) => sum + entry.length, 0)
  let end = offset - size
  return entries.map((entry, index) => {
    end += entry.length
    return { seq: seq - entries.length + index, offset: end, at, bytes: Uint8Array.from(entry) }
  })
}

function checkEntries(entries: readonly Uint8Array[]): void {
  if (entries.length > MAX_APPEND_ENTRIES) throw new InvalidArgument('entries', `must be at most ${MAX_APPEND_ENTRIES}`)
  let size = 0
  for (const entry of entries) {
    if (entry.length === 0)
      throw new InvalidArgument('entries', 'must not be empty: an entry without bytes has no offset of its own')
    size += entry.length
  }
  if (size > MAX_APPEND_BYTES) throw new TooLarge('the append', MAX_APPEND_BYTES)
}

function checkPosition(field: string, position: Position): void {
  if ('offset' in position) checkInteger(`${field}.offset`, position.offset, 0)
  else checkInteger(`${field}.seq`, position.seq, 0)
}

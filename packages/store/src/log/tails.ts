import { type Database, flag, integer, onceAtATime, text } from '@parley/database'
import { DEFAULT_FOLLOW_BUFFER_BYTES } from '../limits.ts'
import type { Follower } from './follower.ts'
import { findHead, logSignal } from './head.ts'
import type { LogEntry } from './log.ts'
import { readPage } from './page.ts'
import { HEADS } from './statements.ts'

/** How often followed logs are looked at on PostgreSQL, for signals that died with the process that should have sent them. */
const SWEEP_MS = 5_000

/** Hands new entries to the followers of this process: one read per log and change, however many follow. */
export class Tails {
  readonly #db: Database
  readonly #tails = new Map<string, Tail>()
  #sweep: NodeJS.Timeout | undefined

  constructor(db: Database) {
    this.#db = db
  }

  join(name: string, follower: Follower): () => void {
    const tail = this.#tails.get(name) ?? new Tail(this.#db, name)
    this.#tails.set(name, tail)
    tail.followers.add(follower)
    if (this.#db.engine === 'postgres') this.#sweep ??= setInterval(() => void this.#look(), SWEEP_MS).unref()
    return () => {
      tail.followers.delete(follower)
      if (tail.followers.size > 0 || this.#tails.get(name) !== tail) return
      this.#tails.delete(name)
      tail.end()
      if (this.#tails.size > 0) return
      clearInterval(this.#sweep)
      this.#sweep = undefined
    }
  }

  /** The writer of this process hands over what it wrote, so that nobody has to read it again. */
  deliver(name: string, entries: () => readonly LogEntry[]): void {
    this.#tails.get(name)?.deliver(entries())
  }

  /** One statement for all. What fails now is tried again the next time. */
  async #look(): Promise<void> {
    const rows = await this.#db.all(HEADS, [[...this.#tails.keys()]]).catch(() => [])
    for (const row of rows) this.#tails.get(text(row, 'name'))?.stands(integer(row, 'seq'), flag(row, 'closed'))
  }
}

class Tail {
  readonly followers = new Set<Follower>()
  readonly #db: Database
  readonly #name: string
  readonly #off: () => void
  #delivered = false

  constructor(db: Database, name: string) {
    this.#db = db
    this.#name = name
    this.#off = db.signals.on(logSignal(name), () => this.#signalled())
  }

  /** The signal of the same write comes right after this, and is skipped. */
  deliver(entries: readonly LogEntry[]): void {
    for (const follower of this.followers) follower.push(entries)
    this.#delivered = true
  }

  /** Where the log ends: reads on if a follower does not know. */
  stands(seq: number, closed: boolean): void {
    if (closed || this.#firstWaited() < seq) this.#signalled()
  }

  end(): void {
    this.#off()
  }

  #firstWaited(): number {
    let first = Infinity
    for (const { waitsFor = Infinity } of this.followers) first = Math.min(first, waitsFor)
    return first
  }

  #signalled(): void {
    if (this.#delivered) this.#delivered = false
    else this.#pump()
  }

  /** Reads from the first entry that somebody waits for to the end. When it fails, the followers read for themselves and get the error. */
  readonly #pump = onceAtATime(
    async () => {
      while (await this.#step());
    },
    () => this.#look(),
  )

  async #step(): Promise<boolean> {
    const from = this.#firstWaited()
    if (from === Infinity) return false
    const head = await findHead(this.#db, this.#name)
    if (head === undefined || head.seq < from || (head.closed && head.seq === from)) {
      this.#look()
      return false
    }
    const page = await readPage(this.#db, head, { seq: from }, DEFAULT_FOLLOW_BUFFER_BYTES)
    for (const follower of this.followers) follower.push(page.entries)
    return page.entries.length > 0
  }

  #look(): void {
    for (const follower of this.followers) follower.look()
  }
}

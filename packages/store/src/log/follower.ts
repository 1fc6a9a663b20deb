import type { LogEntry } from './log.ts'

/** What an entry costs beside its bytes. */
const ENTRY_OVERHEAD_BYTES = 128

/**
 * One reader's share of memory. It takes entries in unbroken sequence until its buffer is full; from then on it lags,
 * takes nothing, and its reader goes on by reads.
 */
export class Follower {
  readonly #bufferBytes: number
  #entries: LogEntry[] = []
  #bytes = 0
  #peakBytes = 0
  #start = 0
  #next = 0
  #reading = true
  #done = false
  #wake: (() => void) | undefined

  constructor(bufferBytes: number) {
    this.#bufferBytes = bufferBytes
  }

  /** The entry it waits for, or `undefined` while it goes by reads. */
  get waitsFor(): number | undefined {
    return this.#reading || this.#done ? undefined : this.#next
  }

  /** The most it ever held. */
  get peakBytes(): number {
    return this.#peakBytes
  }

  get done(): boolean {
    return this.#done
  }

  /** Says where the next read starts; what is pushed from here on in sequence is kept, the rest will be read. */
  live(seq: number): void {
    this.#start = seq
    this.#next = seq
    this.#reading = false
  }

  /** After a read up to `seq`: unless what was pushed meanwhile joins it without a gap, there must be another read. */
  readTo(seq: number): void {
    if (seq < this.#start || seq > this.#next) this.#reading = true
  }

  push(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      if (this.#reading || this.#done) break
      if (entry.seq < this.#next) continue
      const size = entry.bytes.length + ENTRY_OVERHEAD_BYTES
      if (entry.seq > this.#next || this.#bytes + size > this.#bufferBytes) this.#reading = true
      else this.#keep(entry, size)
    }
    this.#wake?.()
  }

  #keep(entry: LogEntry, size: number): void {
    this.#entries.push(entry)
    this.#next += 1
    this.#bytes += size
    this.#peakBytes = Math.max(this.#peakBytes, this.#bytes)
  }

  take(): LogEntry | undefined {
    const entry = this.#entries.shift()
    if (entry !== undefined) this.#bytes -= entry.bytes.length + ENTRY_OVERHEAD_BYTES
    return entry
  }

  /** Something about the log changed that entries do not tell: the reader reads once more. */
  look(): void {
    this.#reading = true
    this.#wake?.()
  }

  /** Returns when there is something to take or a reason to read. */
  async waiting(): Promise<void> {
    if (this.#entries.length > 0 || this.#reading || this.#done) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    await promise
    this.#wake = undefined
  }

  end(): void {
    this.#done = true
    this.#entries = []
    this.#bytes = 0
    this.#wake?.()
  }
}

import type { Transcript, TranscriptEntry } from '@parley/agent'
import type { NewEntry } from './entry.ts'

/**
 * Numbers the lines of one conversation and writes them in batches: what was added since the last write goes out as one.
 * After a failed write nothing more is taken, because nobody knows what of it is there.
 */
export class ConversationLog {
  readonly #transcript: Transcript
  #seq: number
  #waiting: TranscriptEntry[] = []
  #writing: Promise<void> | undefined
  #failure: Error | undefined

  constructor(transcript: Transcript, lastSeq: number) {
    this.#transcript = transcript
    this.#seq = lastSeq
  }

  /** Answers the number of the line. It is written by the next `flush`. */
  add(entry: NewEntry): number {
    this.#seq += 1
    this.#waiting.push({ seq: this.#seq, ...entry })
    return this.#seq
  }

  /** Settles when everything added so far survives the end of this process. */
  async flush(): Promise<void> {
    while (this.#failure === undefined && (this.#writing !== undefined || this.#waiting.length > 0)) {
      this.#writing ??= this.#write()
      await this.#writing
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Begins to write without waiting; a failure shows at the next `flush`. */
  startFlush(): void {
    this.flush().catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#transcript.close()
  }

  async #write(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    try {
      await this.#transcript.append(batch)
    } catch (cause) {
      this.#failure = new Error(`the transcript cannot be written: ${String(cause)}`, { cause })
    } finally {
      this.#writing = undefined
    }
  }
}

import { type ToolOutput, asError } from '@parley/protocol'
import type { WaitingBytes } from './waiting-bytes.ts'

/** What the gateway says to an append. */
export type Appended = ToolOutput<'judge.job.append_terminal'>

export interface UploaderParts {
  /** Where the log ends at the gateway, and so where our first byte goes. */
  readonly offset: number
  /** Where the log may not go beyond; it also bounds what waits here while the gateway is away. */
  readonly limitBytes: number
  readonly appendBytes: number
  readonly mismatches: number
  /** Where bytes stay until the gateway has them. What lies there already goes up first. */
  readonly waiting: WaitingBytes
  /** Sends; calls `onRetry` before a second send of which nobody knows whether the first arrived. Rejects for good only. */
  readonly append: (offset: number, bytes: Buffer, onRetry: () => void) => Promise<Appended>
  /** Something was left out, and why. */
  readonly warn: (message: string) => void
  /** The gateway takes no more: what waits is left out. */
  readonly refused?: () => void
}

/**
 * Brings one log to the gateway: in order, one append at a time, whatever came meanwhile in the next one. Bytes stay here
 * until the gateway has them, so a lost connection loses nothing and a resend repeats nothing.
 */
export class Uploader {
  readonly #parts: UploaderParts
  readonly #waiting: WaitingBytes
  /** The offset of the first byte that waits. */
  #base: number
  #pumping: Promise<void> | undefined
  #failure: Error | undefined
  #isFull = false
  #isSparing = false

  constructor(parts: UploaderParts) {
    this.#parts = parts
    this.#waiting = parts.waiting
    this.#base = parts.offset
    if (this.#waiting.size > 0) this.#start()
  }

  /**
   * Takes one piece whole, a line for example, or leaves it out when the log is full. So much of the log as `spareBytes` stays
   * free for others. Returns at once.
   */
  write(piece: Buffer, spareBytes = 0): void {
    if (piece.length === 0 || this.#failure !== undefined || this.#isFull) return
    const end = this.#base + this.#waiting.size + piece.length
    if (end > this.#parts.limitBytes) return this.#full()
    if (end > this.#parts.limitBytes - spareBytes) return this.#spare()
    this.#waiting.push(piece)
    this.#start()
  }

  /** Settles when the gateway has everything; rejects when it never will. */
  async flush(): Promise<void> {
    while (this.#pumping !== undefined) await this.#pumping
    if (this.#failure !== undefined) throw this.#failure
  }

  #start(): void {
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined
    })
  }

  async #pump(): Promise<void> {
    // What is written in one go travels in one go.
    await new Promise<void>((resolve) => setImmediate(resolve))
    try {
      for (let mismatches = 0; this.#waiting.size > 0;) {
        if (await this.#send()) mismatches = 0
        else if (++mismatches >= this.#parts.mismatches) throw new Error('the log at the gateway keeps standing elsewhere')
      }
    } catch (error) {
      // What waits is left as it is: whoever has the job next on this machine may be able to send it.
      this.#failure = asError(error)
    }
  }

  /** Sends what waits, up to the bound of one append. False: the log stood elsewhere, and now we know where. */
  async #send(): Promise<boolean> {
    const chunk = this.#waiting.next(this.#parts.appendBytes)
    if (chunk.length === 0) return true
    let isDoubtful = false
    this.#waiting.sending(chunk.length)
    const answer = await this.#parts.append(this.#base, chunk, () => {
      isDoubtful = true
    })
    const end = this.#base + chunk.length
    if (answer.ok) {
      this.#base = answer.next_offset
      // Past its cap the gateway takes nothing more and says where the log stays.
      if (this.#base < end) {
        this.#full()
        this.#parts.refused?.()
        this.#waiting.clear()
      } else this.#waiting.arrived(chunk.length, this.#base)
      return true
    }
    const { current_offset: current } = answer
    // Only of what was sent before can a part be there already; anything else beyond our place is not ours to skip.
    const isOurs = isDoubtful && current > this.#base && current <= end
    this.#waiting.arrived(isOurs ? current - this.#base : 0, current)
    this.#base = current
    return false
  }

  #spare(): void {
    if (!this.#isSparing) this.#parts.warn('the log is nearly full: what is left of it is for the judge')
    this.#isSparing = true
  }

  #full(): void {
    if (!this.#isFull) this.#parts.warn('the log is full: what comes now is left out')
    this.#isFull = true
  }
}

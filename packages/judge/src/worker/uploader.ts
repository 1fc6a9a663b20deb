/** What the gateway says to an append. */
export interface Appended {
  readonly ok: boolean
  readonly current_offset?: number | undefined
  readonly next_offset?: number | undefined
}

export interface UploaderParts {
  /** Where the log ends at the gateway, and so where our first byte goes. */
  readonly offset: number
  /** Where the log may not go beyond; it also bounds what waits here while the gateway is away. */
  readonly limitBytes: number
  readonly appendBytes: number
  readonly mismatches: number
  /** Sends; calls `onRetry` before a second send of which nobody knows whether the first arrived. Rejects for good only. */
  readonly append: (offset: number, bytes: Buffer, onRetry: () => void) => Promise<Appended>
  /** Something was left out, and why. */
  readonly warn: (message: string) => void
}

/**
 * Brings one log to the gateway: in order, one append at a time, whatever came meanwhile in the next one. Bytes stay here
 * until the gateway has them, so a lost connection loses nothing and a resend repeats nothing.
 */
export class Uploader {
  readonly #parts: UploaderParts
  #pieces: Buffer[] = []
  #waiting = 0
  /** The offset of the first byte that waits. */
  #base: number
  #pumping: Promise<void> | undefined
  #failure: Error | undefined
  #isFull = false
  #isSparing = false

  constructor(parts: UploaderParts) {
    this.#parts = parts
    this.#base = parts.offset
  }

  /**
   * Takes one piece whole, a line for example, or leaves it out when the log is full. So much of the log as `spareBytes` stays
   * free for others. Returns at once.
   */
  write(piece: Buffer, spareBytes = 0): void {
    if (piece.length === 0 || this.#failure !== undefined || this.#isFull) return
    const end = this.#base + this.#waiting + piece.length
    if (end > this.#parts.limitBytes) return this.#full()
    if (end > this.#parts.limitBytes - spareBytes) return this.#spare()
    this.#pieces.push(piece)
    this.#waiting += piece.length
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined
    })
  }

  /** Settles when the gateway has everything; rejects when it never will. */
  async flush(): Promise<void> {
    while (this.#pumping !== undefined) await this.#pumping
    if (this.#failure !== undefined) throw this.#failure
  }

  async #pump(): Promise<void> {
    // What is written in one go travels in one go.
    await new Promise<void>((resolve) => setImmediate(resolve))
    try {
      for (let mismatches = 0; this.#waiting > 0;) {
        if (await this.#send()) mismatches = 0
        else if (++mismatches >= this.#parts.mismatches) throw new Error('the log at the gateway keeps standing elsewhere')
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error))
      this.#clear()
    }
  }

  /** Sends what waits, up to the bound of one append. False: the log stood elsewhere, and now we know where. */
  async #send(): Promise<boolean> {
    const chunk = this.#next()
    let isDoubtful = false
    const answer = await this.#parts.append(this.#base, chunk, () => {
      isDoubtful = true
    })
    const end = this.#base + chunk.length
    if (answer.ok) {
      const next = answer.next_offset ?? end
      this.#drop(chunk.length)
      this.#base = next
      // Past its cap the gateway takes nothing more and says where the log stays.
      if (next < end) {
        this.#clear()
        this.#full()
      }
      return true
    }
    const current = answer.current_offset
    if (current === undefined) throw new Error('the gateway refused an append without saying where the log stands')
    // Only of what was sent before can a part be there already; anything else beyond our place is not ours to skip.
    if (isDoubtful && current > this.#base && current <= end) this.#drop(current - this.#base)
    this.#base = current
    return false
  }

  /** Whole pieces up to the bound of one append; a piece beyond the bound goes in parts. */
  #next(): Buffer {
    const { appendBytes } = this.#parts
    let bytes = 0
    let count = 0
    for (const piece of this.#pieces) {
      if (bytes + piece.length > appendBytes) break
      bytes += piece.length
      count += 1
    }
    const [first] = this.#pieces
    if (count === 0 && first !== undefined) return first.subarray(0, appendBytes)
    return count === 1 && first !== undefined ? first : Buffer.concat(this.#pieces.slice(0, count), bytes)
  }

  #drop(bytes: number): void {
    let left = Math.min(bytes, this.#waiting)
    this.#waiting -= left
    let whole = 0
    for (const piece of this.#pieces) {
      if (piece.length > left) break
      left -= piece.length
      whole += 1
    }
    this.#pieces.splice(0, whole)
    const [first] = this.#pieces
    if (left > 0 && first !== undefined) this.#pieces[0] = first.subarray(left)
  }

  #spare(): void {
    if (!this.#isSparing) this.#parts.warn('the log is nearly full: what is left of it is for the judge')
    this.#isSparing = true
  }

  #full(): void {
    if (!this.#isFull) this.#parts.warn('the log is full: what comes now is left out')
    this.#isFull = true
  }

  #clear(): void {
    this.#pieces = []
    this.#waiting = 0
  }
}

/** Bytes of one log that the gateway does not have yet, in the order in which they were said. */
export interface WaitingBytes {
  /** How many there are. */
  readonly size: number
  push(piece: Buffer): void
  /** The first of them, up to so many; cut between lines or pieces wherever that is possible. Empty: none can be had any more. */
  next(limitBytes: number): Buffer
  /** The first so many are about to be sent. */
  sending(bytes: number): void
  /** The first so many need not be sent any more; the log at the gateway ends at `offset`. */
  arrived(bytes: number, offset: number): void
  /** None of them will ever be sent. */
  clear(): void
}

/** Bytes that wait in memory, in the pieces in which they came. */
export class WaitingPieces implements WaitingBytes {
  #pieces: Buffer[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#size += piece.length
  }

  /** Whole pieces; one beyond the bound goes in parts. */
  next(limitBytes: number): Buffer {
    let bytes = 0
    let count = 0
    for (const piece of this.#pieces) {
      if (bytes + piece.length > limitBytes) break
      bytes += piece.length
      count += 1
    }
    const [first] = this.#pieces
    if (count === 0 && first !== undefined) return first.subarray(0, limitBytes)
    return count === 1 && first !== undefined ? first : Buffer.concat(this.#pieces.slice(0, count), bytes)
  }

  sending(): void {}

  arrived(bytes: number): void {
    let left = Math.min(bytes, this.#size)
    this.#size -= left
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

  clear(): void {
    this.#pieces = []
    this.#size = 0
  }
}

import { type CutBytes, GAP_BYTES, cutCollected } from './cut.ts'

/** Takes any number of bytes and keeps the first and the last of them, in bounded memory. */
export class HeadAndTail {
  readonly #limitBytes: number
  readonly #headBytes: number
  readonly #tailBytes: number
  readonly #head: Uint8Array[] = []
  #headSize = 0
  #tail: Uint8Array[] = []
  #tailSize = 0
  #total = 0

  constructor(limitBytes: number) {
    const room = Math.max(0, limitBytes - GAP_BYTES)
    this.#limitBytes = limitBytes
    this.#headBytes = Math.ceil(room / 2)
    this.#tailBytes = room - this.#headBytes
  }

  get total(): number {
    return this.#total
  }

  add(bytes: Uint8Array): void {
    this.#total += bytes.length
    const toHead = bytes.subarray(0, this.#headBytes - this.#headSize)
    if (toHead.length > 0) {
      // Copied: whoever hands bytes in may use the same memory again.
      this.#head.push(Uint8Array.from(toHead))
      this.#headSize += toHead.length
    }
    const rest = bytes.subarray(toHead.length)
    if (rest.length === 0) return
    this.#tail.push(Uint8Array.from(rest.subarray(Math.max(0, rest.length - this.#tailBytes))))
    this.#tailSize += Math.min(rest.length, this.#tailBytes)
    // Twice the bound before old pieces go: each byte is moved once at most.
    if (this.#tailSize > 2 * this.#tailBytes || this.#tail.length > 1_024) this.#tighten()
  }

  /** What was taken, cut to the bound with the cut shown. */
  text(): string {
    this.#tighten()
    const kept: CutBytes = {
      head: Buffer.concat(this.#head),
      tail: Buffer.concat(this.#tail),
      leftOut: this.#total - this.#headSize - this.#tailSize,
    }
    return cutCollected(kept, this.#limitBytes)
  }

  #tighten(): void {
    const all = Buffer.concat(this.#tail)
    const kept = all.subarray(Math.max(0, all.length - this.#tailBytes))
    this.#tail = kept.length === 0 ? [] : [kept]
    this.#tailSize = kept.length
  }
}

import { JOB_LIMITS } from '@parley/protocol'

/** A line whose end does not come within this is none of ours. */
const LINE_BYTES = JOB_LIMITS.chunkBytes
const NEWLINE = 10

/** How far a log of lines was told, and the beginning of a line whose end has not come yet. */
export class LineLog {
  #told = 0
  #rest: Uint8Array = new Uint8Array()

  /** The byte after the last line that was told: where a subscription goes on. */
  get told(): number {
    return this.#told
  }
  /** The byte after all that was read: where reading goes on. */
  get read(): number {
    return this.#told + this.#rest.length
  }

  /** Takes the bytes at `read`, and tells the lines that end in them. */
  push(bytes: Uint8Array, tell: (line: string) => void): void {
    const all = joined(this.#rest, bytes)
    let from = 0
    for (let end = all.indexOf(NEWLINE); end >= 0; end = all.indexOf(NEWLINE, from)) {
      const line = new TextDecoder().decode(all.subarray(from, end))
      this.#told += end + 1 - from
      from = end + 1
      this.#rest = all.subarray(from)
      tell(line)
    }
    this.#rest = all.subarray(from)
    if (this.#rest.length > LINE_BYTES) this.from(this.read)
  }

  /** Whether a line that ends at this byte was not told yet; from now on it was. */
  take(end: number): boolean {
    if (end <= this.#told) return false
    this.from(end)
    return true
  }

  /** Goes on at another byte. */
  from(offset: number): void {
    this.#told = offset
    this.#rest = new Uint8Array()
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other
  const all = new Uint8Array(one.length + other.length)
  all.set(one)
  all.set(other, one.length)
  return all
}

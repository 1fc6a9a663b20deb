import { randomBytes } from 'node:crypto'
import { samePiece } from './bytes.ts'
import { LineCursor, lineNumber, TRIMMED_LINES } from './lines.ts'
import type { Mismatch } from './mismatch.ts'
import { previewBytes, quote } from './preview.ts'

/** Differs from process to process: nobody can prepare lines that all fall into one place of the table. */
const SEED = randomBytes(4).readUInt32LE(0)
const FIRST_ENTRIES = 1_024

/** The same lines as often, in whatever order; white space at line ends and empty lines at the end do not count. */
export function compareUnorderedLines(expected: Buffer, actual: Buffer): Mismatch | undefined {
  const bag = new LineBag(expected)
  for (const line = new LineCursor(expected, TRIMMED_LINES, 0); line.next();) bag.add(line.start, line.end)
  for (const line = new LineCursor(actual, TRIMMED_LINES, 0); line.next();) {
    if (!bag.take(actual, line.start, line.end)) return surplus(actual, line)
  }
  const missing = bag.first()
  return missing === undefined ? undefined : lacking(expected, actual, missing)
}

interface Piece {
  readonly start: number
  readonly end: number
}

function surplus(actual: Buffer, { start, end }: Piece): Mismatch {
  return {
    message: `line ${lineNumber(actual, start)}: "${quote(actual, start, end)}" is not expected, or not so often`,
    expectedPreview: new Uint8Array(),
    actualPreview: previewBytes(actual, start),
  }
}

function lacking(expected: Buffer, actual: Buffer, { start, end }: Piece): Mismatch {
  return {
    message: `the expected line "${quote(expected, start, end)}" is missing`,
    expectedPreview: previewBytes(expected, start),
    actualPreview: previewBytes(actual, actual.length),
  }
}

/** Counts lines by their bytes. Holds places, not copies: open addressing over typed arrays that grow with the distinct lines. */
class LineBag {
  readonly #bytes: Buffer
  #entries = 0
  #starts = new Uint32Array(FIRST_ENTRIES)
  #ends = new Uint32Array(FIRST_ENTRIES)
  #counts = new Uint32Array(FIRST_ENTRIES)
  #hashes = new Uint32Array(FIRST_ENTRIES)
  /** Entry number plus one; zero is a free slot. Twice as many slots as entries. */
  #slots = new Uint32Array(2 * FIRST_ENTRIES)

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  add(start: number, end: number): void {
    const hash = hashOf(this.#bytes, start, end)
    const slot = this.#find(hash, this.#bytes, start, end)
    const entry = (this.#slots[slot] ?? 0) - 1
    if (entry >= 0) {
      this.#counts[entry] = (this.#counts[entry] ?? 0) + 1
      return
    }
    this.#starts[this.#entries] = start
    this.#ends[this.#entries] = end
    this.#counts[this.#entries] = 1
    this.#hashes[this.#entries] = hash
    this.#entries += 1
    this.#slots[slot] = this.#entries
    if (this.#entries === this.#starts.length) this.#grow()
  }

  /** Takes one such line out; false when none is left. */
  take(bytes: Buffer, start: number, end: number): boolean {
    const entry = (this.#slots[this.#find(hashOf(bytes, start, end), bytes, start, end)] ?? 0) - 1
    const left = entry < 0 ? 0 : (this.#counts[entry] ?? 0)
    if (left === 0) return false
    this.#counts[entry] = left - 1
    return true
  }

  /** The first line that was not taken as often as it was added. */
  first(): Piece | undefined {
    for (let entry = 0; entry < this.#entries; entry += 1) {
      if ((this.#counts[entry] ?? 0) > 0) return { start: this.#starts[entry] ?? 0, end: this.#ends[entry] ?? 0 }
    }
    return undefined
  }

  #find(hash: number, bytes: Buffer, start: number, end: number): number {
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = (this.#slots[slot] ?? 0) - 1
      if (entry < 0) return slot
      if (this.#hashes[entry] !== hash) continue
      if (samePiece(this.#bytes, this.#starts[entry] ?? 0, this.#ends[entry] ?? 0, bytes, start, end)) return slot
    }
  }

  #grow(): void {
    const size = 2 * this.#starts.length
    this.#starts = copyTo(this.#starts, size)
    this.#ends = copyTo(this.#ends, size)
    this.#counts = copyTo(this.#counts, size)
    this.#hashes = copyTo(this.#hashes, size)
    this.#slots = new Uint32Array(2 * size)
    const mask = this.#slots.length - 1
    for (let entry = 0; entry < this.#entries; entry += 1) {
      let slot = (this.#hashes[entry] ?? 0) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = entry + 1
    }
  }
}

function copyTo(from: Uint32Array, size: number): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(size)
  to.set(from)
  return to
}

function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = SEED
  for (let at = start; at < end; at += 1) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x5bd1e995)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

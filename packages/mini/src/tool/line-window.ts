import { isUtf8 } from 'node:buffer'
import { wholeEnd } from './cut.ts'

/** One line as it is shown. */
export interface WindowLine {
  readonly number: number
  readonly text: string
}

/** What a window over the lines of a file saw. */
export interface Window {
  readonly lines: readonly WindowLine[]
  /** Lines of all that was looked at. */
  readonly total: number
  /** The first line after the window; null when there is none. */
  readonly next: number | null
  /** The first line with bytes that are not UTF-8, anywhere. */
  readonly invalidLine: number | null
  readonly endsWithCarriageReturn: boolean
}

export interface WindowBounds {
  readonly from: number
  readonly count: number
  readonly lineBytes: number
  /** Of all lines that are shown, with what stands before each of them. */
  readonly totalBytes: number
  readonly prefixBytes: number
}

const NEWLINE = 0x0a

/** Takes a file in chunks of any size and keeps the lines of a window; a line of any length costs no more than its bound. */
export class LineWindow {
  readonly #bounds: WindowBounds
  readonly #lines: WindowLine[] = []
  #number = 1
  #head: Uint8Array[] = []
  #headSize = 0
  #lineSize = 0
  #shownBytes = 0
  #next: number | null = null
  #invalidLine: number | null = null
  #carriageReturns = 0
  /** The beginning of a character whose rest is in the next chunk. */
  #parted: Uint8Array = new Uint8Array()

  constructor(bounds: WindowBounds) {
    this.#bounds = bounds
  }

  add(chunk: Uint8Array): void {
    this.#validate(chunk)
    for (let at = 0; at < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, at)
      const end = newline === -1 ? chunk.length : newline
      this.#piece(chunk.subarray(at, end))
      if (newline !== -1) this.#endLine()
      at = end + 1
    }
  }

  finish(): Window {
    if (this.#parted.length > 0) this.#invalidLine ??= this.#number
    if (this.#lineSize > 0) this.#endLine()
    return {
      lines: this.#lines,
      total: this.#number - 1,
      next: this.#next,
      invalidLine: this.#invalidLine,
      endsWithCarriageReturn: this.#carriageReturns > 0,
    }
  }

  #piece(bytes: Uint8Array): void {
    this.#lineSize += bytes.length
    const kept = bytes.subarray(0, this.#bounds.lineBytes - this.#headSize)
    if (!this.#isInside() || kept.length === 0) return
    this.#head.push(Uint8Array.from(kept))
    this.#headSize += kept.length
  }

  #endLine(): void {
    if (this.#isInside()) this.#show()
    else if (this.#number >= this.#bounds.from) this.#next ??= this.#number
    this.#number++
    this.#head = []
    this.#headSize = 0
    this.#lineSize = 0
  }

  #show(): void {
    const line = this.#lineText()
    const size = this.#bounds.prefixBytes + Buffer.byteLength(line)
    // The first line is shown whatever its size: an empty window would never come to an end.
    if (this.#lines.length > 0 && this.#shownBytes + size > this.#bounds.totalBytes) {
      this.#next ??= this.#number
      return
    }
    this.#shownBytes += size
    this.#lines.push({ number: this.#number, text: line })
  }

  #lineText(): string {
    const head = Buffer.concat(this.#head)
    const left = this.#lineSize - head.length
    if (left === 0 && head.at(-1) === 0x0d) {
      this.#carriageReturns++
      return head.subarray(0, -1).toString('utf8')
    }
    if (left === 0) return head.toString('utf8')
    const whole = wholeEnd(head)
    return `${Buffer.from(whole).toString('utf8')} … ${this.#lineSize - whole.length} bytes left out …`
  }

  #isInside(): boolean {
    const { from, count } = this.#bounds
    return this.#next === null && this.#number >= from && this.#lines.length < count
  }

  #validate(chunk: Uint8Array): void {
    if (this.#invalidLine !== null) return
    const bytes = Buffer.concat([this.#parted, chunk])
    const whole = wholeEnd(bytes)
    if (!isUtf8(whole)) this.#invalidLine = this.#number + invalidLine(bytes)
    this.#parted = bytes.subarray(whole.length)
  }
}

/** A newline is never part of a character, so each line is valid or not by itself. */
function invalidLine(bytes: Uint8Array): number {
  let lines = 0
  for (let at = 0; at < bytes.length; lines++) {
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline === -1 ? bytes.length : newline
    if (!isUtf8(bytes.subarray(at, end))) break
    at = end + 1
  }
  return lines
}

import { WireError } from './wire-error.ts'

const LF = 10
const CR = 13

/** Cuts a byte stream into lines and decodes each as a whole. Holds at most one line, of `lineBytes` at most. */
export class LineSplitter {
  readonly #lineBytes: number
  readonly #onLine: (line: string) => void
  #parts: Buffer[] = []
  #heldBytes = 0

  constructor(lineBytes: number, onLine: (line: string) => void) {
    this.#lineBytes = lineBytes
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#line(chunk, start, end)
      start = end + 1
    }
    if (start < chunk.length) this.#hold(start === 0 ? chunk : chunk.subarray(start))
  }

  /** Bytes of a line that has not ended. At the end of the stream they are a torn message. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  #hold(rest: Buffer): void {
    this.#check(rest.length)
    this.#heldBytes += rest.length
    this.#parts.push(rest)
  }

  #line(chunk: Buffer, start: number, end: number): void {
    this.#check(end - start)
    if (this.#parts.length === 0) return this.#emit(chunk, start, end)
    this.#parts.push(chunk.subarray(start, end))
    const whole = Buffer.concat(this.#parts)
    this.#parts = []
    this.#heldBytes = 0
    this.#emit(whole, 0, whole.length)
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    const last = end > start && bytes[end - 1] === CR ? end - 1 : end
    if (last > start) this.#onLine(bytes.toString('utf8', start, last))
  }

  #check(more: number): void {
    if (this.#heldBytes + more > this.#lineBytes)
      throw new WireError('too_large', `a line has more than ${this.#lineBytes} bytes`)
  }
}

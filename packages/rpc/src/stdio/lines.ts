import { decodeUtf8 } from '../message/message.ts'

export type LineFault = 'a line is not UTF-8' | 'a line is too long' | 'the last line was cut off'

export interface LineSink {
  line(text: string): void
  fault(fault: LineFault): void
}

const NEWLINE = 0x0a

/** Cuts a byte stream into lines of UTF-8. A line that is too long is skipped whole; memory is bounded by the limit. */
export class LineReader {
  readonly #limitBytes: number
  readonly #sink: LineSink
  #parts: Buffer[] = []
  #size = 0
  #skipping = false

  constructor(limitBytes: number, sink: LineSink) {
    this.#limitBytes = limitBytes
    this.#sink = sink
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#finish(chunk.subarray(start, end))
      start = end + 1
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start))
  }

  /** The stream is over; a line without its newline was torn. */
  end(): void {
    if (this.#size > 0 || this.#skipping) this.#sink.fault('the last line was cut off')
    this.#parts = []
    this.#size = 0
  }

  #keep(part: Buffer): void {
    if (this.#skipping) return
    if (this.#size + part.length > this.#limitBytes) {
      this.#skipping = true
      this.#parts = []
      this.#size = 0
      this.#sink.fault('a line is too long')
      return
    }
    this.#parts.push(part)
    this.#size += part.length
  }

  #finish(last: Buffer): void {
    if (!this.#skipping) this.#keep(last)
    const skipped = this.#skipping
    const bytes = this.#parts.length === 1 ? (this.#parts[0] ?? last) : Buffer.concat(this.#parts, this.#size)
    this.#parts = []
    this.#size = 0
    this.#skipping = false
    if (skipped || bytes.length === 0) return
    const text = decodeUtf8(bytes)
    if (text === undefined) this.#sink.fault('a line is not UTF-8')
    else if (text.trim() !== '') this.#sink.line(text)
  }
}

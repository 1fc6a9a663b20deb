const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Cuts bytes into lines, without their ends. What is kept of a line is bounded. */
export class LineBuffer {
  readonly #limitBytes: number
  readonly #line: (line: Buffer) => void
  readonly #tooLong: (kept: Buffer) => void
  #parts: Buffer[] = []
  #size = 0
  #isSkipping = false

  /** `tooLong` gets the beginning of a line that is longer; the rest of it is skipped. */
  constructor(limitBytes: number, line: (line: Buffer) => void, tooLong: (kept: Buffer) => void) {
    this.#limitBytes = limitBytes
    this.#line = line
    this.#tooLong = tooLong
  }

  push(bytes: Buffer): void {
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      this.#keep(bytes.subarray(start, end))
      this.#finish()
      start = end + 1
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start))
  }

  /** Nothing more will come: what is left is a line too. */
  end(): void {
    if (this.#size > 0) this.#finish()
  }

  #keep(part: Buffer): void {
    if (this.#isSkipping) return
    this.#parts.push(part)
    this.#size += part.length
    if (this.#size <= this.#limitBytes) return
    const kept = Buffer.concat(this.#parts).subarray(0, this.#limitBytes)
    this.#parts = []
    this.#size = 0
    this.#isSkipping = true
    this.#tooLong(kept)
  }

  #finish(): void {
    const whole = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts, this.#size)
    const wasSkipped = this.#isSkipping
    this.#parts = []
    this.#size = 0
    this.#isSkipping = false
    if (wasSkipped || whole === undefined) return
    this.#line(whole.at(-1) === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole)
  }
}

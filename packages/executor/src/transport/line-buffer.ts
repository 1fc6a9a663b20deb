import type { ByteShare } from '@parley/protocol'

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The room that what has come of an unfinished line takes. */
export interface LineRoom {
  readonly share: ByteShare
  /** There is none: the line is skipped. */
  readonly full: () => void
}

/** Cuts bytes into lines, without their ends. What is kept of a line is bounded. */
export class LineBuffer {
  readonly #limitBytes: number
  readonly #line: (line: Buffer) => void
  readonly #tooLong: (kept: Buffer) => void
  readonly #room: LineRoom | undefined
  #parts: Buffer[] = []
  #size = 0
  #isSkipping = false

  /** `tooLong` gets the beginning of a line that is longer; the rest of it is skipped. */
  constructor(limitBytes: number, line: (line: Buffer) => void, tooLong: (kept: Buffer) => void, room?: LineRoom) {
    this.#room = room
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
    if (this.#size <= this.#limitBytes) {
      if (this.#room?.share.hold(this.#size) !== false) return
      this.drop()
      this.#isSkipping = true
      return this.#room.full()
    }
    const kept = Buffer.concat(this.#parts).subarray(0, this.#limitBytes)
    this.drop()
    this.#isSkipping = true
    this.#tooLong(kept)
  }

  /** Lets go of what has come of a line. */
  drop(): void {
    this.#parts = []
    this.#size = 0
    this.#room?.share.hold(0)
  }

  #finish(): void {
    const whole = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts, this.#size)
    const wasSkipped = this.#isSkipping
    this.drop()
    this.#isSkipping = false
    if (wasSkipped || whole === undefined) return
    this.#line(whole.at(-1) === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole)
  }
}

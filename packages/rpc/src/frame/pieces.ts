/** The first byte of each piece: whether the text goes on in the next. */
const LAST = 0
const MORE = 1
const HEAD_BYTES = 1

/** A text as messages of at most so many bytes and one. */
export function piecesOf(text: string, pieceBytes: number): Buffer[] {
  const size = Buffer.byteLength(text)
  if (size <= pieceBytes) {
    const piece = Buffer.allocUnsafe(HEAD_BYTES + size)
    piece[0] = LAST
    piece.write(text, HEAD_BYTES)
    return [piece]
  }
  const bytes = Buffer.from(text)
  const pieces: Buffer[] = []
  for (let start = 0; start < size; start += pieceBytes) {
    const end = Math.min(start + pieceBytes, size)
    pieces.push(Buffer.concat([Buffer.of(end < size ? MORE : LAST), bytes.subarray(start, end)]))
  }
  return pieces
}

interface TextSink {
  text(text: string): void
  fault(reason: string): void
}

/** Puts pieces together again. A text that is too long is passed over whole. */
export class PieceJoiner {
  readonly #limitBytes: number
  readonly #sink: TextSink
  #parts: Buffer[] = []
  #size = 0
  #isSkipping = false

  constructor(limitBytes: number, sink: TextSink) {
    this.#limitBytes = limitBytes
    this.#sink = sink
  }

  push(piece: Buffer): void {
    const head = piece[0]
    if (head !== LAST && head !== MORE) return this.#sink.fault('a frame is no piece of a text')
    this.#size += piece.length - HEAD_BYTES
    if (this.#size > this.#limitBytes) this.#skip()
    if (!this.#isSkipping) this.#parts.push(piece.subarray(HEAD_BYTES))
    if (head === MORE) return
    const parts = this.#parts
    const isSkipped = this.#isSkipping
    this.#parts = []
    this.#size = 0
    this.#isSkipping = false
    if (isSkipped) this.#sink.fault(`a text has more than ${this.#limitBytes} bytes`)
    else this.#sink.text((parts.length === 1 ? (parts[0] ?? piece) : Buffer.concat(parts)).toString('utf8'))
  }

  #skip(): void {
    this.#isSkipping = true
    this.#parts = []
  }
}

/** The first byte of each piece: whether what it belongs to goes on in the next, and whether that is text or bytes. */
const MORE = 1
const BYTES = 2
const HEAD_BYTES = 1
const PIECE_BYTES = 128
/** The most that a character of a text takes. */
const UTF8_BYTES = 3

/** A text that is one piece for certain, as text: its bytes need not be counted, and are made when they are written. */
export const wholePiece = (text: string, pieceBytes: number): string | undefined =>
  text.length * UTF8_BYTES > pieceBytes ? undefined : `\0${text}`

/** A text as messages of at most so many bytes and one. */
export const piecesOf = (text: string, pieceBytes: number): Buffer[] => cut(Buffer.from(text), 0, pieceBytes)

/** Bytes as such messages. */
export const piecesOfBytes = (parts: readonly Buffer[], pieceBytes: number): Buffer[] =>
  cut(Buffer.concat(parts), BYTES, pieceBytes)

function cut(bytes: Buffer, kind: number, pieceBytes: number): Buffer[] {
  const pieces: Buffer[] = []
  let start = 0
  do {
    const end = Math.min(start + pieceBytes, bytes.length)
    const piece = Buffer.allocUnsafe(HEAD_BYTES + end - start)
    piece[0] = kind | (end < bytes.length ? MORE : 0)
    bytes.copy(piece, HEAD_BYTES, start, end)
    pieces.push(piece)
    start = end
  } while (start < bytes.length)
  return pieces
}

interface TextSink {
  text(text: string): void
  bytes?(parts: readonly Buffer[]): void
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
    if (head === undefined || head > (MORE | BYTES)) return this.#sink.fault('a frame is no piece of a text')
    // Each piece costs more than its bytes while it waits for the others.
    this.#size += piece.length - HEAD_BYTES + ((head & MORE) === 0 ? 0 : PIECE_BYTES)
    if (this.#size > this.#limitBytes) this.#skip()
    if (!this.#isSkipping) this.#parts.push(piece.subarray(HEAD_BYTES))
    if ((head & MORE) !== 0) return
    const parts = this.#parts
    const isSkipped = this.#isSkipping
    this.#parts = []
    this.#size = 0
    this.#isSkipping = false
    if (isSkipped) return this.#sink.fault(`a text has more than ${this.#limitBytes} bytes`)
    if ((head & BYTES) === 0) this.#sink.text((parts.length === 1 ? (parts[0] ?? piece) : Buffer.concat(parts)).toString('utf8'))
    else if (this.#sink.bytes === undefined) this.#sink.fault('a frame is not text')
    else this.#sink.bytes(parts)
  }

  #skip(): void {
    this.#isSkipping = true
    this.#parts = []
  }
}

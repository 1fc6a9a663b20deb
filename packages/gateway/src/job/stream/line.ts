/** Bytes of a line whose end has not come yet, newest first: adding to it costs the same however long it is. */
interface Piece {
  readonly bytes: Uint8Array
  readonly before: Piece | undefined
  /** Bytes and pieces up to this one. */
  readonly size: number
  readonly count: number
}

/** What is left of the bytes before: a line that has begun, nothing, or a line whose rest is not wanted. */
export type Carry = Piece | 'skip' | undefined

/** One whole line without its end; `offset` is the byte after that end. */
export interface Line {
  readonly text: string
  readonly offset: number
}

export interface CutLines {
  readonly lines: readonly Line[]
  readonly carry: Carry
}

/** A line longer than this is left out: nothing that we write is, and it must not fill the memory of every reader. */
export const LINE_MAX_BYTES = 1024 * 1024

/** So many pieces are joined into one, or a line that comes byte by byte would cost a hundred times its size. */
const PIECES_MAX = 256
const NEWLINE = 10

/** Cuts bytes that end at `offset` into lines, going on from what the bytes before left. */
export function cutLines(bytes: Uint8Array, offset: number, carry: Carry): CutLines {
  const lines: Line[] = []
  const start = offset - bytes.length
  let rest = carry
  let from = 0
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
    const line = joined(rest, bytes.subarray(from, end))
    if (line !== undefined) lines.push({ text: line.toString('utf8'), offset: start + end + 1 })
    rest = undefined
    from = end + 1
  }
  return { lines, carry: from < bytes.length ? carried(rest, bytes.subarray(from)) : rest }
}

function carried(before: Carry, bytes: Uint8Array): Carry {
  if (before === 'skip') return 'skip'
  const size = (before?.size ?? 0) + bytes.length
  if (size > LINE_MAX_BYTES) return 'skip'
  const count = (before?.count ?? 0) + 1
  return count < PIECES_MAX ? { bytes, before, size, count } : { bytes: concat(before, bytes), before: undefined, size, count: 1 }
}

function joined(carry: Carry, last: Uint8Array): Buffer | undefined {
  return carry === 'skip' || (carry?.size ?? 0) + last.length > LINE_MAX_BYTES ? undefined : concat(carry, last)
}

function concat(before: Piece | undefined, last: Uint8Array): Buffer {
  const pieces = [last]
  for (let piece = before; piece !== undefined; piece = piece.before) pieces.push(piece.bytes)
  return Buffer.concat(pieces.reverse())
}

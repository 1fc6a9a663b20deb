const COMPARED_AT_ONCE_BYTES = 64 * 1024
export const LINE_FEED = 10

/** ASCII white space: space, tab, line feed, vertical tab, form feed, carriage return. */
export const isSpace = (byte: number | undefined): boolean => byte === 32 || (byte !== undefined && byte >= 9 && byte <= 13)

/** The same bytes as a `Buffer`, without a copy. */
export const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** How many bytes at the start are the same. Whole blocks are compared by the machine's own memory compare. */
export function samePrefix(left: Buffer, right: Buffer): number {
  const end = Math.min(left.length, right.length)
  let at = 0
  while (at < end) {
    const next = Math.min(end, at + COMPARED_AT_ONCE_BYTES)
    if (left.compare(right, at, next, at, next) !== 0) break
    at = next
  }
  while (at < end && left[at] === right[at]) at += 1
  return at
}

/** Where the white space that starts at `from` ends. */
export function skipSpaces(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && isSpace(bytes[at])) at += 1
  return at
}

/** Where the token that starts at `from` ends. */
export function tokenEnd(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && !isSpace(bytes[at])) at += 1
  return at
}

/** Whether two pieces hold the same bytes. Short pieces, the common case, are not worth a call into the machine's compare. */
export function samePiece(
  left: Buffer,
  leftStart: number,
  leftEnd: number,
  right: Buffer,
  rightStart: number,
  rightEnd: number,
): boolean {
  const length = leftEnd - leftStart
  if (length !== rightEnd - rightStart) return false
  if (length > 64) return left.compare(right, rightStart, rightEnd, leftStart, leftEnd) === 0
  for (let index = 0; index < length; index += 1) {
    if (left[leftStart + index] !== right[rightStart + index]) return false
  }
  return true
}

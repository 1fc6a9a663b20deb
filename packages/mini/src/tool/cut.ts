/** What is left of some bytes: the head, the tail, and how much lay between. */
export interface CutBytes {
  readonly head: Uint8Array
  readonly tail: Uint8Array
  readonly leftOut: number
}

/** What the model reads in place of what was left out. */
function gap(leftOut: number): string {
  return `\n… ${leftOut} bytes left out …\n`
}

/** The longest that the words about a gap can be: with less room there is nothing but a head. */
export const GAP_BYTES = Buffer.byteLength(gap(Number.MAX_SAFE_INTEGER))

/** Keeps head and tail within `limitBytes` of UTF-8, the words about the gap included, and never parts a character. */
export function cutText(text: string, limitBytes: number): string {
  // No character of a string takes more than three bytes per unit: most texts need no counting.
  if (text.length * 3 <= limitBytes) return text
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= limitBytes) return text
  return limitBytes > GAP_BYTES ? shown(split(bytes, limitBytes)) : headOf(text, limitBytes)
}

/** The text of what was collected, with the gap shown; what is not UTF-8 shows as U+FFFD. */
export function cutCollected({ head, tail, leftOut }: CutBytes, limitBytes: number): string {
  if (leftOut > 0) return shown({ head: wholeEnd(head), tail: wholeStart(tail), leftOut })
  return cutText(Buffer.concat([head, tail]).toString('utf8'), limitBytes)
}

function split(bytes: Uint8Array, limitBytes: number): CutBytes {
  const room = Math.max(0, limitBytes - GAP_BYTES)
  const headBytes = Math.ceil(room / 2)
  const head = wholeEnd(bytes.subarray(0, headBytes))
  const tail = wholeStart(bytes.subarray(bytes.length - (room - headBytes)))
  return { head, tail, leftOut: bytes.length - head.length - tail.length }
}

function shown({ head, tail, leftOut }: CutBytes): string {
  return Buffer.from(head).toString('utf8') + gap(leftOut) + Buffer.from(tail).toString('utf8')
}

/** Bytes that a character can have after its first. */
const TRAILING = 3
const isTrailing = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Drops the beginning of a character whose rest is missing. */
export function wholeEnd(bytes: Uint8Array): Uint8Array {
  let start = bytes.length - 1
  for (let back = 0; back < TRAILING && start > 0 && isTrailing(bytes[start]); back++) start--
  const first = bytes[start]
  if (first === undefined || first < 0xc0) return bytes
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  return bytes.length - start < size ? bytes.subarray(0, start) : bytes
}

/** Drops the end of a character whose beginning is missing. */
function wholeStart(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < TRAILING && isTrailing(bytes[start])) start++
  return bytes.subarray(start)
}

/** The beginning of a text within `limitBytes`, with no character parted. */
export function headOf(text: string, limitBytes: number): string {
  const bytes = Buffer.from(text, 'utf8')
  return bytes.length <= limitBytes ? text : Buffer.from(wholeEnd(bytes.subarray(0, limitBytes))).toString('utf8')
}

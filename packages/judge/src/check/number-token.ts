const MINUS = 45
const PLUS = 43
const DOT = 46
const ZERO = 48
/** Up to here digits fit a double exactly, and so does a power of ten: one rounding, the right one. */
const EXACT_DIGITS = 15
const EXACT_POWERS = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]
/** A longer token is text: no program prints a number so, and reading it would cost more than it says. */
const NUMBER_BYTES = 4_096
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const WORDS: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
])

/** The number that a token spells, or undefined when it spells none. `nan`, `inf` and `infinity` are known in any case and with a sign. */
export function readNumber(bytes: Buffer, start: number, end: number): number | undefined {
  return readShortDecimal(bytes, start, end) ?? readAnyNumber(bytes, start, end)
}

function readAnyNumber(bytes: Buffer, start: number, end: number): number | undefined {
  if (end - start > NUMBER_BYTES) return undefined
  const text = bytes.toString('latin1', start, end)
  if (DECIMAL.test(text)) return Number(text)
  const word = WORDS.get(text.replace(/^[+-]/, '').toLowerCase())
  return word !== undefined && text.startsWith('-') ? -word : word
}

/** Most numbers by far: sign, digits, perhaps a dot, no exponent. Undefined sends the token to the slow reader. */
function readShortDecimal(bytes: Buffer, start: number, end: number): number | undefined {
  const negative = bytes[start] === MINUS
  let at = negative || bytes[start] === PLUS ? start + 1 : start
  if (end - at > EXACT_DIGITS + 1) return undefined
  let digits = 0
  let mantissa = 0
  let decimals = -1
  for (; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === DOT && decimals < 0) {
      decimals = 0
      continue
    }
    if (byte < ZERO || byte > ZERO + 9) return undefined
    mantissa = mantissa * 10 + (byte - ZERO)
    digits += 1
    if (decimals >= 0) decimals += 1
  }
  if (digits === 0 || digits > EXACT_DIGITS) return undefined
  const value = decimals > 0 ? mantissa / (EXACT_POWERS[decimals] ?? Number.NaN) : mantissa
  return negative ? -value : value
}

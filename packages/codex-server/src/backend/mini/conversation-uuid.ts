import { ConversationId } from '@parley/protocol'

/** How our ids spell five bits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const DIGITS = 26
const BITS_PER_DIGIT = 5n
const DIGIT_MASK = 31n
const UUID_BITS = 128n
const PREFIX = 'cnv_'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const TIME_BITS = 48n
const RANDOM_BYTES = 10

/**
 * Clients of old know conversations by UUIDs. An id of ours has room for one, so each is the other in another spelling,
 * and no list has to be kept. They begin with the time, as Codex's do, so that names sort by age.
 */
export function uuidOf(id: string): string | undefined {
  if (!ConversationId.safeParse(id).success) return undefined
  let bits = 0n
  for (const letter of id.slice(PREFIX.length)) {
    const digit = ALPHABET.indexOf(letter)
    if (digit < 0) return undefined
    bits = (bits << BITS_PER_DIGIT) | BigInt(digit)
  }
  if (bits >> UUID_BITS !== 0n) return undefined
  const hex = bits.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** `undefined`: it is no UUID. */
export function idOf(uuid: string): string | undefined {
  const text = uuid.toLowerCase()
  if (!UUID.test(text)) return undefined
  return `${PREFIX}${spell(BigInt(`0x${text.replaceAll('-', '')}`), (digit) => ALPHABET.charAt(digit)).join('')}`
}

/** When a conversation of this UUID began. */
export const startOf = (uuid: string): number => Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)

/**
 * Randomness for an engine that makes its ids from the low five bits of 26 bytes: those become a UUID of the moment.
 * Everything else is drawn as it is.
 */
export function uuidRandom(random: (size: number) => Uint8Array, now: () => number): (size: number) => Uint8Array {
  return (size) => (size === DIGITS ? Uint8Array.from(spell(drawUuid(random, now()), (digit) => digit)) : random(size))
}

/** A UUID of version 7. */
function drawUuid(random: (size: number) => Uint8Array, now: number): bigint {
  let rest = 0n
  for (const byte of random(RANDOM_BYTES)) rest = (rest << 8n) | BigInt(byte)
  const high = (BigInt(now) & ((1n << TIME_BITS) - 1n)) << 80n
  const version = 7n << 76n
  const variant = 2n << 62n
  return high | version | (((rest >> 62n) & 0xfffn) << 64n) | variant | (rest & ((1n << 62n) - 1n))
}

function spell<Digit>(bits: bigint, as: (digit: number) => Digit): Digit[] {
  return Array.from({ length: DIGITS }, (_, index) =>
    as(Number((bits >> (BigInt(DIGITS - 1 - index) * BITS_PER_DIGIT)) & DIGIT_MASK)),
  )
}

/** Shorter ones are no secrets, and masking them would spoil ordinary text. */
const SECRET_MIN_BYTES = 8
const STAR = 42
const NOTHING = Buffer.alloc(0)

/**
 * Masks one secret in bytes that pass, also where it is split over two pieces. Lengths stay. Only what may be the beginning of
 * the secret waits for the next piece; everything else goes on at once.
 */
export class Mask {
  readonly #secret: Buffer | undefined
  #held: Buffer = NOTHING

  constructor(secret: string | null) {
    const bytes = Buffer.from(secret ?? '')
    this.#secret = bytes.length < SECRET_MIN_BYTES ? undefined : bytes
  }

  push(piece: Buffer): Buffer {
    const secret = this.#secret
    if (secret === undefined) return piece
    const bytes = masked(this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]), secret)
    const kept = beginningAtEnd(bytes, secret)
    this.#held = bytes.subarray(bytes.length - kept)
    return bytes.subarray(0, bytes.length - kept)
  }

  /** What waited, when nothing follows. */
  flush(): Buffer {
    const rest = this.#held
    this.#held = NOTHING
    return rest
  }

  /** A whole text at once. */
  text(text: string): string {
    return this.#secret === undefined ? text : masked(Buffer.from(text), this.#secret).toString('utf8')
  }
}

function masked(bytes: Buffer, secret: Buffer): Buffer {
  let at = bytes.indexOf(secret)
  if (at === -1) return bytes
  const copy = Buffer.from(bytes)
  for (; at !== -1; at = copy.indexOf(secret, at)) copy.fill(STAR, at, at + secret.length)
  return copy
}

/** How many bytes at the end are a beginning of the secret. */
function beginningAtEnd(bytes: Buffer, secret: Buffer): number {
  const [first = 0] = secret
  let at = bytes.indexOf(first, Math.max(0, bytes.length - secret.length + 1))
  while (at !== -1) {
    const length = bytes.length - at
    if (bytes.compare(secret, 0, length, at) === 0) return length
    at = bytes.indexOf(first, at + 1)
  }
  return 0
}

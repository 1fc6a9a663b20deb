/** What stands where a secret stood. */
const MASKED = Buffer.from('••••')
const NOTHING = Buffer.alloc(0)

/** Takes a secret out of bytes that come in pieces, also where it is parted among them. */
export class MaskedStream {
  readonly #secret: Buffer
  #held = NOTHING

  constructor(secret: string) {
    this.#secret = Buffer.from(secret)
  }

  /** What can be told by now: the end of what came may be the beginning of the secret. */
  push(bytes: Uint8Array): Buffer {
    const all = Buffer.concat([this.#held, bytes])
    const parts: Buffer[] = []
    let from = 0
    for (let at = all.indexOf(this.#secret); at !== -1; at = all.indexOf(this.#secret, from)) {
      parts.push(all.subarray(from, at), MASKED)
      from = at + this.#secret.length
    }
    const rest = all.subarray(from)
    const held = this.#begunIn(rest)
    this.#held = Buffer.from(rest.subarray(rest.length - held))
    return Buffer.concat([...parts, rest.subarray(0, rest.length - held)])
  }

  /** The last of it. A beginning of the secret is one, too, where the output was cut there. */
  end(): Buffer {
    const { length } = this.#held
    const isTelling = length > this.#secret.length / 2
    const last = isTelling ? MASKED : this.#held
    this.#held = NOTHING
    return last
  }

  /** How much of the secret's beginning the bytes end with. */
  #begunIn(bytes: Buffer): number {
    const most = Math.min(bytes.length, this.#secret.length - 1)
    for (let count = most; count > 0; count--)
      if (bytes.subarray(bytes.length - count).equals(this.#secret.subarray(0, count))) return count
    return 0
  }
}

export function maskedBytes(bytes: Uint8Array, secret: string): Uint8Array {
  const stream = new MaskedStream(secret)
  return Buffer.concat([stream.push(bytes), stream.end()])
}

/** Bounds of a room, and of what one owner may hold of it. */
export interface ByteRoomLimits {
  readonly bytes: number
  readonly bytesPerOwner: number
  /** What one thing holds without being counted. Left out: nothing. */
  readonly uncountedBytes?: number
}

/** Bytes that several owners hold: so many in all, so many for each. Who asks for more is refused, and what others hold stays. */
export class ByteRoom {
  readonly #limits: ByteRoomLimits
  readonly #byOwner = new Map<string, number>()
  #bytes = 0

  constructor(limits: ByteRoomLimits) {
    this.#limits = limits
  }

  /** What one thing of this owner holds: nothing yet. */
  share(owner: string): ByteShare {
    return new ByteShare(this.#limits.uncountedBytes ?? 0, (by) => this.#change(owner, by))
  }

  #change(owner: string, by: number): boolean {
    const held = (this.#byOwner.get(owner) ?? 0) + by
    if (by > 0 && (held > this.#limits.bytesPerOwner || this.#bytes + by > this.#limits.bytes)) return false
    this.#bytes += by
    if (held === 0) this.#byOwner.delete(owner)
    else this.#byOwner.set(owner, held)
    return true
  }
}

export class ByteShare {
  readonly #uncountedBytes: number
  readonly #change: (by: number) => boolean
  #held = 0

  constructor(uncountedBytes: number, change: (by: number) => boolean) {
    this.#uncountedBytes = uncountedBytes
    this.#change = change
  }

  /** Holds so many bytes from now on, instead of what it held. False: there is no room, and it holds what it held. */
  hold(bytes: number): boolean {
    const counted = bytes > this.#uncountedBytes ? bytes : 0
    if (counted !== this.#held && !this.#change(counted - this.#held)) return false
    this.#held = counted
    return true
  }
}

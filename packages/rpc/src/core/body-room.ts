import type { Limits } from '../limits.ts'
import type { Caller } from '../service.ts'
import { personOf } from './callers.ts'

type RoomLimits = Pick<Limits, 'bodyBytes' | 'bodyBytesKept' | 'bodyBytesPerCaller' | 'bodyBytesPerAddress'>

/** Whose room is used up: the sender's own, or everybody's. */
export type RoomFull = 'own' | 'all'

interface Owner {
  readonly name: string
  readonly limitBytes: number
  readonly hasKeptRoom: boolean
}

/** The bytes that clients have sent and that are not dealt with yet: so many for each sender, so many in all. */
export class BodyRoom {
  readonly #limits: RoomLimits
  readonly #held = new Map<string, number>()
  #heldInAll = 0

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  /** Room for something that a caller sends; what is held ends with `release`. */
  ofCaller(caller: Caller): BodyShare {
    return this.#share({
      name: `caller ${personOf(caller)}`,
      limitBytes: this.#limits.bodyBytesPerCaller,
      hasKeptRoom: caller.hasKeptRoom === true,
    })
  }

  /** Before anybody said who they are, all of one address count together. */
  ofAddress(address: string): BodyShare {
    return this.#share({ name: `address ${address}`, limitBytes: this.#limits.bodyBytesPerAddress, hasKeptRoom: false })
  }

  get heldBytes(): number {
    return this.#heldInAll
  }

  #share(owner: Owner): BodyShare {
    return new BodyShare((by) => this.#change(owner, by))
  }

  #change({ name, limitBytes, hasKeptRoom }: Owner, by: number): RoomFull | undefined {
    const held = (this.#held.get(name) ?? 0) + by
    if (by > 0) {
      if (held > limitBytes) return 'own'
      const room = hasKeptRoom ? this.#limits.bodyBytes : this.#limits.bodyBytes - this.#limits.bodyBytesKept
      if (this.#heldInAll + by > room) return 'all'
    }
    this.#heldInAll += by
    if (held === 0) this.#held.delete(name)
    else this.#held.set(name, held)
    return undefined
  }
}

/** What one body, or one socket, holds of the room. */
export class BodyShare {
  readonly #change: (by: number) => RoomFull | undefined
  #bytes = 0

  constructor(change: (by: number) => RoomFull | undefined) {
    this.#change = change
  }

  /** Holds so many bytes from now on, instead of what it held; says whose room is too small, and then holds what it held. */
  hold(bytes: number): RoomFull | undefined {
    if (bytes === this.#bytes) return undefined
    const full = this.#change(bytes - this.#bytes)
    if (full === undefined) this.#bytes = bytes
    return full
  }

  release(): void {
    this.hold(0)
  }
}

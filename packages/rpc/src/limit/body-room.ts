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

/** A body of which more is to come. */
interface Arriving {
  /** Of its connection: smaller is older. */
  readonly order: number
  /** Lets go of its room at once, and says so to whoever sends it. */
  readonly giveUp: () => void
}

/**
 * The bytes that clients have sent and that are not dealt with yet: so many for each sender, so many in all. Where a sender's
 * own room is full, an older connection goes first: the body on its way on the youngest one is given up for it. So whoever
 * begins bodies and does not end them is in the way of nobody who was there before.
 */
export class BodyRoom {
  readonly #limits: RoomLimits
  readonly #held = new Map<string, number>()
  readonly #arriving = new Map<string, Set<Arriving>>()
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
    return new BodyShare({
      change: (by, order) => this.#change(owner, by, order),
      begin: (arriving) => this.#begin(owner.name, arriving),
      end: (arriving) => this.#end(owner.name, arriving),
    })
  }

  #begin(name: string, arriving: Arriving): void {
    const known = this.#arriving.get(name)
    if (known === undefined) this.#arriving.set(name, new Set([arriving]))
    else known.add(arriving)
  }

  #end(name: string, arriving: Arriving): void {
    const known = this.#arriving.get(name)
    if (known?.delete(arriving) === true && known.size === 0) this.#arriving.delete(name)
  }

  #change({ name, limitBytes, hasKeptRoom }: Owner, by: number, order: number): RoomFull | undefined {
    if (by > 0) this.#makeRoom(name, limitBytes - by, order)
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

  /** Gives up what comes on younger connections, until the sender holds no more than this. */
  #makeRoom(name: string, wantedBytes: number, order: number): void {
    while ((this.#held.get(name) ?? 0) > wantedBytes) {
      let youngest: Arriving | undefined
      for (const one of this.#arriving.get(name) ?? []) if (one.order > (youngest?.order ?? order)) youngest = one
      if (youngest === undefined) return
      this.#end(name, youngest)
      youngest.giveUp()
    }
  }
}

/** What a share asks of the room that it is a part of. */
interface Room {
  change(by: number, order: number): RoomFull | undefined
  begin(arriving: Arriving): void
  end(arriving: Arriving): void
}

/** What one body, or one socket, holds of the room. */
export class BodyShare {
  readonly #room: Room
  #bytes = 0
  #arriving: Arriving | undefined

  constructor(room: Room) {
    this.#room = room
  }

  /** More is to come, on a connection of this order. `giveUp` is called when its room is taken away. */
  arrives(order: number, giveUp: () => void): void {
    this.#arriving = {
      order,
      giveUp: () => {
        this.#arriving = undefined
        this.release()
        giveUp()
      },
    }
    this.#room.begin(this.#arriving)
  }

  /** Nothing more comes. */
  arrived(): void {
    if (this.#arriving !== undefined) this.#room.end(this.#arriving)
    this.#arriving = undefined
  }

  /**
   * Holds so many bytes from now on, instead of what it held; says whose room is too small, and then holds what it held. The
   * order is that of its connection; without one it goes first nowhere.
   */
  hold(bytes: number, order = Number.POSITIVE_INFINITY): RoomFull | undefined {
    if (bytes === this.#bytes) return undefined
    const full = this.#room.change(bytes - this.#bytes, order)
    if (full === undefined) this.#bytes = bytes
    return full
  }

  release(): void {
    this.hold(0)
  }
}

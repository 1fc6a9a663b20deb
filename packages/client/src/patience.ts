/** How long somebody waits for a gateway, and for what. */
export interface Patience {
  /** `at-once`: the first connection comes about or the try has failed. `in-time`: it is tried for like any other. */
  readonly first: 'at-once' | 'in-time'
  /** What follows when no try can mend it: the token is not taken, or there is no revision in common. Before the first connection it always ends. */
  readonly refused: 'ends' | 'waits'
  /** `at-once`: a lost connection is made again by itself. `when-asked`: not before somebody needs one. */
  readonly reopens: 'at-once' | 'when-asked'
  /** How long the gateway may be away, or answer that it cannot now, before it is given up. */
  readonly awayMs: number
}

const COMMAND_AWAY_MS = 10 * 60_000

/** Who speaks with a gateway, and how patient they are. */
export const PATIENCE = {
  /**
   * A person waits for its answer: a mistake in the address is told at once, a refusal too, and a gateway that is away for long will
   * not come back while they wait. It does not begin to try again behind the back of a command that has failed already.
   */
  command: { first: 'at-once', refused: 'ends', reopens: 'when-asked', awayMs: COMMAND_AWAY_MS },
  /** Somebody may look at it at any time, and can sign in again: it stays for as long as it is open, unless it is refused. */
  page: { first: 'in-time', refused: 'ends', reopens: 'at-once', awayMs: Number.POSITIVE_INFINITY },
  /**
   * Nobody sits before it. It may start before its gateway does, and must hear of a cancellation also while it has nothing to say. A
   * token that was good once can be good again: an admin mends that at the gateway, and must not have to visit every machine.
   */
  worker: { first: 'in-time', refused: 'waits', reopens: 'at-once', awayMs: Number.POSITIVE_INFINITY },
} as const satisfies Record<string, Patience>

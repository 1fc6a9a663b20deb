import type { LeaseFence } from './fence.ts'

export interface Lease extends LeaseFence {
  readonly holder: string
  /** How often this item has been claimed, this time included. */
  readonly claims: number
  readonly expiresAt: number
  readonly payload: string
}

export interface OfferOptions {
  readonly payload?: string
  readonly notBefore?: number
  /** Whose turn it takes. Items without one share a lane. */
  readonly lane?: string
}

export interface ClaimOptions {
  readonly ttlMs: number
  readonly waitMs?: number
  readonly signal?: AbortSignal
  /** Lanes whose items are not for this claim: it gets what it would get if they were empty. */
  readonly without?: readonly string[]
  /** Among those of this process who wait, the ones that do not stand back are served first. */
  readonly standsBack?: boolean
}

/** At most one holder; ends unless renewed; every write shows its fence. */
export interface Leases {
  /** Puts an item up for claiming, in a lane of its queue. The same key again changes nothing and answers false. */
  offer(queue: string, key: string, options?: OfferOptions): Promise<boolean>
  /**
   * Takes an item that nobody holds: lane by lane, and of each lane the oldest. Waits without polling; `undefined` when there was
   * none.
   */
  claim(queue: string, holder: string, options: ClaimOptions): Promise<Lease | undefined>
  /**
   * The holder goes to work on it, so its round has begun: whatever is offered from now on stands in a later one. Not said of an item
   * that is given back because it is not for this holder.
   */
  serve(fence: LeaseFence): Promise<void>
  /** Throws `LeaseLost` when somebody else has it or it ran out. */
  renew(fence: LeaseFence, ttlMs: number): Promise<{ readonly expiresAt: number }>
  /** Gives it back for others; `countClaim: false` takes back the claim count too (a clean shutdown burns no attempt). */
  release(fence: LeaseFence, options?: { readonly countClaim?: boolean; readonly notBefore?: number }): Promise<void>
  /** Done: the item is gone. */
  complete(fence: LeaseFence): Promise<void>
  /** Takes an item off the queue whoever holds it; the holder's next write is refused. */
  withdraw(queue: string, key: string): Promise<boolean>
  /** Gives every running lease at least `ttlMs` from now: after a restart nobody loses one for our absence. */
  grace(ttlMs: number): Promise<void>
  /** Throws `LeaseLost` unless this fence holds now. */
  check(fence: LeaseFence): Promise<void>
  get(queue: string, key: string): Promise<Lease | undefined>
  count(queue: string): Promise<{ readonly waiting: number; readonly held: number }>
}

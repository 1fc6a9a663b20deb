import type { NewsKind } from '@parley/protocol'
import type { Row, Transaction } from '@parley/database'
import type { Owned } from './steps.ts'

/** An agent whose row the transaction has locked; its owner may use it, or a host holds it. */
export interface LockedAgent extends Owned {
  readonly row: Row
}

/** Sees to what wakes agents, in the transaction of whoever changes what that depends on. */
export interface Waker {
  /** Somebody said something to it. */
  said(tx: Transaction, agent: LockedAgent): Promise<void>
  /** Its turn has ended; what it waits for is over where somebody ended it. */
  ended(tx: Transaction, agent: LockedAgent, isInterrupted: boolean): Promise<void>
  /** Somebody wants it to end what it does: it waits for nothing of its own any more. False: it did not. */
  aborted(tx: Transaction, id: Owned['id']): Promise<boolean>
  /** A turn of it begins, by a prompt or because something woke it. */
  begins(tx: Transaction, id: Owned['id'], wokenBy: NewsKind | null): Promise<void>
  /** Its rules have changed. */
  ruled(tx: Transaction, agent: LockedAgent): Promise<void>
}

import type { Door } from '../door.ts'
import type { Limits } from '../limits.ts'
import type { Observer, Wire } from '../observer.ts'
import type { Caller } from '../service.ts'
import type { BodyRoom } from './body-room.ts'
import type { CallerTable } from './callers.ts'
import type { StateSeal } from './request-state.ts'
import type { Turns } from './turns.ts'

/** What all connections of one wire share. */
export interface Host<C extends Caller> {
  readonly wire: Wire
  readonly door: Door<C>
  readonly limits: Limits
  readonly observer: Observer<C>
  readonly seal: StateSeal
  readonly callers: CallerTable<C>
  readonly bodies: BodyRoom
  /** What waits for its reader, and what is kept for one that comes back. */
  readonly unread: BodyRoom
  readonly replays: BodyRoom
  readonly turns: Turns
  readonly now: () => number
  /** Calls under way on all connections: what a shutdown waits for. */
  readonly active: { calls: number }
}

import { randomBytes } from 'node:crypto'
import type { ActiveCall } from './active-call.ts'
import type { JsonObject } from '@parley/protocol/wire'
import { HeldCalls, type KnownTask, Rounds, TaskTable } from '@parley/task'
import type { Door, Wire } from '../door.ts'
import { BodyRoom } from '../limit/body-room.ts'
import { CallerTable } from '../limit/callers.ts'
import { Turns } from '../limit/turns.ts'
import { openReplayRoom, openUnreadRoom } from '../limit/unread-room.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits.ts'
import type { Observer } from '../observer.ts'
import type { Caller, Service } from '../service.ts'
import { StateSeal } from './request-state.ts'

/** What all links and requests of one wire share. */
export interface ServedWire<C extends Caller> {
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
  readonly held: HeldCalls<ActiveCall<C>>
  readonly tasks: TaskTable
  readonly rounds: Rounds
  readonly now: () => number
  /** Whom a modern request is made for, where whoever sends it speaks for many. */
  readonly callerIn?: ((meta: JsonObject) => C) | undefined
  /** Calls under way on all links: what a shutdown waits for. */
  readonly active: { calls: number }
}

export interface LoneWireStart<C extends Caller> {
  readonly wire: Wire
  readonly service: Service<C>
  readonly caller: C
  readonly limits?: Partial<Limits> | undefined
  readonly observer?: Observer<C> | undefined
  readonly callerIn?: ServedWire<C>['callerIn']
}

/** A wire with one link, whose caller is known before anything is said: a pipe, a pair in memory. */
export function loneWire<C extends Caller>({
  wire,
  service,
  caller,
  observer = {},
  callerIn,
  ...more
}: LoneWireStart<C>): ServedWire<C> {
  const limits = { ...DEFAULT_LIMITS, ...more.limits }
  const tasks = new TaskTable(limits)
  return {
    wire,
    door: { authenticate: () => caller, serviceFor: () => service },
    limits,
    observer,
    seal: new StateSeal(randomBytes(32), limits.requestStateMs, Date.now),
    callers: new CallerTable(),
    bodies: new BodyRoom(limits),
    unread: openUnreadRoom(limits),
    replays: openReplayRoom(limits),
    turns: new Turns(limits),
    held: new HeldCalls(limits.stillHeldMs),
    tasks,
    rounds: new Rounds(tasks, limits),
    now: Date.now,
    callerIn,
    active: { calls: 0 },
  }
}

/** A task of this caller's: one that a call became, or one of the service's own. */
export function taskOf<C extends Caller>(
  { tasks }: Pick<ServedWire<C>, 'tasks'>,
  service: Service<C>,
  id: string,
  caller: C,
): KnownTask | undefined | Promise<KnownTask | undefined> {
  return tasks.find(id, caller.key) ?? service.findTask?.(id, caller)
}

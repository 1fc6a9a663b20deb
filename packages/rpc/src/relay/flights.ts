import type { JsonObject } from '@parley/protocol'
import { PassingMap } from '@parley/protocol/wire'
import type { Call, Caller } from '../service.ts'
import type { ParkedCall } from './parked-call.ts'

/** One call on its way through an upstream. */
export interface Flight<C extends Caller> {
  /** The id that it has upstream; 0 until it is sent. */
  id: number
  readonly call: Call<C>
  /** Where questions go when the client can only be asked by answering its call. */
  readonly parked: ParkedCall | undefined
  /** The server says that it waits and that nothing of it was done. */
  isUnsent?: boolean
}

/** The calls under way on one upstream, to say whom a message of the server concerns. */
export class Flights<C extends Caller> {
  readonly #byId = new PassingMap<number, Flight<C>>()

  get size(): number {
    return this.#byId.size
  }
  add(flight: Flight<C>): void {
    this.#byId.set(flight.id, flight)
  }
  remove(flight: Flight<C>): void {
    this.#byId.take(flight.id)
  }

  /** A server of ours says that a call waits there: then it waits here, too. */
  held({ requestId, message, unsent, over }: JsonObject): void {
    const flight = typeof requestId === 'number' ? this.#byId.get(requestId) : undefined
    if (flight !== undefined) flight.isUnsent = unsent === true
    if (over === true) return flight?.call.goesOn()
    flight?.call.held(typeof message === 'string' ? message : undefined)
  }

  /**
   * Who is to answer a question: the call it came with where the link can tell, else the newest that can, if any. Where the calls are
   * of several clients nobody is: it may be about another's secret.
   */
  asked(during: number | undefined): Flight<C> | undefined {
    if (during !== undefined) return this.#byId.get(during)
    const clients = new Set<object>()
    let newest: Flight<C> | undefined
    for (const flight of this.#byId.values()) {
      clients.add(flight.call.link ?? flight.call)
      if (newest === undefined || flight.parked !== undefined || flight.call.era === 'legacy') newest = flight
    }
    return clients.size > 1 ? undefined : newest
  }

  /**
   * Whose a log line is. A pipe does not say; with one caller under way it can only be theirs, and goes once to each of
   * their links. With several callers nobody gets it: it may be another's secret.
   */
  concerned(during: number | undefined): readonly Flight<C>[] {
    const exact = during === undefined ? undefined : this.#byId.get(during)
    if (exact !== undefined) return [exact]
    const byLink = new Map<object, Flight<C>>()
    let caller: string | undefined
    for (const flight of this.#byId.values()) {
      caller ??= flight.call.caller.key
      if (flight.call.caller.key !== caller) return []
      byLink.set(flight.call.link ?? flight.call, flight)
    }
    return [...byLink.values()]
  }
}

import type { Caller } from '../service.ts'
import type { Limits } from '../limits.ts'

/** Something a caller holds open: a session, a socket, a stream, a call, a body under way. */
export interface Holding<C extends Caller> {
  readonly caller: C
  /** A session or socket counts against the limits; a single call does not. */
  readonly lasting: boolean
  /** Only hears of changes; has no call under way. */
  readonly listens?: boolean
  end(reason: string): void
}

type Room = Pick<Limits, 'linksPerCaller' | 'links' | 'linksKept'>

/** What one person holds, whichever tokens of theirs opened it. */
interface Person<C extends Caller> {
  readonly held: Holding<C>[]
  lasting: number
  calls: number
  watches: number
}

/** Whom a caller is counted with. Whoever has many tokens gets no more room than somebody with one. */
export const personOf = ({ person, key }: Caller): string => person ?? key

/** Who holds what open, so that a revoked token's connections can be cut and nobody opens too many. */
export class CallerTable<C extends Caller> {
  readonly #people = new Map<string, Person<C>>()
  #lasting = 0

  add(holding: Holding<C>): void {
    const person = this.#person(holding.caller)
    person.held.push(holding)
    if (!holding.lasting) return
    person.lasting += 1
    this.#lasting += 1
  }

  remove(holding: Holding<C>): void {
    const person = this.#people.get(personOf(holding.caller))
    if (person === undefined || !takeOut(person.held, holding)) return
    if (holding.lasting) {
      person.lasting -= 1
      this.#lasting -= 1
    }
    this.#forget(holding.caller, person)
  }

  /** Whether one more session, socket or stream would be too many. */
  isFull(caller: C, limits: Room): boolean {
    return this.fullFor(caller, limits) !== undefined
  }

  /** Which bound one more would pass: this person's, or that of all. Some room is kept for those that have a right to it. */
  fullFor(caller: C, limits: Room): 'person' | 'all' | undefined {
    if ((this.#people.get(personOf(caller))?.lasting ?? 0) >= limits.linksPerCaller) return 'person'
    const room = caller.hasKeptRoom === true ? limits.links : limits.links - limits.linksKept
    return this.#lasting >= room ? 'all' : undefined
  }

  /** Calls of one person that are under way, on all wires and connections. */
  callsOf(caller: C): number {
    return this.#people.get(personOf(caller))?.calls ?? 0
  }
  callBegan(caller: C): void {
    this.#person(caller).calls += 1
  }
  callEnded(caller: C): void {
    const person = this.#people.get(personOf(caller))
    if (person === undefined) return
    person.calls -= 1
    this.#forget(caller, person)
  }

  /** Resources that one person watches, on all connections. */
  watchesOf(caller: C): number {
    return this.#people.get(personOf(caller))?.watches ?? 0
  }
  watched(caller: C, by: number): void {
    const person = this.#person(caller)
    person.watches += by
    this.#forget(caller, person)
  }

  get lasting(): number {
    return this.#lasting
  }

  /** Ends what the matching callers hold. Every holding is asked: two tokens of one person may differ. */
  cut(matches: (caller: C) => boolean, reason: string): number {
    let count = 0
    for (const { held } of this.#people.values()) {
      for (const holding of [...held]) {
        if (!matches(holding.caller)) continue
        count += 1
        holding.end(reason)
        this.remove(holding)
      }
    }
    return count
  }

  /** Ends what only listens: nobody waits for an answer there. */
  endListening(reason: string): void {
    for (const { held } of this.#people.values())
      for (const holding of [...held]) if (holding.listens === true) holding.end(reason)
  }

  #person(caller: C): Person<C> {
    const name = personOf(caller)
    const known = this.#people.get(name)
    if (known !== undefined) return known
    const person: Person<C> = { held: [], lasting: 0, calls: 0, watches: 0 }
    this.#people.set(name, person)
    return person
  }

  #forget(caller: C, { held, calls, watches }: Person<C>): void {
    if (held.length === 0 && calls === 0 && watches === 0) this.#people.delete(personOf(caller))
  }
}

/** What comes with each request is looked for from the end, where it is. A set would keep all that were in it: see `PassingMap`. */
function takeOut<Item>(items: Item[], item: Item): boolean {
  const at = items.lastIndexOf(item)
  const last = at < 0 ? undefined : items.pop()
  if (last === undefined) return false
  if (at < items.length) items[at] = last
  return true
}

import type { Caller } from '../service.ts'

/** Something a caller holds open: a session, a socket, a stream, a call. */
export interface Holding<C extends Caller> {
  readonly caller: C
  /** A session or socket counts against the limits; a single call does not. */
  readonly lasting: boolean
  /** Only hears of changes; has no call under way. */
  readonly listens?: boolean
  end(reason: string): void
}

/** Who holds what open, so that a revoked token's connections can be cut and nobody opens too many. */
export class CallerTable<C extends Caller> {
  readonly #byKey = new Map<string, Set<Holding<C>>>()
  readonly #lastingByKey = new Map<string, number>()
  #lasting = 0

  add(holding: Holding<C>): void {
    const key = holding.caller.key
    const held = this.#byKey.get(key)
    if (held === undefined) this.#byKey.set(key, new Set([holding]))
    else held.add(holding)
    if (holding.lasting) this.#count(key, 1)
  }

  remove(holding: Holding<C>): void {
    const key = holding.caller.key
    const held = this.#byKey.get(key)
    if (held === undefined || !held.delete(holding)) return
    if (held.size === 0) this.#byKey.delete(key)
    if (holding.lasting) this.#count(key, -1)
  }

  lastingOf(key: string): number {
    return this.#lastingByKey.get(key) ?? 0
  }

  /** Calls of one caller that stand by themselves: modern requests over HTTP. */
  callsOf(key: string): number {
    return (this.#byKey.get(key)?.size ?? 0) - this.lastingOf(key)
  }

  /** Whether one more session, socket or stream would be too many. */
  isFull(key: string, limits: { readonly sessionsPerCaller: number; readonly sessions: number }): boolean {
    return this.lastingOf(key) >= limits.sessionsPerCaller || this.#lasting >= limits.sessions
  }

  get lasting(): number {
    return this.#lasting
  }

  /** Ends what the matching callers hold. Every holding is asked: two tokens of one person may differ. */
  cut(matches: (caller: C) => boolean, reason: string): number {
    let count = 0
    for (const held of this.#byKey.values()) {
      for (const holding of held) {
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
    for (const held of this.#byKey.values()) for (const holding of held) if (holding.listens === true) holding.end(reason)
  }

  #count(key: string, by: 1 | -1): void {
    this.#lasting += by
    const next = (this.#lastingByKey.get(key) ?? 0) + by
    if (next === 0) this.#lastingByKey.delete(key)
    else this.#lastingByKey.set(key, next)
  }
}

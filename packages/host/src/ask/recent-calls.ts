import type { CallKind, PolicyCounts, ToolOutput } from '@parley/protocol'
import { countedName, isHashedName } from '@parley/policy'

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 1_440
/** Different things that are counted. What would be one more is not counted from zero: nothing is known of it. */
const COUNTED_MAX = 2_000

type Counted = Pick<ToolOutput<'host.agent_get'>, 'counted' | 'counted_from'>

export interface CountedThing {
  readonly kind: CallKind
  readonly mount: string | null
  readonly name: string
}

/** What is counted, and for how long it matters. */
export interface Counting {
  readonly minutes: number
  readonly isCounted: (thing: CountedThing) => boolean
}

interface Calls {
  readonly thing: CountedThing
  turn: number
  last: number
  /** By minute, the oldest first. The minute in which an hour or a day begins counts whole: rather one call too many than one too few. */
  readonly minutes: Map<number, number>
}

const NO_COUNTS: PolicyCounts = { turn: 0, hour: 0, day: 0 }

/**
 * How often an agent was let do each thing that some rule counts. `turn` is the turn of a local one, and the last hour for those that take no
 * turns of ours. The agent chooses names, of resources and commands even freely, so that nothing is forgotten before its time: where there
 * is no room for another name, calls of it are not known and not let through by such rules.
 */
export class RecentCalls {
  readonly #now: () => number
  readonly #takesTurns: boolean
  readonly #calls = new Map<string, Calls>()
  #counting: Counting = { minutes: 0, isCounted: () => false }
  /** The minute from which on everything is known. */
  #from = 0

  constructor(now: () => number, takesTurns: boolean) {
    this.#now = now
    this.#takesTurns = takesTurns
  }

  /** Other rules count other things, which begin with what the log says; what was counted here since stays, where it is more. */
  begin(counting: Counting, { counted, counted_from: from }: Counted): void {
    this.#counting = counting
    this.#from = from
    for (const [key, { thing }] of this.#calls)
      if (!isHashedName(thing.name) && !counting.isCounted(thing)) this.#calls.delete(key)
    for (const { minute, calls, ...thing } of counted) {
      const known = this.#of(thing)
      known.minutes.set(minute, Math.max(known.minutes.get(minute) ?? 0, calls))
      known.last = Math.max(known.last, minute)
    }
  }

  turnBegins(): void {
    for (const calls of this.#calls.values()) calls.turn = 0
  }

  /** A call that was let through is counted, whether or not there is room: it may have waited for a person meanwhile. */
  add(thing: CountedThing): void {
    if (!this.#counting.isCounted(thing)) return
    const calls = this.#of(thing)
    const minute = this.#minute()
    calls.turn += 1
    calls.last = minute
    calls.minutes.set(minute, (calls.minutes.get(minute) ?? 0) + 1)
    for (const old of calls.minutes.keys()) if (old < minute - DAY_MINUTES) calls.minutes.delete(old)
  }

  /** Null: not known, because there were too many different things. */
  of(thing: CountedThing): PolicyCounts | null {
    if (!this.#counting.isCounted(thing)) return NO_COUNTS
    const minute = this.#minute()
    if (this.#from > minute - this.#counting.minutes) return null
    const calls = this.#calls.get(keyOf(thing))
    if (calls === undefined) return this.#hasRoom(minute) ? NO_COUNTS : null
    let [hour, day] = [0, 0]
    for (const [at, count] of calls.minutes) {
      if (at >= minute - DAY_MINUTES) day += count
      if (at >= minute - HOUR_MINUTES) hour += count
    }
    return { turn: this.#takesTurns ? calls.turn : hour, hour, day }
  }

  /** Those that no rule would count any more make room. */
  #hasRoom(minute: number): boolean {
    if (this.#calls.size < COUNTED_MAX) return true
    for (const [key, { last, turn }] of this.#calls)
      if (last < minute - this.#counting.minutes && !(this.#takesTurns && turn > 0)) this.#calls.delete(key)
    return this.#calls.size < COUNTED_MAX
  }

  #of(thing: CountedThing): Calls {
    const key = keyOf(thing)
    const known = this.#calls.get(key)
    if (known !== undefined) return known
    const made = { thing: { ...thing, name: countedName(thing.name) }, turn: 0, last: 0, minutes: new Map<number, number>() }
    this.#calls.set(key, made)
    return made
  }

  #minute(): number {
    return Math.floor(this.#now() / MINUTE_MS)
  }
}

const keyOf = ({ kind, mount, name }: CountedThing): string => JSON.stringify([kind, mount, countedName(name)])

import type { CallKind, PolicyCounts, ToolOutput } from '@parley/protocol'

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 1_440
/** Different things that are counted; one more makes room by the one that was called longest ago. */
const COUNTED_MAX = 2_000

type Counted = ToolOutput<'host.agent_get'>['counted']

export interface CountedThing {
  readonly kind: CallKind
  readonly mount: string | null
  readonly name: string
}

interface Calls {
  turn: number
  /** By minute, the oldest first. The minute in which an hour or a day begins counts whole: rather one call too many than one too few. */
  readonly minutes: Map<number, number>
}

/** How often an agent was let do each thing. `turn` is the turn of a local one, and the last hour for those that take no turns of ours. */
export class RecentCalls {
  readonly #now: () => number
  readonly #takesTurns: boolean
  readonly #calls = new Map<string, Calls>()

  constructor(now: () => number, takesTurns: boolean) {
    this.#now = now
    this.#takesTurns = takesTurns
  }

  /** Begins with what the log says; what was counted here since stays, where it is more. */
  begin(counted: Counted): void {
    for (const { minute, calls, ...thing } of counted) {
      const { minutes } = this.#of(keyOf(thing))
      minutes.set(minute, Math.max(minutes.get(minute) ?? 0, calls))
    }
  }

  turnBegins(): void {
    for (const calls of this.#calls.values()) calls.turn = 0
  }

  add(thing: CountedThing): void {
    const key = keyOf(thing)
    const calls = this.#of(key)
    const minute = this.#minute()
    calls.turn += 1
    calls.minutes.set(minute, (calls.minutes.get(minute) ?? 0) + 1)
    for (const old of calls.minutes.keys()) if (old < minute - DAY_MINUTES) calls.minutes.delete(old)
    this.#calls.delete(key)
    this.#calls.set(key, calls)
  }

  of(thing: CountedThing): PolicyCounts {
    const calls = this.#calls.get(keyOf(thing))
    if (calls === undefined) return { turn: 0, hour: 0, day: 0 }
    const minute = this.#minute()
    let [hour, day] = [0, 0]
    for (const [at, count] of calls.minutes) {
      if (at >= minute - DAY_MINUTES) day += count
      if (at >= minute - HOUR_MINUTES) hour += count
    }
    return { turn: this.#takesTurns ? calls.turn : hour, hour, day }
  }

  #of(key: string): Calls {
    const known = this.#calls.get(key)
    if (known !== undefined) return known
    if (this.#calls.size >= COUNTED_MAX) this.#calls.delete(this.#calls.keys().next().value ?? '')
    const made = { turn: 0, minutes: new Map<number, number>() }
    this.#calls.set(key, made)
    return made
  }

  #minute(): number {
    return Math.floor(this.#now() / MINUTE_MS)
  }
}

const keyOf = ({ kind, mount, name }: CountedThing): string => JSON.stringify([kind, mount, name])

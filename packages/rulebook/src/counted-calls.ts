import type { AgentId, CallKind } from '@parley/protocol'
import { type LayerPolicy, countedName, isHashedName } from '@parley/policy'
import { type Store, callsLog } from '@parley/store'
import { Pace } from './pace.ts'
import { recordedFrom } from './recorded-calls.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** How far one look for the beginning of the day goes back in the log. */
const STEP_BYTES = 1024 * 1024

/** Bounds of what a host is told. Whatever is beyond them is told as more than it was, or as not known: never as less. */
const COUNTED = {
  /** Different things that are told, as many as a host has room for. Of more, those that were done last: the others are over before these. */
  things: 2_000,
  /** Different things that are remembered on the way to those. Of more, nothing is known. */
  looked: 20_000,
  /** Things times minutes that are told. Of more, the calls of each are all told as of the last minute in which there was one. */
  minutes: 20_000,
}

interface CountedCalls {
  readonly kind: CallKind
  readonly mount: string | null
  readonly name: string
  minute: number
  calls: number
}

interface Thing extends Pick<CountedCalls, 'kind' | 'mount' | 'name'> {
  readonly minutes: Map<number, number>
}

/** What an agent was let do in the last day, as far as a rule of its policies counts it; `counted_from` is the minute from which on that is all. */
export async function countedCalls(
  store: Pick<Store, 'logs' | 'now'>,
  id: AgentId,
  layers: readonly LayerPolicy[],
): Promise<{ readonly counted: CountedCalls[]; readonly counted_from: number }> {
  if (layers.every(({ policy }) => policy.countedMinutes === 0)) return { counted: [], counted_from: 0 }
  const since = store.now() - DAY_MS - MINUTE_MS
  const { offset, from } = await placeOf(store, id, since)
  const things = new Map<string, Thing>()
  const pace = new Pace()
  for await (const { at, kind, mount, name: whole, isAllowed } of recordedFrom(store, id, offset)) {
    await pace.rest()
    // Of a name of which only its hash was written down nobody knows whether a rule counts it: it is counted.
    const isCounted = isHashedName(whole) || layers.some(({ policy }) => policy.counts({ kind, mount, name: whole }))
    if (!isAllowed || at < since || !isCounted) continue
    const name = countedName(whole)
    const key = JSON.stringify([kind, mount, name])
    const { minutes } = things.get(key) ?? { minutes: new Map<number, number>() }
    minutes.set(minuteOf(at), (minutes.get(minuteOf(at)) ?? 0) + 1)
    // The one that was done last is the last.
    things.delete(key)
    things.set(key, { kind, mount, name, minutes })
    if (things.size > COUNTED.looked) return { counted: [], counted_from: minuteOf(store.now()) + 1 }
  }
  return { counted: rowsOf([...things.values()].slice(-COUNTED.things)), counted_from: from }
}

function rowsOf(things: readonly Thing[]): CountedCalls[] {
  const isMany = things.reduce((sum, { minutes }) => sum + minutes.size, 0) > COUNTED.minutes
  return things.flatMap(({ minutes, ...thing }) => {
    if (!isMany) return [...minutes].map(([minute, calls]) => ({ ...thing, minute, calls }))
    const calls = [...minutes.values()].reduce((sum, count) => sum + count, 0)
    return [{ ...thing, minute: Math.max(...minutes.keys()), calls }]
  })
}

/** A place in the log before which everything is older. `from` is 0, or the minute after the one in which a log begins that rolled since then. */
async function placeOf(
  { logs }: Pick<Store, 'logs'>,
  id: AgentId,
  since: number,
): Promise<{ readonly offset: number; readonly from: number }> {
  const log = callsLog(id)
  const [{ offset: end }, { offset: start }] = await Promise.all([logs.end(log), logs.start(log)])
  let from = 0
  for (let offset = end; offset > start;) {
    offset = Math.max(start, offset - STEP_BYTES)
    const { entries } = await logs.read(log, { from: { offset }, maxBytes: 1 })
    const [first] = entries
    if (first === undefined || first.at < since) return { offset, from: 0 }
    from = minuteOf(first.at) + 1
  }
  return { offset: start, from: start === 0 ? 0 : from }
}

const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS)

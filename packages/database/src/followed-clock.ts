import { uptime } from 'node:os'
import type { Database } from './database.ts'
import { text } from './column.ts'
import { type MachineClocks, SteadyClock } from './steady-clock.ts'

/** How often what is followed is read again. */
const FOLLOW_MS = 5_000
/** A reading that took longer says too little. */
const READING_MS = 1_000
/** How far gateways may be from the database's time before they tell each other. */
const TOLD_FROM_MS = 1_000
/** What a gateway told longer ago than this counts for nothing: nobody held anything since. */
const TOLD_FOR_MS = 60_000
/** One who says to be further off than this is not believed: the time would be in another age, and no lease lasts a hundredth of it. */
const MAX_TOLD_MS = 366 * 24 * 60 * 60_000
/** Where they tell it. It is about the gateways that run now, so it is never part of what is restored. */
export const CLOCK_SETTING = 'clock'
const MS_PER_SECOND = 1_000

export const MACHINE_CLOCKS: MachineClocks = {
  wall: Date.now,
  steady: () => performance.now(),
  uptime: () => uptime() * MS_PER_SECOND,
}

/** The time of one gateway, and what keeps it true. */
export interface FollowedClock {
  readonly now: () => number
  /** Reads what is followed. Throws `StoreUnavailable` when that does not answer. */
  set(): Promise<void>
  stop(): void
}

/** Follows the machine's time of day: a database file has one gateway. */
export function followMachine(clocks: MachineClocks): FollowedClock {
  const clock = new SteadyClock(clocks, clocks.wall())
  return followed(clock, async () => clock.follow(clocks.wall()))
}

/**
 * Follows the database's, so that all gateways read the same expiry off a lease. While they are on their way to a time that was set, they
 * write down how far they are from it, and one that starts meanwhile begins where they are.
 */
export async function followDatabase(db: Database, clocks: MachineClocks): Promise<FollowedClock> {
  const read = async (): Promise<{ readonly time: number; readonly tookMs: number }> => {
    const askedAt = clocks.steady()
    const server = await db.clock()
    const tookMs = clocks.steady() - askedAt
    return { time: server + tookMs / 2, tookMs }
  }
  const first = await read()
  const clock = new SteadyClock(clocks, first.time - (await toldAhead(db, first.time)))
  clock.follow(first.time)
  let toldMs = 0
  return followed(clock, async () => {
    const { time, tookMs } = await read()
    if (tookMs > READING_MS) return
    clock.follow(time)
    if (Math.abs(clock.aheadMs) < TOLD_FROM_MS && toldMs === 0) return
    toldMs = Math.abs(clock.aheadMs) < TOLD_FROM_MS ? 0 : Math.round(clock.aheadMs)
    await db.run(TELL, [CLOCK_SETTING, JSON.stringify({ aheadMs: toldMs, at: Math.round(time) })])
  })
}

const TELL = 'INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value'

/** How far the database's time is ahead of that of the gateways that run. */
async function toldAhead(db: Database, time: number): Promise<number> {
  const row = await db.get('SELECT value FROM settings WHERE key = $1', [CLOCK_SETTING])
  if (row === undefined) return 0
  const told = parsed(text(row, 'value'))
  if (typeof told !== 'object' || told === null || !('aheadMs' in told) || !('at' in told)) return 0
  const { aheadMs, at } = told
  if (typeof aheadMs !== 'number' || typeof at !== 'number') return 0
  return Math.abs(time - at) > TOLD_FOR_MS || Math.abs(aheadMs) > MAX_TOLD_MS ? 0 : aheadMs
}

/** What nobody can read was not told: a gateway starts all the same. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

function followed(clock: SteadyClock, set: () => Promise<void>): FollowedClock {
  // One that fails is made up for by the next.
  const timer = setInterval(() => void set().catch(() => undefined), FOLLOW_MS)
  timer.unref()
  return { now: clock.now, set, stop: () => clearInterval(timer) }
}

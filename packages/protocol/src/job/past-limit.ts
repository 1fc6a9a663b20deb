import type { CaseResult } from './case.ts'

/** How long the clock may run for a program with this much processor time: beyond it the program is idle. */
export const caseWallMs = (timeMs: number): number => Math.max(timeMs * 3, timeMs + 2_000)

/** How much more of the clock a program has that runs alone. */
export const ALONE_WALL = 2

/**
 * Which bound of the clock a program passed that was ended after so long: the one beside others, or the one alone. On a busy machine the
 * first is moved, perhaps beyond the second; that it passed both is then as true.
 */
export function passedWallMs(wallMs: number, timeMs: number): number {
  const besideMs = caseWallMs(timeMs)
  return wallMs < besideMs * ALONE_WALL ? besideMs : besideMs * ALONE_WALL
}

/** The limits of a job that a case can pass. */
export interface CaseBounds {
  readonly time_limit_ms: number
  readonly memory_limit_mb: number
}

/** What is shown of a case in place of a measured value. */
export interface PastLimit {
  readonly time?: string
  readonly memory?: string
}

const KIB = 1024
/** From here on seconds are shorter. */
const SECONDS_FROM_MS = 10_000

/**
 * How much time or memory a case that passed a limit took, for people: `>2000 ms`. It is ended somewhere behind the limit,
 * and where that was says something about the judge and nothing about the program.
 */
export function pastLimit(
  { verdict, wall_ms, memory_kb }: Pick<CaseResult, 'verdict' | 'wall_ms' | 'memory_kb'>,
  { time_limit_ms, memory_limit_mb }: CaseBounds,
): PastLimit {
  if (verdict === 'TLE') return { time: `>${durationText(time_limit_ms)}` }
  if (verdict === 'ILE') return { time: `>${durationText(passedWallMs(wall_ms, time_limit_ms))}` }
  // A program that was refused memory and gave up never had that much.
  if (verdict === 'MLE' && memory_kb >= memory_limit_mb * KIB) return { memory: `>${memory_limit_mb} MiB` }
  return {}
}

const NOT_RUN: PastLimit = { time: '–', memory: '–' }

/** What is shown of a case in place of its measured values, if anything: of one that was not run nothing was measured. */
export function shownInstead(
  result: Pick<CaseResult, 'verdict' | 'wall_ms' | 'memory_kb'>,
  bounds: CaseBounds | undefined,
): PastLimit {
  const { verdict, wall_ms } = result
  // Where the judge failed, the program may have run all the same.
  if (verdict === 'SKIP' || verdict === 'CANCELLED' || (verdict === 'SE' && wall_ms === 0)) return NOT_RUN
  return bounds === undefined ? {} : pastLimit(result, bounds)
}

/** Rounded down, so that what is said to be more than it is more. */
const durationText = (ms: number): string => (ms < SECONDS_FROM_MS ? `${ms} ms` : `${Math.floor(ms / 100) / 10} s`)

/** How much memory something took, for people. */
export function memoryText(kibibytes: number): string {
  return kibibytes < KIB ? `${kibibytes} KiB` : `${(kibibytes / KIB).toFixed(1)} MiB`
}

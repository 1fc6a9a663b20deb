import type { RunLimits } from '../sandbox.ts'
import { Starving, countsWaiting, taskAccounts } from '../starved.ts'
import { treeUsage } from './process-tree.ts'

/** A task that ends takes along what it waited since the last look. */
const LOOK_AGAIN_MS = 200

/** The clock of one run. */
export interface RunClock {
  /** How long the program was starved when that was looked at last; null: it was not looked at, or cannot be known. */
  readonly starvedMs: number | null
  stop(): void
}

/** Calls `onOver` when the run's time is over: at `wallMs`, or later by what the program was starved. Looks at nothing before. */
export function startClock(
  { wallMs, starvedWallMs = wallMs }: RunLimits,
  run: { readonly pid: number; readonly started: number },
  onOver: () => void,
): RunClock {
  const starving = new Starving()
  let starved: number | null = null
  let stopped = false
  const strike = (): void => {
    if (stopped) return
    if (starvedWallMs > wallMs && countsWaiting()) {
      const { pids, cpuMs } = treeUsage(run.pid)
      const elapsedMs = performance.now() - run.started
      const { ms, waitsStill } = starving.add(taskAccounts(pids), { cpuMs, elapsedMs })
      starved = ms
      const leftMs = (waitsStill ? starvedWallMs : Math.min(wallMs + ms, starvedWallMs)) - elapsedMs
      if (leftMs > 0) {
        timer = startTimer(Math.min(leftMs, LOOK_AGAIN_MS))
        return
      }
    }
    onOver()
  }
  // A process that was kept waiting itself hears of a program's end, which may be long past, only after its own timers.
  const startTimer = (ms: number): NodeJS.Timeout => setTimeout(() => setImmediate(strike), Math.ceil(ms))
  let timer = startTimer(wallMs)
  return {
    get starvedMs() {
      return starved
    },
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}

import type { Programs } from '@parley/contracts'
import { type Processes, capture } from '@parley/executor'

/** The programs of this machine, for rooms that may not start any themselves. */
export function programsOf(processes: Processes): Programs {
  return { start: (call) => processes.start(call), run: (call, bounds) => capture(processes, call, bounds) }
}

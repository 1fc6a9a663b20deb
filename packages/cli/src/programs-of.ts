import type { Programs } from '@parley/contracts'
import { type Processes, capture } from '@parley/executor'

/** The programs of this machine, for rooms that may not start any themselves. */
export function programsOf(processes: Processes): Programs {
  return { start: (call) => processes.start(call), run: (call, bounds) => capture(processes, call, bounds) }
}

/** The environment as a child gets it: all of the caller's. */
export const wholeEnv = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

import type { JobLogName } from '@parley/protocol'

/** In the order in which what was lost of them is told. */
export const LOG_NAMES = ['terminal', 'agent_status', 'cases'] as const satisfies readonly JobLogName[]

/** The same for each of them. */
export const ofEachLog = <Value>(make: (log: JobLogName) => Value): Record<JobLogName, Value> => ({
  terminal: make('terminal'),
  agent_status: make('agent_status'),
  cases: make('cases'),
})

/** Logs in which only whole lines have a meaning. */
export const isLines = (log: JobLogName): boolean => log !== 'terminal'

/** How each log is called on disk; `terminal.log` and `agent_status.jsonl` as the seed called them. */
export const logFile = (log: JobLogName): string => `${log}.${isLines(log) ? 'jsonl' : 'log'}`

/** Beside each log: how far it got. */
export const placeFile = (log: JobLogName): string => `${log}.place`

import { JOB_LIMITS } from '@parley/protocol'
import type { LogName } from '../held-job.ts'

export const LOG_NAMES = ['terminal', 'agent_status', 'cases'] as const satisfies readonly LogName[]

/** How each log is called on disk; the first two as the seed called them. */
export const LOG_FILES: Readonly<Record<LogName, string>> = {
  terminal: 'terminal.log',
  agent_status: 'agent_status.jsonl',
  cases: 'cases.jsonl',
}

/** How large each log may get, here as at the gateway. */
export const LOG_BYTES: Readonly<Record<LogName, number>> = {
  terminal: JOB_LIMITS.terminalLogBytes,
  agent_status: JOB_LIMITS.agentStatusLogBytes,
  cases: JOB_LIMITS.casesLogBytes,
}

/** Beside each log: how far it got. */
export const placeFile = (log: LogName): string => `${log}.place`

/** Logs in which only whole lines have a meaning. */
export const isLines = (log: LogName): boolean => log !== 'terminal'

import type { AgentStatusItem } from '@parley/protocol'
import { plainText } from '@parley/screen'

type Status = Pick<AgentStatusItem, 'stage' | 'level' | 'summary' | 'meta'>

/** Whether it tells how a test or the job ended, in whichever way. */
export function isEndStatus({ stage }: Pick<Status, 'stage'>): boolean {
  return stage === 'done' || stage === 'error'
}

/** One step of a job on one line: where it is, how bad it is if it is, and what it says. */
export function statusText({ stage, level, summary, meta }: Status): string {
  // How a test ended is said by the test; "error" and "done" are about what comes after.
  const where = meta['phase'] === 'end' ? 'test' : stage
  const isSaid = level === 'info' || isEndStatus({ stage })
  return `${where}${isSaid ? '' : ` (${level === 'warn' ? 'warning' : level})`}: ${plainText(summary)}`
}

import type { MountStatus } from '@parley/agent'
import type { MountReport } from '@parley/protocol'

const ERROR_CHARS = 2_000

/** What people are told of a mount; all of it is in `compositor://{mount}/state`. */
export function mountReport({ name, state, tools, restarts, last_error: error }: MountStatus): MountReport {
  return { name, state, tools: tools.length, restarts, error: error?.slice(0, ERROR_CHARS) ?? null }
}

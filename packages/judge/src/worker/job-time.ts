import { JOB_LIMITS, type JobSpec, MANIFEST_PATH, caseWallMs } from '@parley/protocol'
import { STARVED_WALL } from '../box/starved.ts'
import { AUTHOR_LIMITS } from '../test/case-limits.ts'

/** Two runs beside others, one alone with twice the time, and as much again for slow languages and busy cores; all of it starved. */
const RUNS_PER_CASE = 5

/** How long one test of a job may take: what its limits allow at the very most, and never more than `mostMs`. */
export function jobTimeMs(
  { limits, tests }: Pick<JobSpec, 'limits' | 'tests'>,
  paths: readonly string[],
  { slackMs, mostMs }: { readonly slackMs: number; readonly mostMs: number },
): number {
  // Without a manifest a case has a file of its own; with one, any number of cases may share theirs.
  const cases = paths.includes(MANIFEST_PATH) ? JOB_LIMITS.zipEntries : paths.length
  const authorMs = tests.checker === null && tests.interactor === null ? 0 : AUTHOR_LIMITS.starvedWallMs
  return Math.min(mostMs, slackMs + cases * (RUNS_PER_CASE * STARVED_WALL * caseWallMs(limits.time_limit_ms) + authorMs))
}

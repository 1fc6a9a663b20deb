import { isDeepStrictEqual } from 'node:util'
import { JobPatch, type JobState, type ReportSummary, type ToolError, wrongArgument } from '@parley/protocol'
import type { StatePatch } from '@parley/store'
import { type Judgeable, checkCounts, countsOfSuccess } from './counts.ts'

/** What a judge repeats when it sends the whole state; the gateway alone says what they are. */
const OURS: ReadonlySet<string> = new Set(['started_at', 'finished_at', 'expires_at', 'artifacts', 'unjudged'])
const THEIRS: ReadonlySet<string> = new Set(Object.keys(JobPatch.shape))
const CONTAINERS_MAX_CHARS = 16_384
/** It stands in every state and every list. */
const SUMMARY_MAX_CHARS = 32_768

/**
 * What a judge's patch changes. Judges may send the whole state: what is as it was is no change, and whatever is not
 * theirs to set must be as it was.
 */
export function readPatch(patch: Record<string, unknown>, state: JobState): StatePatch {
  const now: Record<string, unknown> = state
  const wanted: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(patch)) {
    if (OURS.has(field) || (field in now && isDeepStrictEqual(value, now[field]))) continue
    if (!THEIRS.has(field)) throw wrong(field, 'is not for a judge to set')
    wanted[field] = value
  }
  const parsed = JobPatch.safeParse(wanted)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw wrong((issue?.path ?? []).map(String).join('.'), issue?.message ?? 'is wrong')
  }
  const { status, attempt, error, summary, containers } = parsed.data
  if (summary !== undefined && JSON.stringify(summary).length > SUMMARY_MAX_CHARS)
    throw wrong('summary', `must have at most ${SUMMARY_MAX_CHARS} characters as JSON`)
  return {
    ...(status === undefined ? {} : { status }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(error === undefined ? {} : { error }),
    ...(summary === undefined ? {} : { summary }),
    ...(containers === undefined ? {} : { containers: containersText(containers, state.containers) }),
  }
}

/**
 * The patch with counts that can be true of the job. Whoever sets `succeeded` sets the counts that were checked with it, so that
 * no other patch of the same judge comes between.
 */
export function withCounts(patch: StatePatch, now: ReportSummary | null, job: Judgeable): StatePatch {
  const { status, summary = now } = patch
  if (summary !== null && (patch.summary !== undefined || status === 'succeeded'))
    checkCounts(summary, job, status, 'patch.summary')
  return status === 'succeeded' ? { ...patch, summary: countsOfSuccess(summary, job) } : patch
}

function containersText(given: NonNullable<JobPatch['containers']>, now: JobState['containers']): string {
  const text = JSON.stringify({ ...now, ...given })
  if (text.length > CONTAINERS_MAX_CHARS)
    throw wrong('containers', `must have at most ${CONTAINERS_MAX_CHARS} characters as JSON`)
  return text
}

const wrong = (field: string, fault: string): ToolError => wrongArgument(field === '' ? 'patch' : `patch.${field}`, fault)

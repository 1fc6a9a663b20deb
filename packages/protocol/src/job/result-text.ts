import type { ReportSummary } from './report.ts'
import { type JobError, type JobStatus, isEnd } from './status.ts'
import { isUnjudged, unjudgedWords } from './unjudged.ts'

type Counts = Pick<ReportSummary, 'total' | 'judged' | 'run_only' | 'passed' | 'skipped'>

/** Of a job, what says how it went. */
export interface JobResult {
  readonly status: JobStatus
  readonly model: string | null
  readonly started_at: string | null
  readonly summary: ReportSummary | null
  readonly error: JobError | null
}

/** How many cases passed. Those of which no answer was judged are counted apart, because nothing is known of them. */
export function countsText({ total, judged, run_only, passed, skipped }: Counts): string {
  if (judged === total) return `${passed} of ${total} passed`
  return [
    ...(judged > 0 ? [`${passed} of ${judged} judged ${judged === 1 ? 'case' : 'cases'} passed`] : []),
    ...restTexts({ run_only, skipped }),
  ].join(', ')
}

/** The same in as few characters as a table has room for; empty where no case was judged. */
export function shortCountsText({ judged, run_only, passed, skipped }: Counts): string {
  return judged === 0 ? '' : [`${passed}/${judged}`, ...restTexts({ run_only, skipped })].join(', ')
}

const restTexts = ({ run_only, skipped }: Pick<Counts, 'run_only' | 'skipped'>): readonly string[] => [
  ...(run_only > 0 ? [`${run_only} only run`] : []),
  ...(skipped > 0 ? [`${skipped} not run`] : []),
]

/** What a job that ended proved, the same words wherever it is shown; empty while it has not ended. */
export function resultText(job: JobResult): string {
  const { status, started_at, summary, error } = job
  if (!isEnd(status)) return ''
  if (isUnjudged(job)) {
    const { what, why } = unjudgedWords(job)
    return `${what}: ${why}`
  }
  if (summary !== null && summary.judged + summary.run_only > 0) return countsText(summary)
  // A judge that tells no counts may have judged all the same.
  if (summary === null && status === 'succeeded') return ''
  // One that a judge had begun may have run cases; without its counts, which come after the cancel, nobody can tell.
  if (summary === null && status === 'cancelled' && started_at !== null) return ''
  // Some may have been under way.
  if (summary !== null && status === 'cancelled') return 'no case was finished'
  const isCompiled = error?.code !== 'compile_error' && summary?.first_failure_verdict !== 'CE'
  return isCompiled ? 'no case was run' : 'not compiled: no case was run'
}

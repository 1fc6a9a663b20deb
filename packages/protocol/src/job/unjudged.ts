import type { ReportSummary } from './report.ts'
import type { JobStatus } from './status.ts'

/**
 * Whether a job ended well although no case of it was judged: nothing is known about what the program answers. A judge that
 * tells no counts says by `succeeded` alone that it judged; of a job with nothing to judge by the gateway counts for it.
 */
export function isUnjudged({
  status,
  summary,
}: {
  readonly status: JobStatus
  readonly summary: Pick<ReportSummary, 'judged'> | null
}): boolean {
  return status === 'succeeded' && summary?.judged === 0
}

/** What was done with an unjudged job instead, and why there is no verdict. */
export interface UnjudgedWords {
  readonly what: string
  readonly why: string
}

export function unjudgedWords({
  model,
  summary,
}: {
  /** Null: the code was handed in. */
  readonly model: string | null
  readonly summary: Pick<ReportSummary, 'total' | 'run_only'> | null
}): UnjudgedWords {
  if (summary === null || summary.total === 0)
    return { what: `${model === null ? '' : 'written and '}compiled, not judged`, why: 'the job has no tests' }
  return { what: summary.run_only > 0 ? 'ran, not judged' : 'not run, not judged', why: 'the tests have no answers' }
}

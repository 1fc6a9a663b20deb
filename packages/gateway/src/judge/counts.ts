import { type JobStatus, NO_CASES, ReportSummary, isUnjudged, wrongArgument } from '@parley/protocol'
import type { JobInputs } from '@parley/store'

const Counts = ReportSummary.pick({ total: true, judged: true, run_only: true, passed: true, failed: true, skipped: true })
type Counts = Pick<ReportSummary, keyof typeof Counts.shape>

/** What a judge can know of a job at most. */
export interface Judgeable {
  readonly cases: number
  /** Of how many cases an answer can be told right: a case has an answer, or a program judges all of them. */
  readonly answers: number
  readonly runsWithoutAnswer: boolean
}

export function judgeableOf({ spec, cases }: Pick<JobInputs, 'spec' | 'cases'>): Judgeable {
  const { checker, interactor, run_if_no_expected: runsWithoutAnswer } = spec.tests
  const hasProgram = checker !== null || interactor !== null
  const answers = hasProgram ? cases.length : cases.filter(({ expected_present }) => expected_present).length
  return { cases: cases.length, answers, runsWithoutAnswer }
}

/** Throws `invalid_argument` at the first count, below `field`, that cannot be true of this job. */
export function checkCounts(counts: Counts, job: Judgeable, status: JobStatus | undefined, field: string): void {
  const { total, judged, run_only, passed, failed, skipped } = counts
  const refuse = (name: keyof Counts, fault: string): never => {
    throw wrongArgument(`${field}.${name}`, fault)
  }
  for (const name of Counts.keyof().options) if (counts[name] < 0) refuse(name, 'must not be below 0')
  if (total > job.cases) refuse('total', `the job has ${job.cases} cases`)
  if (passed + failed !== judged) refuse('judged', 'must be passed and failed together')
  if (judged + run_only + skipped > total) refuse('total', 'is less than judged, run_only and skipped together')
  // One without an answer can fail, by a crash for one, and cannot pass.
  if (passed > job.answers) refuse('passed', `${job.answers} cases of the job can be judged`)
  if (status === 'succeeded' && failed > 0) refuse('failed', 'a job with a failed case has not succeeded')
}

/**
 * The counts of a job that succeeded. Where its judge told none and there was nothing to judge by, these are ours; where there
 * was, a judge that tells no counts says by `succeeded` alone that it judged.
 */
export function countsOfSuccess(told: ReportSummary | null, job: Judgeable): ReportSummary | null {
  if (told !== null || job.answers > 0) return told
  const { cases: total, runsWithoutAnswer } = job
  return { ...NO_CASES, total, ...(runsWithoutAnswer ? { run_only: total } : { skipped: total }) }
}

/** A report as it is stored: with counts that can be true, and with the gateway's word on what is the gateway's to say. */
export function checkedReport(report: Readonly<Record<string, unknown>>, job: Judgeable): Record<string, unknown> {
  const status = report['status'] === 'succeeded' ? 'succeeded' : 'failed'
  // Judges of the first protocol may have other counts, or none.
  const counts = Counts.safeParse(report['summary']).data ?? null
  if (counts !== null) checkCounts(counts, job, status, 'report_json.summary')
  const unjudged = isUnjudged({ status, summary: counts ?? countsOfSuccess(null, job) })
  return unjudged || 'unjudged' in report ? { ...report, unjudged } : report
}

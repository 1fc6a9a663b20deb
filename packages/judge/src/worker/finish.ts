import { JOB_LIMITS, type JobError, type Report, type SandboxFacts, mainFile, untestedReport } from '@parley/protocol'
import { caseItem } from '../report/case-result.ts'
import { fitReport } from './fit-report.ts'
import type { Artifacts, HeldJob } from './held-job.ts'
import type { JobLogs } from './job-logs.ts'
import type { Outcome } from './work-on.ts'

export interface FinishParts {
  readonly job: HeldJob
  readonly logs: JobLogs
  readonly judgeName: string
  readonly sandbox: SandboxFacts
}

/** Tells the gateway how a job ended: logs, then artifacts, then the state, then the claim. Whoever sees the end sees all of it. */
export async function finish(
  outcome: Outcome,
  parts: FinishParts,
): Promise<'ended' | 'cancelled' | 'given-back' | 'unsupported'> {
  const { job, logs } = parts
  if (outcome.kind === 'unsupported') return giveBack(parts, 'unsupported', `${outcome.spec.language} is not on this machine`)
  if (job.reason === 'unfinished' && isStopped(outcome)) return giveBack(parts, 'unfinished', GIVEN_BACK)
  if (job.reason === 'cancel') {
    tellCancelled(outcome, parts)
    await logs.flush()
    if (outcome.kind === 'reported') {
      await job.putArtifacts(artifactsOf(outcome, outcome.report))
      await job.patch({ summary: outcome.report.summary })
    }
    await job.release('done')
    return 'cancelled'
  }
  const { report, error } = verdictOf(outcome, parts)
  // A test that came to its own end has said so itself.
  if (outcome.kind !== 'reported' || outcome.report !== report)
    logs.status({ stage: 'error', level: 'error', summary: `${error?.code}: ${error?.message}` })
  await logs.flush()
  const code = 'code' in outcome && outcome.code !== undefined
  if (report !== undefined || code) await job.putArtifacts(artifactsOf(outcome, report))
  const status = report?.status === 'succeeded' && error === null ? 'succeeded' : 'failed'
  await job.patch({ status, error, ...(report === undefined ? {} : { summary: report.summary }) })
  await job.release('done')
  return 'ended'
}

const GIVEN_BACK = 'given back: this judge ends; another goes on'

/** Says once that somebody cancelled it and how far it had come, and lists the cases that are therefore not run. */
function tellCancelled(outcome: Outcome, { job, logs }: FinishParts): void {
  const report = outcome.kind === 'reported' && outcome.report.status === 'cancelled' ? outcome.report : undefined
  const { claim, attempt, tests } = report ?? { claim: job.claim.claim, attempt: 1, tests: [] }
  for (const [index, result] of tests.entries())
    if (result.verdict === 'CANCELLED') logs.caseDone(caseItem(result, { claim, attempt, index, total: tests.length }))
  const summary = report?.error?.message ?? 'cancelled'
  if (report !== undefined) logs.terminal(`${summary}\n`)
  // It was wished for, so it is no warning.
  const phase = report === undefined ? {} : { phase: 'end' }
  logs.status({ stage: 'done', level: 'info', summary, meta: { ...phase, status: 'cancelled' } })
}

async function giveBack(
  { job, logs }: FinishParts,
  reason: 'unfinished' | 'unsupported',
  summary: string,
): Promise<'given-back' | 'unsupported'> {
  logs.status({ stage: 'analysis', level: 'warn', summary })
  await logs.flush()
  await job.release(reason)
  return reason === 'unfinished' ? 'given-back' : 'unsupported'
}

/** A report that was whole before the word to stop came stays a report. */
function isStopped(outcome: Outcome): boolean {
  return outcome.kind === 'stopped' || (outcome.kind === 'reported' && outcome.report.status === 'cancelled')
}

function verdictOf(
  outcome: Exclude<Outcome, { kind: 'unsupported' }>,
  parts: FinishParts,
): { readonly report: Report | undefined; readonly error: JobError | null } {
  const failed = (error: JobError, attempt: number): { report: Report | undefined; error: JobError } => {
    const { spec } = outcome
    if (spec === undefined) return { report: undefined, error }
    const { jobId, claim } = parts.job.claim
    const about = { jobId, ownerId: spec.owner_user_id, attempt, claim, judge: parts.judgeName, sandbox: parts.sandbox, error }
    return { report: untestedReport(spec, about), error }
  }
  if (outcome.kind === 'failed') return failed(outcome.error, outcome.attempt)
  if (outcome.kind === 'stopped') return failed(TIMED_OUT, 1)
  if (outcome.report.status !== 'cancelled') return { report: outcome.report, error: outcome.report.error }
  return { report: { ...outcome.report, status: 'failed', error: TIMED_OUT }, error: TIMED_OUT }
}

const TIMED_OUT: JobError = {
  code: 'job_timeout',
  message: 'the whole job took longer than its limits can explain, and was ended',
}

function artifactsOf(outcome: Outcome, report: Report | undefined): Artifacts {
  const code = 'code' in outcome ? outcome.code : undefined
  const main = code === undefined || outcome.spec === undefined ? undefined : mainFile(outcome.spec.language)
  const solution = outcome.kind === 'reported' ? outcome.solution : undefined
  return {
    attempt: 'attempt' in outcome ? outcome.attempt : 1,
    ...(main === undefined || code === undefined ? {} : main === 'main.cpp' ? { main_cpp: code } : { files: { [main]: code } }),
    ...(solution === undefined ? {} : { solution_json: { ...solution } }),
    ...(report === undefined ? {} : { report_json: { ...fitReport(report, JOB_LIMITS.artifactBytes) } }),
  }
}

import { describe, expect, test } from 'vitest'
import { Report, type ReportSummary } from './report.ts'
import { type JobResult, countsText, resultText, shortCountsText } from './result-text.ts'
import { JobStatus } from './status.ts'
import { isUnjudged, unjudgedWords } from './unjudged.ts'
import { untestedReport } from './untested-report.ts'

const SPEC = {
  language: 'cpp',
  limits: {
    time_limit_ms: 1,
    memory_limit_mb: 1,
    cpus: 1,
    pids_limit: 1,
    max_output_bytes_per_test: 1,
    max_terminal_log_bytes: 1,
  },
  compile: { cpp_std: null },
  tests: { compare: { mode: 'tokens', tolerance: null } },
} as const
const FAILED = { code: 'tests_failed', message: '' }
const UNTESTED = untestedReport(SPEC, {
  jobId: 'job_1',
  ownerId: null,
  attempt: 1,
  claim: 1,
  judge: null,
  sandbox: null,
  error: FAILED,
})
const counts = (more: Partial<ReportSummary>): ReportSummary => ({ ...UNTESTED.summary, ...more })
const job = (more: Partial<JobResult>): JobResult => ({
  status: 'succeeded',
  model: null,
  started_at: null,
  summary: null,
  error: null,
  ...more,
})

describe('a job that nobody judged', () => {
  test('is one that succeeded without a judged case, and nothing else', () => {
    for (const status of JobStatus.options) {
      expect(isUnjudged({ status, summary: counts({ total: 2, run_only: 2 }) })).toBe(status === 'succeeded')
      expect(isUnjudged({ status, summary: counts({ total: 3, judged: 1, passed: 1, run_only: 2 }) })).toBe(false)
      expect(isUnjudged({ status, summary: null })).toBe(false)
    }
  })

  test.each([
    [{ total: 2, run_only: 2 }, null, 'ran, not judged', 'the tests have no answers'],
    [{ total: 2, skipped: 2 }, null, 'not run, not judged', 'the tests have no answers'],
    [{ total: 0 }, null, 'compiled, not judged', 'the job has no tests'],
    [{ total: 0 }, 'm', 'written and compiled, not judged', 'the job has no tests'],
  ])('says what was done and why: %o %s', (summary, model, what, why) => {
    expect(unjudgedWords({ model, summary: counts(summary) })).toEqual({ what, why })
    expect(resultText(job({ model, summary: counts(summary) }))).toBe(`${what}: ${why}`)
    expect(shortCountsText(counts(summary))).toBe('')
  })
})

test('only judged cases pass; the others are counted apart', () => {
  expect(countsText(counts({ total: 3, judged: 3, passed: 2 }))).toBe('2 of 3 passed')
  expect(countsText(counts({ total: 5, judged: 3, passed: 3, run_only: 2 }))).toBe('3 of 3 judged cases passed, 2 only run')
  expect(countsText(counts({ total: 5, judged: 1, passed: 0, run_only: 1, skipped: 3 }))).toBe(
    '0 of 1 judged case passed, 1 only run, 3 not run',
  )
  expect(shortCountsText(counts({ total: 5, judged: 3, passed: 3, run_only: 2 }))).toBe('3/3, 2 only run')
  expect(shortCountsText(counts({ total: 2, judged: 2, passed: 1 }))).toBe('1/2')
})

test.each<[string, Partial<JobResult>, string]>([
  ['it runs', { status: 'running_test' }, ''],
  ['it passed', { summary: counts({ total: 2, judged: 2, passed: 2 }) }, '2 of 2 passed'],
  ['a judge that tells no counts', {}, ''],
  [
    'it does not compile',
    { status: 'failed', error: { code: 'compile_error', message: '' }, summary: counts({ total: 2, skipped: 2 }) },
    'not compiled: no case was run',
  ],
  [
    'it does not compile and the model gave up',
    { status: 'failed', error: { code: 'budget_tokens', message: '' }, summary: counts({ first_failure_verdict: 'CE' }) },
    'not compiled: no case was run',
  ],
  ['it failed before', { status: 'failed', error: { code: 'engine_missing', message: '' } }, 'no case was run'],
  ['it was cancelled before', { status: 'cancelled' }, 'no case was run'],
  ['it was cancelled under a judge that told no counts', { status: 'cancelled', started_at: '2026-01-01T00:00:00.000Z' }, ''],
  [
    'it was cancelled before any was finished',
    { status: 'cancelled', summary: counts({ total: 9, judged: 0, passed: 0, skipped: 9 }) },
    'no case was finished',
  ],
  [
    'it was cancelled in the middle',
    { status: 'cancelled', summary: counts({ total: 9, judged: 2, passed: 2, skipped: 7 }) },
    '2 of 2 judged cases passed, 7 not run',
  ],
  [
    'one crashed where none has an answer',
    { status: 'failed', error: FAILED, summary: counts({ total: 2, judged: 1, run_only: 1 }) },
    '0 of 1 judged case passed, 1 only run',
  ],
])('what an ended job proved: %s', (_, more, text) => {
  expect(resultText(job(more))).toBe(text)
})

test('a report from before this was said is read, and says nothing about it', () => {
  const { unjudged: _, ...old } = UNTESTED
  expect(Report.parse(old)).toEqual({ ...UNTESTED, unjudged: false })
  expect(Report.parse({ ...UNTESTED, unjudged: true }).unjudged).toBe(true)
})

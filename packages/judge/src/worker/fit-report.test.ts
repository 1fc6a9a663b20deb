import { type CaseResult, JOB_LIMITS, Report, untestedReport } from '@parley/protocol'
import { expect, test } from 'vitest'
import { specOf } from '../fixture/open-bench.ts'
import { fitReport } from './fit-report.ts'

const CASES = JOB_LIMITS.zipEntries

test('a report that fits stays as it is', () => {
  const report = reportOf({ message: 'wrong' }, 3)
  expect(fitReport(report, JOB_LIMITS.artifactBytes)).toBe(report)
})

test('what passed cases printed goes first', () => {
  const report = reportOf({ verdict: 'AC', stdout_b64: 'x'.repeat(5_000) }, CASES)
  const fitted = fitReport(report, JOB_LIMITS.artifactBytes)
  expect(fitted.tests[0]).toMatchObject({ verdict: 'AC', stdout_b64: '', stdout_truncated: true })
  expect(fitted.notes).toHaveLength(1)
})

test.each<[string, Partial<CaseResult>]>([
  ['words of a checker', { message: '"'.repeat(4_000), diff: diffOf('"'.repeat(4_000)) }],
  ['long names full of quotes', { name: '"'.repeat(994), group: '"'.repeat(255), input_rel: '"'.repeat(1_006), message: 'x' }],
])('the largest report there can be fits: %s', (_what, more) => {
  const fitted = fitReport(reportOf(more, CASES), JOB_LIMITS.artifactBytes)
  expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThanOrEqual(JOB_LIMITS.artifactBytes)
  expect(Report.parse(fitted).tests).toHaveLength(CASES)
  expect(fitted.tests.at(-1)).toMatchObject({ verdict: 'WA', time_ms: 12.5, name: more.name ?? 'a' })
})

function diffOf(message: string): NonNullable<CaseResult['diff']> {
  return { ok: false, mode: 'checker', message, expected_preview_b64: '', actual_preview_b64: '' }
}

function reportOf(more: Partial<CaseResult>, cases: number): Report {
  const result: CaseResult = {
    name: 'a',
    group: 'default',
    input_rel: 'tests/a.in',
    expected_rel: 'tests/a.out',
    expected_present: true,
    hidden: false,
    verdict: 'WA',
    exit_code: 0,
    signal: null,
    timeout: false,
    output_limit_exceeded: false,
    time_ms: 12.5,
    wall_ms: 13.5,
    memory_kb: 4_096,
    stdout_b64: '',
    stderr_b64: '',
    stdout_truncated: false,
    stderr_truncated: false,
    diff: null,
    message: null,
    points: 1,
    score: 0,
    reruns: 0,
    ...more,
  }
  const sandbox = { driver: 'none', tier: '', enforced: {}, missing: [] }
  const empty = untestedReport(specOf({ language: 'cpp', code: '' }, 'job_1'), {
    jobId: 'job_1',
    ownerId: null,
    attempt: 1,
    claim: 1,
    judge: 'j',
    sandbox,
    error: { code: 'tests_failed', message: 'x' },
  })
  return { ...empty, tests: Array.from({ length: cases }, () => result) }
}

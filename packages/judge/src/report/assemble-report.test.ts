import { expect, test } from 'vitest'
import { specOf } from '../fixture/open-bench.ts'
import { type ReportParts, assembleReport } from './assemble-report.ts'

const NOTHING: ReportParts = {
  request: {
    spec: specOf({ language: 'cpp', code: 'x' }, 'job_1'),
    code: 'x',
    inputFolder: '/nowhere',
    attempt: 1,
    claim: 1,
    judgeName: 'j',
  },
  languageVersion: null,
  cppStandard: null,
  sandbox: { driver: 'none', tier: '', enforced: {}, missing: [] },
  discovery: null,
  compile: null,
  results: [],
  isCancelled: false,
  error: null,
}

test('a solution that nothing was done with has not succeeded, whatever the reason', () => {
  expect(assembleReport(NOTHING)).toMatchObject({ status: 'failed', error: { code: 'judge_error' } })
  expect(assembleReport({ ...NOTHING, isCancelled: true })).toMatchObject({ status: 'cancelled' })
})

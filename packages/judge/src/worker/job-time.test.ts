import type { JobSpec } from '@parley/protocol'
import { expect, test } from 'vitest'
import { specOf } from '../fixture/open-bench.ts'
import { jobTimeMs } from './job-time.ts'

const BOUNDS = { slackMs: 1_000, mostMs: 3_600_000 }
const program = { language: 'cpp', source: 'x' } as const

test.each<[string, JobSpec, readonly string[], number]>([
  [
    'every case may use its clock to the end, on a machine that keeps it waiting',
    specWith(2_000),
    ['tests/1.in', 'tests/1.out'],
    1_000 + 2 * 150_000,
  ],
  ['sleepers have two seconds however short their limit is', specWith(1), ['tests/1.in'], 1_000 + 25 * 2_001],
  ['a checker has time of its own', specWith(1_000, program), ['tests/1.in'], 1_000 + 25 * 3_000 + 300_000],
  ['cases of a manifest may share one file', specWith(2_000), ['tests/manifest.json', 'tests/1.in'], BOUNDS.mostMs],
])('%s', (_what, spec, paths, ms) => {
  expect(jobTimeMs(spec, paths, BOUNDS)).toBe(ms)
})

function specWith(timeMs: number, checker: typeof program | null = null): JobSpec {
  return specOf({ language: 'cpp', code: '', timeMs, tests: { checker } }, 'job_1')
}

import { expect, test } from 'vitest'
import { type RunResult, compareRuns } from './compare.ts'
import { listFindings } from './report.ts'

const passed = { state: 'passed' } as const
const skipped = { state: 'skipped' } as const
const failed = (error: string) => ({ state: 'failed', error }) as const
const runs = (...all: readonly Partial<RunResult>[]): readonly RunResult[] =>
  all.map((run, index) => ({ seed: 7 + index, outside: [], ...run }))

test('what is the same each time is not listed', () => {
  const tests = { good: passed, left: skipped }
  expect(compareRuns(runs({ tests }, { tests }))).toEqual({ changing: [], failing: [], outside: [] })
})

test('what fails at times is listed with its runs and seeds, and apart from what fails each time', () => {
  const found = compareRuns(
    runs(
      { tests: { flips: passed, breaks: failed('E: a') } },
      { tests: { flips: failed('E: late'), breaks: failed('E: b') } },
      { tests: { flips: passed, breaks: failed('E: c') } },
    ),
  )
  expect(found.changing).toEqual([{ what: 'flips', runs: [{ run: 2, seed: 8, words: 'E: late' }], of: 3 }])
  expect(found.failing.map(({ what, runs: at }) => [what, at.map(({ words }) => words)])).toEqual([
    ['breaks', ['E: a', 'E: b', 'E: c']],
  ])
})

test('a test that is left out or missing at times is not the same each time', () => {
  const { changing } = compareRuns(runs({ tests: { a: passed, b: passed } }, { tests: { a: skipped } }))
  expect(changing.map(({ what, runs: at }) => [what, at.map(({ run, words }) => `${run}: ${words}`)])).toEqual([
    ['a', ['2: it was skipped']],
    ['b', ['2: it was not run']],
  ])
  const odd = compareRuns(runs({ tests: { a: skipped } }, { tests: { a: failed('E: x') } }))
  expect(odd.changing).toEqual([{ what: 'a', runs: [{ run: 2, seed: 8, words: 'E: x' }], of: 2 }])
})

test('a crash of the runner is listed, and the tests of that run are not held against it', () => {
  const found = compareRuns(runs({ tests: { a: passed } }, { outside: ['the runner ended with 137'] }, { tests: { a: passed } }))
  expect(found).toEqual({
    changing: [],
    failing: [],
    outside: [{ what: 'the runner ended with 137', runs: [{ run: 2, seed: 8, words: '' }], of: 3 }],
  })
})

test('with one run what fails has failed each time', () => {
  expect(compareRuns(runs({ tests: { a: failed('E: x') } })).failing).toHaveLength(1)
})

test('each finding is listed with its seed, its log and the command that repeats it', () => {
  const findings = compareRuns(
    runs({ tests: { 'a.test.ts > flips': passed } }, { tests: { 'a.test.ts > flips': failed('E: late') } }),
  )
  const part = { name: 'room-2', tests: 1, findings, logs: ['/l/1', '/l/2'] }
  expect(listFindings([part], { paths: ["it's"], times: 2, load: true, seed: 7 })).toEqual([
    'not the same each time:',
    '  a.test.ts > flips',
    '    in 1 of 2 runs of room-2',
    '    run 2, seed 8: E: late, log /l/2',
    String.raw`    again: npm run flake -- 'it'\''s' --part room-2 --seed 8 --times 1 --load`,
    '',
  ])
})

import { expect, test, vi } from 'vitest'
import { WorkClock } from '../box/work-clock.ts'
import { openBench } from '../fixture/open-bench.ts'
import { SOLUTIONS } from '../fixture/solutions.ts'

const HOUR_MS = 3_600_000
const sleeper = 'import time\ntime.sleep(3)\n'
const inputs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}.in`, '2 3\n']))

test('a short job is done while one with long cases is at its next, and its clock stands until it gets a core', async () => {
  await using bench = await openBench({ cores: 1 })
  const enough = new AbortController()
  const begun = Promise.withResolvers<void>()
  let done = 0
  const long = bench.judge({
    language: 'python',
    code: sleeper,
    owner: 'ann',
    timeMs: 10_000,
    files: inputs(20),
    signal: enough.signal,
    onCase: () => {
      done += 1
      begun.resolve()
    },
  })
  await begun.promise
  const clock = new WorkClock(HOUR_MS, () => undefined)
  const doneBefore = done
  const short = bench.judge({ language: 'python', code: SOLUTIONS.python.right, owner: 'bob', files: inputs(4), clock })
  await vi.waitFor(() => expect(clock.runs).toBe(false), { timeout: 60_000, interval: 10 })
  const { report } = await short
  expect(report.tests.map(({ verdict }) => verdict)).toEqual(['RUN', 'RUN', 'RUN', 'RUN'])
  // One of Ann's was under way, and one more begins when Bob has had as much as that.
  expect(done - doneBefore).toBeLessThanOrEqual(2)
  expect(clock.runs).toBe(true)
  clock.stop()
  enough.abort()
  expect((await long).report.status).toBe('cancelled')
})

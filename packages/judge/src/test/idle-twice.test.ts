import type { Box, RunOutcome, RunRequest, Sandbox } from '@parley/sandbox'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'

const ADDS = '#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); }'
const SLEEPS = '#include <unistd.h>\nint main(void) { for (;;) pause(); }'
const FILES = { '1.in': '20 22\n', '1.out': '42\n', '2.in': '1 1\n', '2.out': '2\n' }

let bench: Bench
/** How many runs more the machine stands still in, and how many programs were run in all. */
let still = 0
let runs = 0

beforeAll(async () => {
  bench = await openBench({ around: standingStill })
})
afterAll(() => bench[Symbol.asyncDispose]())
beforeEach(() => {
  still = 0
  runs = 0
})

test('a program that ran into a machine that stood still is run again and gets its right verdict', async () => {
  still = 1
  const { report, terminal } = await bench.judge({ language: 'c', code: ADDS, files: FILES, timeMs: 300 })
  expect(report.tests.map(({ verdict }) => verdict)).toEqual(['AC', 'AC'])
  expect(report.tests.reduce((sum, { reruns }) => sum + reruns, 0)).toBe(1)
  expect(terminal).toContain('(run again)')
})

test('one that seems idle twice is idle', async () => {
  still = 4
  const { report } = await bench.judge({ language: 'c', code: ADDS, files: FILES, timeMs: 300 })
  expect(report.tests.map(({ verdict }) => verdict)).toEqual(['ILE', 'ILE'])
  // The other one is not run again where this one was done with both of its runs before that had ended once.
  expect(report.tests.map(({ reruns }) => reruns)).toContain(1)
})

test('only the first idle cases of a test are run twice', async () => {
  const names = Array.from({ length: 4 }, (_, index) => `${index + 1}.in`)
  const files = Object.fromEntries(names.map((name) => [name, '']))
  const { report } = await bench.judge({ language: 'c', code: SLEEPS, files, timeMs: 200 })
  expect(new Set(report.tests.map(({ verdict }) => verdict))).toEqual(new Set(['ILE']))
  // Two at a time, on two cores.
  expect(runs).toBeLessThanOrEqual(names.length + 2)
  expect(runs).toBeGreaterThan(names.length)
})

/** What a box says of a program whose machine stood still until its clock had run out. */
function standingStill(sandbox: Sandbox): Sandbox {
  const heldUp = async (box: Box, request: RunRequest, signal?: AbortSignal): Promise<RunOutcome> => {
    const outcome = await box.run(request, signal)
    if (request.stdin?.kind !== 'file') return outcome
    runs++
    if (still === 0) return outcome
    still--
    return { ...outcome, status: 'wall-limit', cpuMs: 1, wallMs: request.limits.wallMs + 1, starvedMs: 0 }
  }
  return {
    ...sandbox,
    openBox: async (profile) => {
      const box = await sandbox.openBox(profile)
      return {
        run: (request, signal) => heldUp(box, request, signal),
        close: () => box.close(),
        [Symbol.asyncDispose]: () => box.close(),
      }
    },
  }
}

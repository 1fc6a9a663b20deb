import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { SOLUTIONS } from '../fixture/solutions.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const right = { language: 'python', code: SOLUTIONS.python.right } as const
const INPUTS = { '1.in': '2 3\n', '2.in': '4 5\n' }
const lastLine = (terminal: string): string => terminal.trimEnd().split('\n').at(-1) ?? ''

describe('tests without answers', () => {
  test('are run, and the report says that nothing is proved', async () => {
    const { report, terminal, lines } = await bench.judge({ ...right, files: INPUTS })
    expect(report.tests.map(({ verdict, score }) => [verdict, score])).toEqual([
      ['RUN', 0],
      ['RUN', 0],
    ])
    expect(report).toMatchObject({
      status: 'succeeded',
      unjudged: true,
      error: null,
      summary: { total: 2, judged: 0, run_only: 2, passed: 0, failed: 0, score: 0 },
    })
    expect(lastLine(terminal)).toBe('ran, not judged: the tests have no answers')
    expect(lines.at(-1)).toMatchObject({
      stage: 'done',
      level: 'info',
      summary: 'ran, not judged: the tests have no answers',
      meta: { phase: 'end', status: 'succeeded', unjudged: true },
    })
    expect(JSON.stringify([terminal, lines.map(({ summary }) => summary)])).not.toMatch(/succeeded|passed/)
  })

  test('are not run where that was asked for', async () => {
    const { report, terminal } = await bench.judge({ ...right, files: INPUTS, tests: { run_if_no_expected: false } })
    expect(report).toMatchObject({ status: 'succeeded', unjudged: true, summary: { run_only: 0, skipped: 2 } })
    expect(lastLine(terminal)).toBe('not run, not judged: the tests have no answers')
  })

  test('a crash or a passed limit is a verdict all the same, and fails the job', async () => {
    const code = 'a, b = map(int, input().split())\nif a == 4: raise SystemExit(1)\nprint(a + b)'
    const { report, terminal } = await bench.judge({ language: 'python', code, files: INPUTS })
    expect(report.tests.map(({ verdict }) => verdict)).toEqual(['RUN', 'RE'])
    expect(report).toMatchObject({
      status: 'failed',
      unjudged: false,
      error: { code: 'tests_failed', message: '1 of 2 failed, 2 first (RE)' },
    })
    expect(lastLine(terminal)).toMatch(/^failed: 0 of 1 judged case passed, 1 only run, first failure 2 \(RE\)/)
    const spins = await bench.judge({ language: 'python', code: 'while True: pass', files: { '1.in': '' }, timeMs: 100 })
    expect(spins.report).toMatchObject({ status: 'failed', unjudged: false, tests: [{ verdict: 'TLE' }] })
  })

  test('some of them: what was judged is told apart from what was only run', async () => {
    const { report, terminal } = await bench.judge({ ...right, files: { ...INPUTS, '1.out': '5\n' } })
    expect(report).toMatchObject({ status: 'succeeded', unjudged: false })
    expect(lastLine(terminal)).toBe('succeeded: 1 of 1 judged case passed, 1 only run, score 1 of 2')
  })

  test('a group with points is not earned by cases that were only run', async () => {
    const manifest = {
      groups: [{ name: 'proved', points: 40 }, { name: 'open', points: 60 }, { name: 'loose' }],
      cases: [
        { name: 'a', group: 'proved', in: '1.in', out: '1.out' },
        { name: 'b', group: 'open', in: '1.in', out: '1.out' },
        { name: 'c', group: 'open', in: '2.in' },
        { name: 'd', group: 'loose', in: '2.in', points: 5 },
      ],
    }
    const files = { ...INPUTS, '1.out': '5\n', 'manifest.json': JSON.stringify(manifest) }
    const { report } = await bench.judge({ ...right, files })
    expect(report.groups).toEqual([
      { name: 'proved', points: 40, score: 40, passed: 1, judged: 1, total: 1 },
      { name: 'open', points: 60, score: 0, passed: 1, judged: 1, total: 2 },
      { name: 'loose', points: 5, score: 0, passed: 0, judged: 0, total: 1 },
    ])
    expect(report.summary).toMatchObject({ score: 40, max_score: 105 })
  })

  test.each([
    ['checker', { checker: { language: 'python', source: 'import sys\nsys.exit(open(sys.argv[2]).read().split() != ["5"])' } }],
    ['interactive', { interactor: { language: 'python', source: 'print("2 3", flush=True)\nexit(input() != "5")' } }],
  ] as const)('a program of the author judges without any (%s)', async (mode, programs) => {
    const tests = { ...programs, compare: { mode, tolerance: null } }
    const program = (sign: string) => `a, b = map(int, input().split())\nprint(a ${sign} b, flush=True)`
    const files = { '1.in': '2 3\n' }
    const good = await bench.judge({ language: 'python', code: program('+'), files, tests })
    expect(good.report).toMatchObject({ status: 'succeeded', unjudged: false, tests: [{ verdict: 'AC' }] })
    const bad = await bench.judge({ language: 'python', code: program('-'), files, tests })
    expect(bad.report).toMatchObject({ status: 'failed', unjudged: false, tests: [{ verdict: 'WA' }] })
  })
})

test('without tests a program is only compiled, and nobody says more', async () => {
  const { report, terminal, lines } = await bench.judge({ language: 'cpp', code: SOLUTIONS.cpp.right })
  expect(report).toMatchObject({ status: 'succeeded', unjudged: true, mode: 'compile_only', summary: { total: 0, judged: 0 } })
  expect(lastLine(terminal)).toBe('compiled, not judged: the job has no tests')
  expect(lines.at(-1)).toMatchObject({ summary: 'compiled, not judged: the job has no tests' })
})

test('a time past its limit is told as more than it; the report keeps what was measured', async () => {
  const { report, terminal } = await bench.judge({
    language: 'cpp',
    code: SOLUTIONS.cpp.spins,
    files: { '1.in': '', '1.out': '' },
    timeMs: 100,
  })
  expect(terminal).toMatch(/1 {2}1 +TLE +>100 ms /)
  expect(report.tests[0]?.time_ms).toBeGreaterThan(100)
})

test('memory past its limit and a clock past its own likewise', async () => {
  const hoards = await bench.judge({
    language: 'cpp',
    code: '#include <cstring>\n#include <cstdlib>\nint main() { for (;;) { void* p = malloc(1 << 20); if (p) memset(p, 1, 1 << 20); } }',
    files: { '1.in': '', '1.out': '' },
    timeMs: 5_000,
    memoryMb: 64,
  })
  expect(hoards.report.tests).toMatchObject([{ verdict: 'MLE' }])
  expect(hoards.terminal).toMatch(/1 {2}1 +MLE .* >64 MiB /)
  const code = 'import time\ntime.sleep(100)'
  const idles = await bench.judge({ language: 'python', code, files: { '1.in': '', '1.out': '' }, timeMs: 300 })
  expect(idles.report.tests).toMatchObject([{ verdict: 'ILE', message: expect.stringMatching(/^no end within 2300 ms, /) }])
  expect(idles.terminal).toMatch(/1 {2}1 +ILE +>2300 ms /)
})

test('a program that does not compile leaves no case that was run', async () => {
  const { terminal } = await bench.judge({ language: 'cpp', code: SOLUTIONS.cpp.broken, files: INPUTS })
  expect(lastLine(terminal)).toMatch(/^failed: .*error.*, no case was run$/)
  expect(lastLine(terminal)).not.toMatch(/passed|score/)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { processesLeft } from '@parley/sandbox/testing'
import { SOLUTIONS, SUM_CASE } from '../fixture/solutions.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const right = { language: 'python', code: SOLUTIONS.python.right } as const

test('cases come out as they are done, and stand in the report in their order', async () => {
  // The first case is the slowest by far.
  const code = 'import time\nn = int(input())\ntime.sleep(0.5 if n == 1 else 0)\nprint(n)'
  const files = Object.fromEntries(
    Array.from({ length: 6 }, (_, index) => index + 1).flatMap((n) => [
      [`${n}.in`, `${n}\n`],
      [`${n}.out`, `${n === 4 ? 'x' : n}\n`],
    ]),
  )
  const { report, items, terminal, lines } = await bench.judge({ language: 'python', code, files })
  expect(report.tests.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual(['1 AC', '2 AC', '3 AC', '4 WA', '5 AC', '6 AC'])
  expect(items.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5])
  expect(items.at(0)?.index).not.toBe(0)
  expect(items.every(({ total, claim, attempt }) => total === 6 && claim === 1 && attempt === 1)).toBe(true)
  expect(report.summary).toMatchObject({
    total: 6,
    judged: 6,
    passed: 5,
    failed: 1,
    skipped: 0,
    run_only: 0,
    first_failure: '4',
    first_failure_verdict: 'WA',
  })
  expect(report.error).toMatchObject({ code: 'tests_failed' })
  expect(report.environment).toMatchObject({
    language: 'python',
    judge: 'bench',
    sandbox: { driver: bench.sandbox.report.driver },
  })
  expect(terminal.split('\n').filter((line) => / AC | WA /.test(line))).toHaveLength(6)
  expect(terminal).toMatch(/failed: 5 of 6 passed, first failure 4 \(WA\)/)
  expect(lines.map(({ meta }) => meta?.['phase'])).toEqual(['compile', ...Array.from({ length: 7 }, () => 'test'), 'end'])
  expect(lines.at(-1)).toMatchObject({ stage: 'error', level: 'error' })
})

test('a group with points counts only as a whole, other cases by themselves', async () => {
  const manifest = JSON.stringify({
    groups: [{ name: 'small', points: 30 }, { name: 'large', points: 70 }, { name: 'loose' }],
    cases: [
      { name: 's1', group: 'small', in: 's1.in', out: 's1.out' },
      { name: 's2', group: 'small', in: 's2.in', out: 's2.out', hidden: true },
      { name: 'l1', group: 'large', in: 'l1.in', out: 'l1.out' },
      { name: 'l2', group: 'large', in: 'l2.in', out: 'l2.out' },
      { name: 'x1', group: 'loose', in: 's1.in', out: 's1.out', points: 2 },
      { name: 'x2', group: 'loose', in: 'l2.in', out: 'l2.out', points: 3 },
    ],
  })
  const files = {
    'manifest.json': manifest,
    's1.in': '1 1',
    's1.out': '2',
    's2.in': '1 2',
    's2.out': '3',
    'l1.in': '1 3',
    'l1.out': '4',
    'l2.in': '1 4',
    'l2.out': 'not five',
  }
  const { report } = await bench.judge({ ...right, files })
  expect(report.groups).toEqual([
    { name: 'small', points: 30, score: 30, passed: 2, judged: 2, total: 2 },
    { name: 'large', points: 70, score: 0, passed: 1, judged: 2, total: 2 },
    { name: 'loose', points: 5, score: 2, passed: 1, judged: 2, total: 2 },
  ])
  expect(report.summary).toMatchObject({ score: 32, max_score: 105 })
  expect(report.tests.map(({ hidden }) => hidden)).toEqual([false, true, false, false, false, false])
})

test('a case without an expected output is run or skipped, and counts as neither passed nor failed', async () => {
  const files = { ...SUM_CASE, '2.in': '4 5\n' }
  const run = await bench.judge({ ...right, files })
  expect(run.report).toMatchObject({ status: 'succeeded', summary: { judged: 1, run_only: 1, skipped: 0 } })
  expect(Buffer.from(run.report.tests[1]?.stdout_b64 ?? '', 'base64').toString()).toBe('9\n')
  const skipped = await bench.judge({ ...right, files, tests: { run_if_no_expected: false } })
  expect(skipped.report.tests.map(({ verdict }) => verdict)).toEqual(['AC', 'SKIP'])
  expect(skipped.report).toMatchObject({ status: 'succeeded', summary: { judged: 1, run_only: 0, skipped: 1 } })
})

test('without tests a program only has to compile', async () => {
  const good = await bench.judge({ language: 'cpp', code: SOLUTIONS.cpp.right })
  expect(good.report).toMatchObject({ status: 'succeeded', mode: 'compile_only', tests: [], error: null, compile: { ok: true } })
  const bad = await bench.judge({ language: 'python', code: SOLUTIONS.python.broken })
  expect(bad.report).toMatchObject({
    status: 'failed',
    mode: 'compile_only',
    error: { code: 'compile_error' },
    compile: { ok: false },
  })
})

test('a program that was compiled before is not said to be compiled again', async () => {
  const code = `${SOLUTIONS.cpp.right}\n// Nobody else compiles this one.\n`
  const told = async (): Promise<readonly string[]> => {
    const { lines } = await bench.judge({ language: 'cpp', code, files: SUM_CASE })
    return lines.filter(({ meta }) => meta?.['phase'] === 'compile').map(({ summary }) => summary)
  }
  expect(await told()).toEqual([expect.stringMatching(/^compiling with g\+\+/)])
  expect(await told()).toEqual([expect.stringMatching(/^compiled before with g\+\+/)])
})

test('tests that cannot be judged and a language that is not there are said in the report', async () => {
  const traversal = JSON.stringify({ cases: [{ in: '../../etc/passwd' }] })
  const { report } = await bench.judge({ ...right, files: { 'manifest.json': traversal } })
  expect(report).toMatchObject({ status: 'failed', tests: [], error: { code: 'invalid_tests' } })
  await using bare = await openBench({ searchPath: [] })
  const missing = await bare.judge({ language: 'cpp', code: SOLUTIONS.cpp.right, files: SUM_CASE })
  expect(missing.report).toMatchObject({ status: 'failed', error: { code: 'language_missing' }, compile: null })
})

test('long output is cut in the report, and compared as a whole', async () => {
  const size = 300_000
  const files = { '1.in': '', '1.out': 'x'.repeat(size), '2.in': '', '2.out': `${'x'.repeat(size - 1)}y` }
  const { report } = await bench.judge({ language: 'python', code: `print("x" * ${size}, end="")`, files })
  expect(report.tests.map(({ verdict, stdout_truncated }) => [verdict, stdout_truncated])).toEqual([
    ['AC', true],
    ['WA', true],
  ])
  expect(Buffer.from(report.tests[0]?.stdout_b64 ?? '', 'base64')).toHaveLength(64 * 1024)
})

test('cancelling ends runs at once, and leaves it to others to tell why', async () => {
  const controller = new AbortController()
  const files = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index + 1}.in`, `${index}\n`]))
  const judging = bench.judge({
    language: 'python',
    code: 'import time\nif int(input()) > 0: time.sleep(1000)',
    files,
    timeMs: 60_000,
    signal: controller.signal,
    onCase: () => controller.abort(),
  })
  const { report, items, lines } = await judging
  expect(report.status).toBe('cancelled')
  expect(report.error?.code).toBe('cancelled')
  expect(report.tests.map(({ verdict }) => verdict)).toEqual(['RUN', 'CANCELLED', 'CANCELLED', 'CANCELLED', 'CANCELLED'])
  expect(items.map(({ verdict }) => verdict)).toEqual(['RUN'])
  expect(
    lines.map(({ summary }) => summary).filter((summary) => summary.includes('cancelled') || summary.includes('5 of 5')),
  ).toEqual([])
  expect(report.error?.message).toBe('cancelled after 1 of 5 cases')
  // The boxes are as good as new.
  expect(await bench.verdicts({ ...right, files: SUM_CASE })).toEqual(['AC'])
})

test('cancelling while it compiles leaves no case', async () => {
  const controller = new AbortController()
  // It would compile for a long time.
  const code =
    'template<int A,int B>struct F{static const long v=F<A-1,B>::v+F<A-1,B-1>::v;};template<int B>struct F<0,B>{static const long v=1;};int main(){return F<600,500>::v;}'
  const judging = bench.judge({ language: 'cpp', code, files: SUM_CASE, signal: controller.signal })
  await expect.poll(() => processesLeft(process.pid, '').some((line) => line.includes('cc1plus'))).toBe(true)
  controller.abort()
  const { report } = await judging
  expect(report).toMatchObject({ status: 'cancelled', tests: [], compile: null })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { SOLUTIONS, SUM_CASE } from '../fixture/solutions.ts'

const FAST = ['cpp', 'c', 'python', 'javascript', 'typescript'] as const
const WHERE_INSTALLED = ['java', 'rust', 'go'] as const
const TIME_MS = 400
const EXPECTED = [
  ['right', 'AC'],
  ['wrong', 'WA'],
  ['crashes', 'RE'],
  ['spins', 'TLE'],
  ['hoards', 'MLE'],
  ['floods', 'OLE'],
] as const

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

describe.each(FAST)('%s', (language) => {
  test.each(EXPECTED)('%s: %s', async (solution, verdict) => {
    const memoryMb = 64
    const judged = await bench.judge({
      language,
      code: SOLUTIONS[language][solution],
      files: SUM_CASE,
      timeMs: solution === 'spins' ? TIME_MS : 5_000,
      memoryMb,
      outputBytes: 1024 * 1024,
    })
    expect(judged.report.tests.map((result) => result.verdict)).toEqual([verdict])
    expect(judged.report.status).toBe(verdict === 'AC' ? 'succeeded' : 'failed')
    expect(judged.items).toHaveLength(1)
  })

  test('a source that cannot be compiled is CE and no case is run', async () => {
    const { report, items } = await bench.judge({ language, code: SOLUTIONS[language].broken, files: SUM_CASE })
    expect(report).toMatchObject({
      status: 'failed',
      tests: [],
      compile: { ok: false },
      error: { code: 'compile_error' },
      summary: { total: 1, skipped: 1, judged: 0, failed: 0, first_failure_verdict: 'CE' },
    })
    expect(items).toEqual([])
  })
})

describe.each(WHERE_INSTALLED)('%s', (language) => {
  test('every verdict, where it is installed', async ({ skip }) => {
    if (!bench.has(language)) skip(`this machine has no ${language}: its verdicts are not tested`)
    const verdicts = await Promise.all(
      EXPECTED.map(async ([solution]) => {
        const code = SOLUTIONS[language][solution]
        const timeMs = solution === 'spins' ? 1_000 : 5_000
        return await bench.verdicts({ language, code, files: SUM_CASE, timeMs, memoryMb: 64, outputBytes: 1024 * 1024 })
      }),
    )
    expect(verdicts.flat()).toEqual(EXPECTED.map(([, verdict]) => verdict))
    const { report } = await bench.judge({ language, code: SOLUTIONS[language].broken, files: SUM_CASE })
    expect(report).toMatchObject({ compile: { ok: false }, tests: [], error: { code: 'compile_error' } })
  }, 120_000)
})

test('programs that wait for nothing are idle, not slow', async () => {
  const found = await Promise.all(
    (['cpp', 'python', 'javascript'] as const).map(async (language) => {
      const { report } = await bench.judge({ language, code: SOLUTIONS[language].sleeps, files: SUM_CASE, timeMs: 300 })
      return report.tests.map(({ verdict, timeout }) => ({ verdict, timeout }))
    }),
  )
  expect(found.flat()).toEqual(Array.from({ length: 3 }, () => ({ verdict: 'ILE', timeout: true })))
})

test.each([
  ['malloc(1 << 20) ? (void)memset(malloc(1 << 20), 1, 1 << 20) : (void)0', 'MLE', 'more than 64 MiB of memory'],
  ['(void)0', 'TLE', 'more than 400 ms of processor time'],
  ['if (fork() == 0) pause()', 'RE', 'more than 256 processes'],
])(
  'a limit that meets a child names the end, though its parent sees it die and ends with a code (%s)',
  async (work, verdict, message) => {
    const lines = [
      '#include <stdio.h>',
      '#include <stdlib.h>',
      '#include <string.h>',
      '#include <sys/wait.h>',
      '#include <unistd.h>',
    ]
    const main = `int main(void){if(fork()==0)for(;;){${work};}wait(NULL);fputs("fatal error: killed\\n",stderr);return 1;}`
    const code = [...lines, main].join('\n')
    const { report } = await bench.judge({ language: 'c', code, files: SUM_CASE, timeMs: TIME_MS, memoryMb: 64 })
    expect(report.tests).toMatchObject([{ verdict, message, exit_code: -9, signal: 'SIGKILL' }])
  },
)

test('a program that ignores much input, or closes it early, is judged by its answer', async () => {
  const files = { '1.in': '2 3\n'.repeat(500_000), '1.out': '5\n' }
  const codes = [
    ['python', 'print(5)'],
    ['python', 'import os\nos.close(0)\nprint(5)'],
    ['cpp', '#include <cstdio>\nint main(){puts("5");}'],
  ] as const
  const verdicts = await Promise.all(codes.map(([language, code]) => bench.verdicts({ language, code, files })))
  expect(verdicts.flat()).toEqual(['AC', 'AC', 'AC'])
})

test('a program finds no environment, no input folder and no cache', async () => {
  const code = `import os\nprint(sorted(os.environ), os.path.exists(${JSON.stringify(bench.folder)}), sorted(os.listdir('.')))`
  const { report } = await bench.judge({ language: 'python', code, files: { '1.in': '' } })
  const [result] = report.tests
  expect(Buffer.from(result?.stdout_b64 ?? '', 'base64').toString()).toBe(
    "['HOME', 'LANG', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED'] False ['main.py']\n",
  )
  expect(result?.verdict).toBe('RUN')
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { SOLUTIONS, SUM_CASE } from '../fixture/solutions.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const CHECKER_MODE = { mode: 'checker', tolerance: null } as const
const INTERACTIVE = { mode: 'interactive', tolerance: null } as const
const right = { language: 'python', code: SOLUTIONS.python.right } as const
const wrong = { language: 'python', code: SOLUTIONS.python.wrong } as const

/** Reads the three files that testlib's interface names, and the rule from a header beside it. */
const CPP_CHECKER = `#include "rule.h"
#include <fstream>
#include <iostream>
int main(int argc, char** argv) {
  if (argc != 4) return 3;
  long a, b, got, wanted;
  std::ifstream(argv[1]) >> a >> b;
  if (!(std::ifstream(argv[2]) >> got)) { std::cerr << "no number"; return 2; }
  std::ifstream(argv[3]) >> wanted;
  if (a + b != wanted) return 3;
  std::cerr << "got " << got;
  return accepts(got, wanted) ? 0 : 1;
}`
const RULE = 'inline bool accepts(long got, long wanted) { return got == wanted; }'

describe('a checker program', () => {
  const checker = { language: 'cpp', source: CPP_CHECKER } as const
  const files = { ...SUM_CASE, 'rule.h': RULE }
  const tests = { checker, compare: CHECKER_MODE }

  test('decides by its exit code, with a header that lies in tests/', async () => {
    const found = await Promise.all(
      [right, wrong, { language: 'python', code: 'print("x")' } as const].map(async (solution) => {
        const { report } = await bench.judge({ ...solution, files, tests })
        return report.tests.map(({ verdict, message }) => ({ verdict, message }))
      }),
    )
    expect(found.flat()).toEqual([
      { verdict: 'AC', message: 'got 5' },
      { verdict: 'WA', message: 'got -1' },
      { verdict: 'PE', message: 'no number' },
    ])
  })

  test('another header is another program', async () => {
    const loose = { ...SUM_CASE, 'rule.h': 'inline bool accepts(long, long) { return true; }' }
    expect(await bench.verdicts({ ...wrong, files: loose, tests })).toEqual(['AC'])
    expect(await bench.verdicts({ ...wrong, files, tests })).toEqual(['WA'])
  })

  test('is not asked about a program that crashed', async () => {
    expect(await bench.verdicts({ language: 'python', code: SOLUTIONS.python.crashes, files, tests })).toEqual(['RE'])
  })

  test('gives points: a part of the case', async () => {
    const source = 'import sys\nprint("points 0.25", file=sys.stderr)\nsys.exit(7)'
    const { report } = await bench.judge({ ...right, files, tests: { ...tests, checker: { language: 'python', source } } })
    expect(report.tests[0]).toMatchObject({ verdict: 'WA', score: 0.25, points: 1 })
    expect(report.summary).toMatchObject({ score: 0.25, max_score: 1 })
  })

  test.each([
    ['crashes by a signal', 'import os\nos.abort()'],
    ['crashes with the code of a wrong answer', 'raise ValueError("lost")'],
    ['cannot be read', 'def (:'],
    ['says that it failed', 'import sys\nsys.exit(3)'],
  ])('that %s is our failure, not the answer', async (_how, source) => {
    const { report } = await bench.judge({ ...right, files, tests: { ...tests, checker: { language: 'python', source } } })
    expect(report).toMatchObject({ status: 'failed', error: { code: 'judge_error' } })
    expect(report.tests.map(({ verdict }) => verdict)).toEqual(['SE'])
  })

  test('that writes without end is told by the bound it broke, not by the signal that ended it', async () => {
    const source = 'import sys\nwhile True: sys.stderr.write("x" * 65536)'
    const { report } = await bench.judge({ ...right, files, tests: { ...tests, checker: { language: 'python', source } } })
    expect(report.tests).toMatchObject([{ verdict: 'SE', message: 'the checker did not end by itself: output-limit' }])
  })

  test('that is missing is said in the report', async () => {
    const { report } = await bench.judge({ ...right, files, tests: { compare: CHECKER_MODE } })
    expect(report.tests).toMatchObject([{ verdict: 'SE', message: 'the job has no checker' }])
  })

  test('shares no box with the program', async () => {
    const leaving = 'open("/tmp/left", "w").write("x")\nopen("left", "w").write("x")\nprint(5)'
    const source = 'import os, sys\nsys.exit(1 if os.path.exists("/tmp/left") or os.path.exists("left") else 0)'
    expect(
      await bench.verdicts({
        language: 'python',
        code: leaving,
        files,
        tests: { ...tests, checker: { language: 'python', source } },
      }),
    ).toEqual(['AC'])
  })
})

/** Thinks of the number in its input and answers guesses; `output` gets how many there were. */
const INTERACTOR = `import sys
secret = int(open(sys.argv[1]).read())
for turn in range(20):
    line = sys.stdin.readline()
    if not line:
        print("no guess", file=sys.stderr)
        sys.exit(1)
    guess = int(line)
    print("<" if secret < guess else ">" if secret > guess else "=", flush=True)
    if guess == secret:
        open(sys.argv[2], "w").write(str(turn))
        print("found after", turn + 1, file=sys.stderr)
        sys.exit(0)
print("too many guesses", file=sys.stderr)
sys.exit(1)
`
const BISECTING = `#include <iostream>
#include <string>
int main() {
  int low = 0, high = 1000;
  std::string word;
  for (;;) {
    int middle = (low + high) / 2;
    std::cout << middle << std::endl;
    if (!(std::cin >> word) || word == "=") return 0;
    if (word == "<") high = middle - 1; else low = middle + 1;
  }
}`

describe('an interactor', () => {
  const files = { '1.in': '377\n', '2.in': '1\n' }
  const tests = { compare: INTERACTIVE, interactor: { language: 'python', source: INTERACTOR } } as const

  test('talks with the program and decides', async () => {
    const { report } = await bench.judge({ language: 'cpp', code: BISECTING, files, tests, timeMs: 2_000 })
    expect(report.tests.map(({ verdict }) => verdict)).toEqual(['AC', 'AC'])
    expect(report.tests[0]?.message).toMatch(/^found after \d+$/)
  })

  test.each([
    ['guesses wrong', 'for i in range(30): print(1000 - i, flush=True)', 'WA'],
    ['says nothing and ends', 'pass', 'WA'],
    ['crashes', 'import os\nos.abort()', 'RE'],
    ['waits for the other for ever', 'import sys\nsys.stdin.read()', 'ILE'],
    ['spins', 'while True: pass', 'TLE'],
  ])('a program that %s', async (_how, code, verdict) => {
    const [first] = await bench.verdicts({ language: 'python', code, files: { '1.in': '377\n' }, tests, timeMs: 300 })
    expect(first).toBe(verdict)
  })

  test('that crashes is our failure', async () => {
    const broken = { ...tests, interactor: { language: 'python', source: 'raise ValueError("lost")' } } as const
    expect(await bench.verdicts({ language: 'cpp', code: BISECTING, files: { '1.in': '3\n' }, tests: broken })).toEqual(['SE'])
  })
})

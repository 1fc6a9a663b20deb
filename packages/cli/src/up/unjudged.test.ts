import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Scratch } from '../fixture/parley.ts'
import { screenAfter } from '@parley/shell/testing'
import { hasTerminals, onTerminal } from '../fixture/pty.ts'
import { runHere } from '../fixture/run-here.ts'

/** What the shell says about results, on `parley up` with its real judge. */
const SLOW = { timeout: 180_000 }
const FILES = {
  'right.py': 'print(sum(map(int, input().split())))\n',
  'crashes.py': 'raise SystemExit(int(input()[0]) // 2)\n',
  'spins.py': 'while True: pass\n',
  'broken.py': 'def (\n',
  'open/1.in': '1 1\n',
  'open/2.in': '2 2\n',
  'partly/1.in': '1 1\n',
  'partly/1.out': '2\n',
  'partly/2.in': '2 2\n',
  'polygon/tests/01': '1 1\n',
  'polygon/tests/01.a': '2\n',
  'polygon/tests/02': '2 2\n',
  'polygon/tests/02.a': '5\n',
  'polygon/problem.xml': '<problem/>\n',
  '.config/parley/parley.toml': '[[channels]]\nname = "play"\nscript = "stairs"\n',
}

let scratch: Scratch
let stop: () => Promise<unknown>
beforeAll(async () => {
  scratch = new Scratch()
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(scratch.folder, name)), { recursive: true })
    writeFileSync(join(scratch.folder, name), text)
  }
  const up = await scratch.start(['up', '--port', '0', '--data', scratch.data, '--json'])
  stop = () => {
    up.kill('SIGTERM')
    return up.exited
  }
}, SLOW.timeout)
afterAll(async () => {
  await stop()
  await scratch[Symbol.asyncDispose]()
}, SLOW.timeout)

const job = (...args: string[]) => runHere(['job', ...args, '--data', scratch.data], { cwd: scratch.folder })
const judged = (code: string, tests: string, ...more: string[]) =>
  job('submit', '--judge-only', '--code', code, '--tests', tests, '--watch', ...more)
const lastLines = (out: string, count: number): string[] => out.trimEnd().split('\n').slice(-count)

test('tests without answers: it ran, and nothing says that it succeeded', SLOW, async () => {
  const shown = await judged('right.py', 'open', '--title', 'unproved')
  expect(shown.code).toBe(3)
  expect(lastLines(shown.out, 1)).toEqual([
    expect.stringMatching(/^ran, not judged: the tests have no answers, \d+ ms at most, [\d.]+ MiB$/),
  ])
  expect(shown.out).not.toMatch(/succeeded|passed/)
  // They end in any order.
  for (const row of [/^\d\/2 {2}1 +RUN /m, /^\d\/2 {2}2 +RUN /m]) expect(shown.out).toMatch(row)

  const json = await judged('right.py', 'open', '--json')
  expect(json.code).toBe(3)
  const last = JSON.parse(lastLines(json.out, 1).join())
  expect(last).toMatchObject({ status: 'succeeded', report: { status: 'succeeded', unjudged: true } })

  expect(await job('show', last.job_id)).toMatchObject({
    code: 3,
    out: expect.stringMatching(/\nran, not judged: the tests have no answers, /),
  })
  expect(JSON.parse((await job('show', last.job_id, '--json')).out)).toMatchObject({
    status: 'succeeded',
    state: { unjudged: true },
    report: { unjudged: true },
  })
  expect((await job('watch', last.job_id)).code).toBe(3)
  const list = (await job('list')).out.split('\n').find((line) => line.includes('unproved'))
  expect(list).toMatch(/ran, not judged +the tests have no answers +python/)
})

test('a crash where no case has an answer fails, and some answers prove some', SLOW, async () => {
  const crashed = await judged('crashes.py', 'open')
  expect(crashed.code).toBe(1)
  expect(crashed.out).toMatch(
    /\nfailed: 0 of 1 judged case passed, 1 only run, .*\ntests_failed: 1 of 2 failed, 2 first \(RE\)\n$/,
  )
  const partly = await judged('right.py', 'partly')
  expect(partly.code).toBe(0)
  expect(partly.out).toMatch(/\nsucceeded: 1 of 1 judged case passed, 1 only run, 1 of 2 points, /)
  expect((await job('list')).out).toMatch(/succeeded +1\/1, 1 only run +python/)
})

test('what passed a limit is told as more than it, and a program that does not compile had no case', SLOW, async () => {
  const spins = await judged('spins.py', 'open', '--time-ms', '100')
  expect(spins.code).toBe(1)
  // They end in any order.
  for (const row of [/^\d\/2 {2}1 +TLE +>100 ms /m, /^\d\/2 {2}2 +TLE +>100 ms /m]) expect(spins.out).toMatch(row)
  expect(spins.out).toMatch(/\nfailed: 0 of 2 passed, 0 of 2 points, >100 ms, /)
  const broken = await judged('broken.py', 'open')
  expect(broken.code).toBe(1)
  expect(broken.out).toMatch(/\nfailed: not compiled: no case was run\ncompile_error: /)
})

test('what a model wrote for a job without tests is written and compiled, and no more', SLOW, async () => {
  const at = (name: string): string => join(import.meta.dirname, '../../../../examples/stairs', name)
  const files = ['--statement', at('problem.md'), '--code', at('code.py')]
  const shown = await job('submit', ...files, '--model', 'script-stairs', '--watch')
  expect(shown.code).toBe(3)
  expect(shown.out).toMatch(/\nwritten and compiled, not judged: the job has no tests\n/)
  expect(shown.out).toMatch(/self-tested: compiled, not judged: the job has no tests\n/)
  expect(shown.out).not.toMatch(/succeeded|passed/)
})

test('a package of Polygon is known by its tests', SLOW, async () => {
  const found = await judged('right.py', 'polygon', '--json')
  expect(found.code).toBe(1)
  expect(JSON.parse(lastLines(found.out, 1).join()).report.tests).toMatchObject([
    { name: '01', verdict: 'AC', expected_rel: 'tests/01.a' },
    { name: '02', verdict: 'WA', expected_rel: 'tests/02.a' },
  ])
})

test.skipIf(!hasTerminals())('on a terminal it has a colour of its own', SLOW, async () => {
  const size = { columns: 100, rows: 20 }
  const args = ['job', 'submit', '--code', 'right.py', '--tests', 'open', '--watch', '--data', scratch.data]
  const { code, out } = await onTerminal(scratch, args, size)
  expect(code).toBe(3)
  const { lines } = screenAfter(out, size.columns)
  expect(lines.at(-2)).toMatch(/^ran, not judged: the tests have no answers, /)
  expect(out).toContain('\u001b[35m\u001b[1mran, not judged')
  expect(out).not.toContain('\u001b[32m')
})

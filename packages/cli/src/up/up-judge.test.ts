import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gone } from '../fixture/gone.ts'
import { Scratch, childrenOf } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'

/** Compilers, interpreters and a crowded machine. */
const SLOW_MS = 180_000
const IS_READY = /The judge \S+ is ready/

/** A small problem: two sums with their answers, code that is right and code that is not. */
function writeProblem(folder: string): string[] {
  writeFileSync(join(folder, 'right.py'), 'print(sum(map(int, input().split())))\n')
  writeFileSync(
    join(folder, 'wrong.cpp'),
    '#include <iostream>\nint main() { long a, b; std::cin >> a >> b; std::cout << a - b; }\n',
  )
  writeFileSync(join(folder, 'endless.py'), 'while True: pass\n')
  mkdirSync(join(folder, 'cases'))
  for (const number of [1, 2]) {
    writeFileSync(join(folder, 'cases', `${number}.in`), `${number} ${number}\n`)
    writeFileSync(join(folder, 'cases', `${number}.out`), `${2 * number}\n`)
  }
  return ['--tests', 'cases', '--judge-only']
}

function lastLine(out: string) {
  return JSON.parse(out.trimEnd().split('\n').at(-1) ?? '')
}

async function judgeUp(scratch: Scratch, ...more: string[]) {
  const up = await scratch.start(['up', '--no-host', '--port', '0', '--data', scratch.data, '--json', ...more])
  await expect.poll(() => up.err(), { timeout: SLOW_MS }).toMatch(IS_READY)
  return up
}

test('up judges: right code succeeds, wrong code fails, and a killed judge comes back', { timeout: SLOW_MS }, async () => {
  await using scratch = new Scratch()
  const problem = writeProblem(scratch.folder)
  const up = await judgeUp(scratch)
  const at = ['--data', scratch.data, '--json']
  const right = await scratch.run(['job', 'submit', '--code', 'right.py', ...problem, ...at])
  expect(right).toMatchObject({ code: 0, err: '' })
  expect(lastLine(right.out)).toMatchObject({
    job_id: expect.stringMatching(/^job_/),
    status: 'succeeded',
    report: {
      status: 'succeeded',
      tests: [
        { name: '1', verdict: 'AC' },
        { name: '2', verdict: 'AC' },
      ],
      environment: { sandbox: { driver: 'cage' } },
    },
  })
  const wrong = await commandsHere(scratch).run(['job', 'submit', '--code', 'wrong.cpp', ...problem, ...at])
  expect(wrong.code).toBe(1)
  expect(lastLine(wrong.out)).toMatchObject({ status: 'failed', report: { summary: { passed: 0, failed: 2 } } })

  const [, judge = 0] = childrenOf(up.pid)
  process.kill(judge, 'SIGKILL')
  await gone(judge)
  const again = await commandsHere(scratch).run(['job', 'submit', '--code', 'right.py', ...problem, ...at])
  expect(again).toMatchObject({ code: 0, err: '' })
  expect(up.err()).toContain('the judge ended (SIGKILL)')
  up.kill('SIGTERM')
  expect(await up.exited).toEqual({ code: 0, signal: null })
})

test('kill -9 of the supervisor ends the gateway, the judge, its boxes and what runs in them', { timeout: SLOW_MS }, async () => {
  await using scratch = new Scratch()
  const up = await judgeUp(scratch)
  const problem = writeProblem(scratch.folder)
  const submit = ['job', 'submit', '--code', 'endless.py', ...problem, '--time-ms', '60000', '--data', scratch.data]
  expect((await commandsHere(scratch).run(submit)).code).toBe(0)
  const tree = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(tree)]
  const [, judge = 0] = childrenOf(up.pid)
  const argsOf = (pids: readonly number[]) =>
    spawnSync('ps', ['-ww', '-o', 'args=', '-p', pids.join()], { encoding: 'utf8' }).stdout
  await expect.poll(() => argsOf(tree(judge)), { timeout: SLOW_MS }).toContain('main.py')
  const all = tree(up.pid)
  expect(all.length).toBeGreaterThan(4)
  expect(tree(judge).length).toBeGreaterThan(2)
  process.kill(up.pid, 'SIGKILL')
  for (const pid of all) await gone(pid)
})

test('up without a sandbox runs on, says what is missing, and has no judge', { timeout: SLOW_MS }, async () => {
  await using scratch = new Scratch()
  writeFileSync(join(scratch.folder, 'in-the-way'), '')
  const up = await scratch.start(['up', '--no-host', '--port', '0', '--data', scratch.data, '--json'], {
    env: { PARLEY_CACHE: join(scratch.folder, 'in-the-way') },
  })
  await expect.poll(() => up.err(), { timeout: SLOW_MS }).toContain('there is no judge')
  expect((await fetch(`${up.ready.url}/healthz`)).ok).toBe(true)
  expect(childrenOf(up.pid)).toHaveLength(1)
  up.kill('SIGTERM')
  expect(await up.exited).toEqual({ code: 0, signal: null })
})

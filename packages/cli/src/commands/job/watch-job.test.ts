import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { screenAfter } from '@parley/shell/testing'
import { hasTerminals, onTerminal } from '../../fixture/pty.ts'
import { commandsHere } from '../../fixture/run-here.ts'
import { type Script, codeFor } from '../../fixture/scripted-tester.ts'
import { openTestWorker } from '../../fixture/test-worker.ts'

/** A folder `one` with the tests of a job whose tests do not matter. */
function writeTests({ folder }: Scratch): void {
  mkdirSync(join(folder, 'one'), { recursive: true })
  writeFileSync(join(folder, 'one/1.in'), '')
  writeFileSync(join(folder, 'one/1.out'), '')
}

/** A gateway and a scripted judge, and a job whose code says what happens. */
async function openBench() {
  const scratch = new Scratch()
  const gateway = await LocalGateway.open(scratch.data)
  const judge = await openTestWorker(gateway, scratch.folder)
  return {
    scratch,
    here: commandsHere(scratch),
    judge,
    gateway,
    submit: (script: Script, title = 'a title'): string[] => {
      writeFileSync(join(scratch.folder, 'main.cpp'), codeFor(script))
      writeTests(scratch)
      return ['job', 'submit', '--code', 'main.cpp', '--tests', 'one', '--title', title, '--watch', '--data', scratch.data]
    },
    async [Symbol.asyncDispose]() {
      await judge[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
      await scratch[Symbol.asyncDispose]()
    },
  }
}

const ESCAPES = '\u001b[2J\u001b[31mred\u001b]0;title\u0007\u009b5n\u202e'
const CASES = Array.from({ length: 30 }, (_, index) => ({
  name: `case-${index}${index === 3 ? ESCAPES : ''}`,
  verdict: index === 3 ? ('WA' as const) : ('AC' as const),
  ...(index === 3 ? { message: `expected 1, got ${ESCAPES} and much more of it, too much for one line of a terminal` } : {}),
}))

test.skipIf(!hasTerminals())('on a terminal: frames over one another, then the table alone', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const size = { columns: 72, rows: 14 }
  const { code, out } = await onTerminal(bench.scratch, bench.submit({ cases: CASES, pauseMs: 30, fails: true }, ESCAPES), size)
  expect(code).toBe(1)
  const { lines, frames } = screenAfter(out, size.columns)
  expect(frames).toBeGreaterThan(2)
  expect(out).toContain('running_test')
  const names = lines.flatMap((line) => /^ {2}(case-\d+).* (AC|WA) /.exec(line)?.[1] ?? [])
  expect(names).toEqual(CASES.map((_, index) => `case-${index}`))
  expect(lines.join('\n')).toMatch(/\n {4}expected 1, got red/)
  expect(lines.join('\n')).not.toContain('running_test')
  expect(lines.slice(-3)).toEqual(['failed: 0 of 1 passed, 0 of 1 points', 'tests_failed: the script says so', ''])
})

test.skipIf(!hasTerminals())('what a compiler says reaches a terminal without its escapes', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const size = { columns: 100, rows: 30 }
  const compiler = `main.cpp:1:1: ${ESCAPES}error\r\n\tint main(\n`
  const { out } = await onTerminal(bench.scratch, bench.submit({ compiler, fails: true }), size)
  const { lines } = screenAfter(out.replaceAll('\t', '  '), size.columns)
  expect(lines[0]).toMatch(/^http:\S+\/jobs\/job_\w+ is its page$/)
  expect(lines.slice(1, 3)).toEqual(['main.cpp:1:1: rederror', '  int main('])
})

test('into a pipe: one line for each thing, nothing twice and nothing cut', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const message = `expected 1, got ${'2'.repeat(200)}`
  const cases = [
    { name: 'a-name-that-is-longer-than-any-column-of-a-table-of-cases', verdict: 'WA' as const, message },
    { name: 'b', verdict: 'AC' as const },
  ]
  const { code, out } = await bench.scratch.run(bench.submit({ cases, fails: true }, ESCAPES))
  expect(code).toBe(1)
  expect(out).not.toMatch(/[^\P{Cc}\n]/u)
  // Whoever comes later reads the same.
  const id = /^job_\w+/.exec(out)?.[0] ?? ''
  const later = (await bench.here.run(['job', 'watch', id, '--data', bench.scratch.data])).out
  const withoutStatus = (text: string): string => text.replace(/^job_\w+ \w+: \S.*/, 'JOB: title')
  expect(withoutStatus(later)).toBe(withoutStatus(out))
  expect(withoutStatus(out)).toBe(
    [
      'JOB: title',
      'analysis: claimed by test',
      'test: at work',
      'test: running 2 cases',
      `1/2  ${cases[0]?.name} WA           12 ms    2.0 MiB  ${message}`,
      '2/2  b                AC           12 ms    2.0 MiB',
      '',
      'failed: 0 of 1 passed, 0 of 1 points',
      'tests_failed: the script says so',
      '',
    ].join('\n'),
  )
})

test('a job that was cancelled says so once', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const watched = bench.scratch.run(bench.submit({ forever: true }))
  await expect.poll(() => bench.judge.tester.running, { timeout: 60_000 }).toBe(1)
  const listed = await bench.here.json(['job', 'list', '--data', bench.scratch.data])
  await bench.here.json(['job', 'cancel', listed.items[0].job_id, '--data', bench.scratch.data])
  const { code, out } = await watched
  expect(code).toBe(130)
  expect(out.split('\n').filter((line) => line.includes('cancelled'))).toEqual([
    expect.stringMatching(/^cancelled: you cancelled it/),
  ])
})

test('to anybody else it is said who cancelled it', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  await bench.gateway.call('user.add', { username: 'ada', admin: true })
  const { token } = await bench.gateway.call('token.create', { role: 'user', username: 'ada' })
  const id = await bench.gateway.submit({ current_code: codeFor({ forever: true }) })
  const env = { PARLEY_TOKEN: token, PARLEY_URL: bench.gateway.url }
  await bench.here.run(['job', 'cancel', id], { env })
  await bench.gateway.ended(id)
  const shown = async (setting: object, ...more: string[]) => (await bench.here.run(['job', 'show', id, ...more], setting)).out
  expect(await shown({}, '--data', bench.scratch.data)).toContain('cancelled: cancelled by ada')
  expect(await shown({ env })).toContain('cancelled: you cancelled it')
  // Whose it is, too: ada sees everybody's jobs.
  expect((await bench.here.run(['job', 'list'], { env })).out).toMatch(/^id +owner +status .*\njob_\w+ +admin +cancelled /)
})

test('a job that nobody can run says why it waits, in the list too, and goes on when a judge comes', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  const at = ['--data', scratch.data]
  writeFileSync(join(scratch.folder, 'main.cpp'), codeFor({}))
  writeTests(scratch)
  const watched = scratch.run(['job', 'submit', '--code', 'main.cpp', '--tests', 'one', '--watch', ...at])
  const listed = async () => (await commandsHere(scratch).run(['job', 'list', ...at])).out
  await expect.poll(listed, { timeout: 60_000 }).toMatch(/ queued \(no judge\) /)
  // Who asks for the end has told the state before.
  await expect.poll(() => gateway.store.audit.search({ action: 'job.wait', limit: 10 }), { timeout: 60_000 }).not.toEqual([])
  await using _judge = await openTestWorker(gateway, scratch.folder)
  const { code, out, err } = await watched
  expect({ code, out, err }).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^job_\w+ queued.*\nwaits: no judge is connected; .*\n(.*\n)*succeeded: /),
    err: expect.stringMatching(/^warning: no judge is connected\nhttp:\S+\/jobs\/job_\w+ is its page\n/),
  })
})

test.skipIf(!hasTerminals())('on a terminal the reason stands where the work would', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const size = { columns: 80, rows: 14 }
  writeFileSync(join(bench.scratch.folder, 'main.go'), 'package main')
  writeTests(bench.scratch)
  const args = ['job', 'submit', '--code', 'main.go', '--tests', 'one', '--watch', '--data', bench.scratch.data]
  const watched = onTerminal(bench.scratch, args, size)
  const first = async () => (await bench.gateway.call('job.list', {})).items[0]
  await expect.poll(async () => (await first())?.waiting?.code, { timeout: 60_000 }).toBe('no_language')
  const shown = await bench.here.run(['job', 'show', (await first())?.job_id ?? '', '--data', bench.scratch.data])
  expect(shown.out).toContain('waits: no judge that is here has Go (test: cpp); ')
  // Long enough for a frame: it is followed from the first state on.
  const id = (await first())?.job_id
  if (id === undefined) throw new Error('no job')
  await expect
    .poll(() => bench.gateway.store.audit.search({ action: 'job.wait', limit: 10 }), { timeout: 60_000 })
    .not.toEqual([])
  await bench.gateway.call('job.cancel', { job_id: id })
  const { code, out } = await watched
  expect(code).toBe(130)
  expect(out).toContain('waits: no judge that is here has Go (test: cpp);')
  expect(screenAfter(out, size.columns).lines.join('\n')).toContain('cancelled: you cancelled it')
})

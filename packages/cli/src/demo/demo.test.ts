import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { AgentStatusItem, type Report } from '@parley/protocol'
import { skipAloud } from '@parley/sandbox/testing'
import { expect, test } from 'vitest'
import { EXAMPLES_FOLDER } from '../data/scripts.ts'
import { KEPT_COMPILED, Scratch, childrenOf } from '../fixture/parley.ts'
import { gone } from '../fixture/gone.ts'
import { screenAfter } from '@parley/shell/testing'
import { hasTerminals, onTerminal } from '../fixture/pty.ts'
import { exampleNames, readExample } from './example.ts'
import { requireLanguage } from './require-language.ts'

/** A gateway, a judge, compilers, and a model that thinks aloud. */
const WHOLE_JOB = { timeout: 240_000 }

const leftovers = (scratch: Scratch) => readdirSync(scratch.folder).filter((name) => name.startsWith('parley-demo-'))

interface Seen {
  readonly lines: readonly string[]
  readonly status: string
  readonly report: Report
  readonly cost: number | null
}

async function play(scratch: Scratch, example: string): Promise<Seen> {
  const { code, out, err } = await scratch.run(['demo', '--json', '--example', example])
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('no model was asked') })
  expect(err).toMatch(/^Watch it on its page while this runs \(npm run demo -- --keep stays up\)\. /m)
  expect(err).toMatch(/^ {2}http:\S+\/jobs\/job_\w+#link=\S+$/m)
  const events = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const items = events.flatMap(({ event, item }) => (event === 'agent_status' ? [AgentStatusItem.parse(item)] : []))
  const { status, report } = events.at(-1)
  const usage = events.find(({ event }) => event === 'usage')
  expect(Object.keys(events.at(-1)).toSorted()).toEqual(['job_id', 'report', 'status'])
  const lines = items
    .filter(({ summary }) => summary !== '')
    .map(({ attempt, stage, summary }) => `${attempt} ${stage}: ${summary}`)
  return { lines, status, report, cost: usage?.usage.cost_microusd ?? null }
}

/** What the gateway answers to whoever signs in by a one-time link. */
async function use(link: URL): Promise<number> {
  const body = JSON.stringify({ token: link.hash.replace('#link=', '') })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(`${link.origin}/api/auth/link`, { method: 'POST', headers, body })).status
}

const verdicts = ({ tests }: Report) => tests.map(({ name, verdict }) => `${name} ${verdict}`)

test('knapsack: a greedy answer fails its self-test and the test, the repair passes all five', WHOLE_JOB, async () => {
  await using scratch = new Scratch()
  const { lines, status, report, cost } = await play(scratch, 'knapsack')
  expect(status).toBe('succeeded')
  expect(report).toMatchObject({ attempt: 2, status: 'succeeded', summary: { passed: 5, total: 5 } })
  expect(verdicts(report)).toEqual(['1 AC', '2 AC', '3 AC', '4 AC', '5 AC'])
  const steps = [
    /^1 .*a script/,
    /^1 .*self-test failed: 2 of 5/,
    /^1 .*failed: 2 of 5/,
    /^2 repair: Greedy/,
    /^2 .*self-test passed: 5 of 5/,
  ]
  const places = steps.map((step) => lines.findIndex((line) => step.test(line)))
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  for (const step of steps) expect(lines).toContainEqual(expect.stringMatching(step))
  expect(cost).toBe(0)
  expect(leftovers(scratch)).toEqual([])
})

test('two primes: several answers are right, and a checker of the problem takes them', WHOLE_JOB, async () => {
  await using scratch = new Scratch()
  const { status, report } = await play(scratch, 'goldbach')
  expect({ status, attempt: report.attempt }).toEqual({ status: 'succeeded', attempt: 1 })
  expect(verdicts(report)).toEqual(['1 AC', '2 AC', '3 AC'])
  expect(report.environment.compare_mode).toBe('checker')
})

test('stairs: in Python, repaired before it is handed in', WHOLE_JOB, async () => {
  await using scratch = new Scratch()
  const { status, report, lines } = await play(scratch, 'stairs')
  expect({ status, attempt: report.attempt }).toEqual({ status: 'succeeded', attempt: 1 })
  expect(report.environment.language).toBe('python')
  expect(lines).toContainEqual(expect.stringMatching(/self-test failed: 4 of 5 passed, first failure 5 \(RE\)/))
  expect(lines).toContainEqual(expect.stringMatching(/self-test passed: 5 of 5/))
})

test('Ctrl-C cancels it, ends both processes and removes everything', WHOLE_JOB, async () => {
  await using scratch = new Scratch()
  const shown = await scratch.start(['demo', '--json'])
  const children = childrenOf(shown.pid)
  expect(children).toHaveLength(2)
  shown.kill('SIGINT')
  expect(await shown.exited).toEqual({ code: 130, signal: null })
  for (const pid of children) await gone(pid)
  expect(leftovers(scratch)).toEqual([])
})

test('with --keep it stays up for whoever wants to look, and goes when told to', WHOLE_JOB, async () => {
  await using scratch = new Scratch()
  const { command, env } = scratch.launch(['demo', '--keep', '--example', 'goldbach'])
  const child = spawn(command[0], command.slice(1), { cwd: scratch.folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  await expect.poll(() => out, { timeout: 200_000 }).toContain('Ctrl-C stops everything')
  const [link, last] = [...out.matchAll(/^ {2}(http:\S+)$/gm)].map(([, found = '']) => new URL(found))
  if (link === undefined || last === undefined) throw new Error(`two links are printed, not: ${out}`)
  expect([link.pathname, link.hash]).toEqual([expect.stringMatching(/^\/jobs\/job_/), expect.stringMatching(/^#link=/)])
  // Before anything happens, so that it can be watched.
  expect(out.indexOf(link.href)).toBeLessThan(out.indexOf('claimed by'))
  // Whoever used the first link comes in by the last one, to the same page.
  expect(last.pathname).toBe(link.pathname)
  expect(await use(link)).toBe(200)
  expect(await use(link)).not.toBe(200)
  expect(await use(last)).toBe(200)
  child.kill('SIGINT')
  expect(await exited).toBe(0)
  expect(leftovers(scratch)).toEqual([])
  await expect(fetch(`${link.origin}/healthz`)).rejects.toThrow('fetch failed')
})

test('on a terminal: the steps, what is said, then the table', WHOLE_JOB, async (context) => {
  if (!hasTerminals()) skipAloud(context, 'the demo on a terminal', 'script of util-linux is missing')
  await using scratch = new Scratch()
  const size = { columns: 130, rows: 24 }
  const { code, out } = await onTerminal(scratch, ['demo', '--example', 'goldbach'], size)
  expect(code).toBe(0)
  const { lines, frames } = screenAfter(out, size.columns)
  expect(frames).toBeGreaterThan(3)
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}says: Two mistakes: 1 counts as a prime, and so do squares of primes/))
  const table = lines.flatMap((line) => /^ {2}(\d) +(AC|WA) /.exec(line)?.slice(1).join(' ') ?? [])
  expect(table).toEqual(['1 AC', '2 AC', '3 AC'])
  expect(lines).toContainEqual(expect.stringMatching(/^succeeded: 3 of 3 passed/))
  expect(lines).toContainEqual(expect.stringMatching(/^script-goldbach: 2 calls, .* a script, which costs nothing$/))
  expect(lines).toContainEqual(expect.stringContaining('no model was asked'))
  expect(lines).toContain('Enter or Ctrl-C stops everything and removes it.')
})

test('what is missing is named, with the way to get it', async () => {
  await using scratch = new Scratch()
  expect(() => requireLanguage('cpp20', [{ language: 'python', version: '3' }])).toThrow(
    expect.objectContaining({ code: 'language_missing', hint: 'apt install g++', exitCode: 1 }),
  )
  requireLanguage('cpp20', [{ language: 'cpp', version: '12' }])
  expect(await scratch.run(['demo', '--example', 'nonsense'])).toMatchObject({
    code: 2,
    err: 'parley: --example nonsense is none of: goldbach, knapsack, stairs\n',
  })
})

const root = join(EXAMPLES_FOLDER, '..')
async function program(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, args, { cwd: root, env: { PATH: process.env['PATH'] ?? '', ...KEPT_COMPILED, ...env } })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await exited, out, err }
}

test('the scripts are what their conversations say, and every example is whole', async () => {
  expect(await program(['examples/make-script.ts', '--check'])).toEqual({ code: 0, out: '', err: '' })
  expect(exampleNames()).toEqual(['goldbach', 'knapsack', 'stairs'])
  expect(exampleNames().map((name) => readExample(name).language)).toEqual(['cpp', 'cpp', 'python'])
  const cases = [1, 2, 3, 4, 5].map((name) => {
    const read = (ending: string) => readFileSync(join(EXAMPLES_FOLDER, 'knapsack/tests', `${name}.${ending}`), 'utf8')
    return `(${read('in').split('\n')[0]})→${read('out').trim()}`
  })
  expect(cases).toEqual(['(3 4)→6', '(5 0)→0', '(4 10)→10', '(5 10)→15', '(6 11)→40'])
})

test('examples/e2e-knapsack goes the whole way as a stranger', WHOLE_JOB, async () => {
  await using scratch = new Scratch()
  scratch.settings('signup = true\n[[channels]]\nname = "play"\nscript = "knapsack"\n')
  const up = await scratch.start(['up', '--port', '0', '--data', scratch.data, '--json'])
  const ran = await program(['examples/e2e-knapsack/main.ts', '--tail-terminal'], { PARLEY_URL: up.ready.url })
  expect(ran).toMatchObject({ code: 0, err: '' })
  expect(ran.out).toContain('[repair] Greedy itself is wrong')
  expect(ran.out).toContain('succeeded: 5 of 5 passed')
  const none = { REALMOI_E2E_API_BASE: `${up.ready.url}/api`, REALMOI_E2E_MODEL: 'no-such-model' }
  expect(await program(['examples/e2e-knapsack/main.ts'], none)).toMatchObject({
    code: 1,
    err: expect.stringContaining('no-such-model'),
  })
})

test('examples/e2e-knapsack says that there is no model by its exit code', WHOLE_JOB, async () => {
  await using scratch = new Scratch()
  const up = await scratch.start(['up', '--port', '0', '--no-judge', '--data', scratch.data, '--json'], {
    env: { PARLEY_SIGNUP: 'on' },
  })
  const ran = await program(['examples/e2e-knapsack/main.ts'], { PARLEY_URL: up.ready.url })
  expect(ran).toMatchObject({ code: 2, err: 'e2e: there is no model\n' })
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAILURES, byTurn, openModelServer } from '@parley/agent/testing/model-server'
import { expect, test } from 'vitest'
import { Scratch } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'

/** Compilers and interpreters, processes and a crowded machine. */
const WHOLE_JOB = { timeout: 240_000 }
const KEY = 'sk-upstream-key-that-nobody-may-see'

/** Sums in Python, with a case that plain addition of the digits would fail. */
function writeProblem(folder: string): string[] {
  writeFileSync(join(folder, 'problem.md'), '# Sums\n\nPrint the sum of two numbers.\n')
  mkdirSync(join(folder, 'cases'))
  writeFileSync(join(folder, 'cases/1.in'), '20 22\n')
  writeFileSync(join(folder, 'cases/1.out'), '42\n')
  return ['--statement', 'problem.md', '--tests', 'cases', '--language', 'python']
}

const WRONG = 'a, b = map(int, input().split())\nprint(a - b)\n'
const RIGHT = 'a, b = map(int, input().split())\nprint(a + b)\n'
const solution = (main: string) => ({ text: JSON.stringify({ main, solution_idea: 'add', complexity: 'O(1)' }) })
const selfTest = (source: string) => ({ call: 'realmoi-status_judge_self_test', arguments: { source } })

test.each(['responses', 'chat'] as const)(
  'a model on the %s wire, set up by two variables, writes and repairs; its key stays with the gateway',
  WHOLE_JOB,
  async (wire) => {
    await using scratch = new Scratch()
    let asked = 0
    const turns = byTurn(wire, [
      { pieces: [{ text: 'I try it.' }, selfTest(WRONG)], usage: { input: 100, output: 10 } },
      { pieces: [solution(WRONG)], usage: { input: 200, output: 20 } },
      { pieces: [selfTest(RIGHT)], usage: { input: 300, output: 30 } },
      { pieces: [solution(RIGHT)], usage: { input: 400, output: 40 } },
    ])
    // The first request is turned away, as a busy provider does.
    await using server = await openModelServer({
      wire,
      answers: (request) => ((asked += 1) === 1 ? FAILURES.rateLimited({ 'retry-after': '0' }) : turns(request)),
    })
    const env = { PARLEY_MODEL_BASE_URL: server.url, PARLEY_MODEL_API_KEY: KEY, PARLEY_MODEL_WIRE: wire, PARLEY_MODELS: 'm-1' }
    await scratch.start(['up', '--port', '0', '--data', scratch.data, '--json'], { env })
    const at = ['--data', scratch.data]
    const { code, out, err } = await scratch.run(['job', 'submit', ...writeProblem(scratch.folder), ...at, '--json'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.at(-1)).toMatchObject({ status: 'succeeded', report: { attempt: 2, summary: { passed: 1 } } })
    expect(events.at(-2)).toMatchObject({
      event: 'usage',
      usage: { model: 'm-1', calls: 4, usage: { input_tokens: 1_000, output_tokens: 100 }, cost_microusd: null },
    })
    expect(server.violations).toEqual([])
    expect(server.requests.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true)
    expect(out).not.toContain(KEY)
    const { groups } = await commandsHere(scratch).json(['usage', '--by', 'model', ...at])
    expect(groups).toMatchObject([{ key: expect.stringContaining('m-1'), calls: 4, unpriced_calls: 4 }])
  },
)

test('a job that needs an engine waits where the judge has none, and says so', WHOLE_JOB, async () => {
  await using scratch = new Scratch()
  scratch.settings('[[channels]]\nname = "play"\nscript = "knapsack"\n')
  await scratch.start(['up', '--port', '0', '--data', scratch.data, '--json', '--engine', 'none'])
  const problem = writeProblem(scratch.folder)
  const at = ['--data', scratch.data]
  const { job_id, url } = await commandsHere(scratch).json(['job', 'submit', ...problem, ...at, '--detach'])
  expect(url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/jobs/${job_id}$`))
  const waiting = async () => (await commandsHere(scratch).json(['job', 'show', job_id, ...at])).state.waiting
  await expect.poll(waiting, { timeout: 60_000 }).toMatchObject({
    code: 'no_engine',
    message: expect.stringContaining('has an engine to write code with'),
  })
})

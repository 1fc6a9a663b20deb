import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, FAILURES, type ModelServer, errorReply, openModelServer } from '@parley/agent/testing/model-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Scratch } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'

/** Several jobs on one instance, on a crowded machine. */
const WHOLE_JOBS = { timeout: 240_000 }
const KEY = 'sk-upstream-key-that-nobody-may-see'
const RIGHT = 'a, b = map(int, input().split())\nprint(a + b)\n'
const solution: Answer = { pieces: [{ text: JSON.stringify({ main: RIGHT }) }], usage: { input: 100, output: 10 } }

function writeProblem(folder: string): string[] {
  writeFileSync(join(folder, 'problem.md'), '# Sums\n\nPrint the sum of two numbers.\n')
  mkdirSync(join(folder, 'cases'))
  writeFileSync(join(folder, 'cases/1.in'), '20 22\n')
  writeFileSync(join(folder, 'cases/1.out'), '42\n')
  return ['--statement', 'problem.md', '--tests', 'cases', '--language', 'python', '--model', 'm-1', '--watch']
}

/** An instance whose model answers as it is told, and the shell. */
async function open(wire: 'responses' | 'chat') {
  const scratch = new Scratch()
  let answers: readonly Answer[] = []
  let asked = 0
  const server: ModelServer = await openModelServer({
    wire,
    // The last one is for everybody who comes later.
    answers: () => answers[Math.min(asked++, answers.length - 1)] ?? { silent: true },
  })
  const env = {
    PARLEY_MODEL_BASE_URL: server.url,
    PARLEY_MODEL_API_KEY: KEY,
    PARLEY_MODEL_WIRE: wire,
    PARLEY_MODELS: 'm-1',
    PARLEY_MODEL_TRIES: '3',
    PARLEY_MODEL_SILENT_MS: '1000',
  }
  await scratch.start(['up', '--port', '0', '--data', scratch.data, '--json'], { env })
  const problem = writeProblem(scratch.folder)
  return {
    async submit(...next: readonly Answer[]) {
      answers = next
      asked = 0
      const { code, out } = await commandsHere(scratch).run(['job', 'submit', ...problem, '--data', scratch.data])
      expect(out).not.toContain(KEY)
      const job = /job_\w+/.exec(out)?.[0] ?? ''
      return { code, out, asked: () => asked, job }
    },
    async [Symbol.asyncDispose]() {
      await scratch[Symbol.asyncDispose]()
      await server.close()
    },
  }
}

// One for each wire: what a test submits has ended when it ends.
let instances: Readonly<Record<'responses' | 'chat', Awaited<ReturnType<typeof open>>>>
beforeAll(async () => {
  const [responses, chat] = await Promise.all([open('responses'), open('chat')])
  instances = { responses, chat }
})
afterAll(async () => {
  for (const instance of Object.values(instances)) await instance[Symbol.asyncDispose]()
})

const OF_SETTINGS =
  'it comes from PARLEY_MODEL_API_KEY or OPENAI_API_KEY (model.api_key in parley.toml): an admin changes that and restarts the gateway'

test.each(['responses', 'chat'] as const)(
  'on the %s wire the shell says what is wrong with a channel and how to mend it, and nobody asks twice',
  WHOLE_JOBS,
  async (wire) => {
    const instance = instances[wire]
    const cases: [Answer, RegExp | string][] = [
      [
        FAILURES.badKey(KEY),
        `model_unauthorized: the provider refused the key of channel default (HTTP 401, invalid_api_key: “Incorrect API key provided: ${'*'.repeat(KEY.length)}.”); ${OF_SETTINGS}`,
      ],
      [errorReply(403, null, 'Not for you'), /^model_forbidden: .*channel default \(HTTP 403: “Not for you”\)/m],
      [
        errorReply(404, 'model_not_found', 'The model m-1 does not exist'),
        /^model_not_found: channel default does not know the model m-1 \(HTTP 404, model_not_found: “The model m-1 does not exist”\)/m,
      ],
      [errorReply(400, 'odd', 'This is odd'), /^model_rejected: the provider answered 400 odd: This is odd/m],
      [FAILURES.outOfQuota(), /^model_quota: the provider’s account behind channel default has no credit left/m],
      [
        { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' },
        /^model_misconfigured: channel default answered with a web page .*its base URL is probably wrong.*PARLEY_MODEL_BASE_URL/m,
      ],
    ]
    for (const [answer, words] of cases) {
      const { code, out, asked } = await instance.submit(answer)
      expect({ code, out, asked: asked() }).toEqual({
        code: 1,
        out: typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
        asked: 1,
      })
      // Nothing was spent.
      expect(out).toContain('m-1: 0 calls, 0 tokens in, 0 out')
    }
  },
)

test('what passes is waited for in front of everybody, and given up with what to do', WHOLE_JOBS, async () => {
  const instance = instances.responses
  const late = await instance.submit(FAILURES.rateLimited({ 'retry-after': '1' }), FAILURES.serverError(503), solution)
  expect(late.code).toBe(0)
  expect(late.out).toMatch(/the model is overloaded \(429\): Rate limit reached for requests, trying again in 1 s \(try 2 of 3\)/)
  expect(late.out).toMatch(/the model’s server failed \(503\), trying again in 1 s \(try 3 of 3\)/)

  const never = await instance.submit(FAILURES.rateLimited({ 'retry-after': '0' }))
  expect([never.code, never.asked()]).toEqual([1, 3])
  expect(never.out).toMatch(
    /^model_overloaded: .*Rate limit reached.*; given up after 3 tries and \d+ s of waiting; try again later: parley job retry job_\w+$/m,
  )
  expect(never.out).toContain(`parley job retry ${never.job}`)

  const silent = await instance.submit({ silent: true })
  expect(silent.out).toMatch(
    /^model_timeout: the model did not begin to answer within 1 s; given up after 2 tries.*parley job retry/m,
  )

  const failed: Answer = { pieces: [], usage: null, end: { failed: { code: 'server_error', message: 'Sorry' } } }
  const broken = await instance.submit(failed)
  expect(broken.out).toMatch(/^model_unavailable: .*server_error: Sorry/m)
  expect(broken.out).toContain('m-1: 0 calls, 0 tokens in, 0 out')
})

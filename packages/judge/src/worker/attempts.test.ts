import { type Answer, type Piece, byTurn, openModelServer } from '@parley/agent/testing/model-server'
import { type JobSpec, Report, ToolError } from '@parley/protocol'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBareGenerator } from '../fixture/bare-generator.ts'
import { openDeskWorker } from '../fixture/desk-worker.ts'
import { JobDesk } from '../fixture/job-desk.ts'
import { type Bench, openBench, specOf } from '../fixture/open-bench.ts'
import type { Answers } from '../fixture/open-writer.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const FILES = { '1.in': '2 3\n', '1.out': '5\n', '2.in': '0 4\n', '2.out': '4\n' }
const prints = (expression: string): string => `a, b = map(int, input().split())\nprint(${expression})\n`
const [RIGHT, HALF, WRONG] = [prints('a + b'), prints('b'), prints('-1')]
const selfTest = (source: string): Piece => ({ call: 'realmoi-status_judge_self_test', arguments: { source } })
const says = (main: string): Answer => ({ pieces: [{ text: JSON.stringify({ main }) }] })

/** A desk with a job for a model, a model, and a judge with a real tester at work on it. */
async function open(answers: Answers, more: Partial<JobSpec> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-attempts-'))
  const model = await openModelServer({ wire: 'responses', answers })
  const spec = { ...specOf({ language: 'python', code: '', files: FILES }, `job_${'0'.repeat(26)}`), model: 'loopback', ...more }
  const desk = new JobDesk(spec, FILES, model.url)
  const url = await desk.open()
  const { generator, http } = openBareGenerator()
  const worker = await openDeskWorker(url, folder, { tester: bench.tester, generator })
  return {
    desk,
    model,
    report: () => Report.parse(desk.artifacts.get('report_json')),
    code: () => Object(desk.artifacts.get('files'))['main.py'],
    summaries: () =>
      desk
        .lines('agent_status')
        .map(({ attempt, summary }) => `${Number(attempt)} ${typeof summary === 'string' ? summary : ''}`),
    async [Symbol.asyncDispose]() {
      await worker.stop(0)
      await desk[Symbol.asyncDispose]()
      await http.close()
      await model.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

test('a model that is gone when it is needed again ends the job with what it has, and loses no claim', async () => {
  await using job = await open([says(WRONG)])
  job.desk.onCall = (tool, { attempt }) => {
    if (tool === 'judge.prepare_generate' && attempt === 2)
      throw new ToolError('not_found', 'model: there is no model loopback', { field: 'model', hint: 'there are: a' })
  }
  await job.desk.ended
  expect([job.desk.claims, job.desk.released, job.desk.status]).toEqual([1, ['done'], 'failed'])
  expect(job.report()).toMatchObject({
    attempt: 1,
    error: { code: 'model_not_found', message: 'model: there is no model loopback; there are: a' },
  })
})

test('a wrong answer is tested, repaired in the same conversation, and the right one is reported', async () => {
  const answers = [{ pieces: [selfTest(WRONG)] }, says(WRONG), { pieces: [selfTest(RIGHT)] }, says(RIGHT)]
  await using job = await open(byTurn('responses', answers))
  await job.desk.ended
  expect(job.desk.patches.map(({ status, attempt }) => `${status} ${attempt ?? ''}`.trim())).toEqual([
    'running_generate 1',
    'running_test 1',
    'running_generate 2',
    'running_test 2',
    'succeeded',
  ])
  expect(job.report()).toMatchObject({ status: 'succeeded', attempt: 2, notes: ['self-tested on the judged cases'], error: null })
  expect(job.code()).toBe(RIGHT)
  expect(job.desk.artifacts.get('solution_json')).toMatchObject({ attempt: 2, schema_version: 'solution.v1' })
  expect(job.desk.released).toEqual(['done'])
  expect(job.model.violations).toEqual([])
  expect(job.desk.usage.size).toBe(4)
  // Two tests of two cases; what was self-tested stands in none of them.
  expect(
    job.desk
      .lines('cases')
      .map(({ attempt, verdict }) => JSON.stringify([attempt, verdict]))
      .toSorted(),
  ).toEqual(['[1,"WA"]', '[1,"WA"]', '[2,"AC"]', '[2,"AC"]'])
  const summaries = job.summaries()
  expect(summaries).toContain('1 self-test failed: 0 of 2 passed, first failure 1 (WA)')
  expect(summaries).toContain('1 the answer is untested: no self-test of this very program passed')
  expect(summaries).toContain('2 self-test passed: 2 of 2 passed')
  expect(new Set(job.desk.lines('agent_status').map(({ seq }) => seq)).size).toBe(summaries.length)
})

test('when the attempts are used up the one that passed the most is reported, and the report says so', async () => {
  await using job = await open(byTurn('responses', [says(HALF), says(WRONG)]), { max_attempts: 2 })
  await job.desk.ended
  expect(job.report()).toMatchObject({
    status: 'failed',
    attempt: 1,
    summary: { passed: 1, failed: 1 },
    notes: ['this is attempt 1, which did best: 1 of 2 passed'],
    error: { code: 'tests_failed' },
  })
  expect(job.code()).toBe(HALF)
  expect(job.desk.patches.at(-1)).toMatchObject({ status: 'failed', error: { code: 'tests_failed' } })
  expect(job.model.requests).toHaveLength(2)
})

test('a budget that ends during a repair is the reason, and the best so far the report', async () => {
  await using job = await open(byTurn('responses', [says(HALF), says(RIGHT)]))
  job.desk.onCall = (tool, { attempt }) => {
    if (tool === 'judge.prepare_generate' && attempt === 2) throw new ToolError('quota_exceeded', 'no tokens are left today')
  }
  await job.desk.ended
  const error = { code: 'budget_quota', message: 'no tokens are left today' }
  expect(job.report()).toMatchObject({ status: 'failed', attempt: 1, summary: { passed: 1 }, error })
  expect(job.report().notes).toContain('this is attempt 1, which did best: 1 of 2 passed')
  expect(job.desk.patches.at(-1)).toMatchObject({ status: 'failed', error })
  expect(job.code()).toBe(HALF)
  expect(job.summaries()).toContain('2 budget_quota: no tokens are left today')
})

test('a first attempt that fails is a report without tests', async () => {
  await using job = await open([{ pieces: [{ refusal: 'I will not.' }] }], { max_attempts: 1 })
  await job.desk.ended
  expect(job.report()).toMatchObject({
    mode: 'none',
    error: { code: 'model_refusal', message: expect.stringContaining('I will not') },
  })
  expect(job.desk.usage.size).toBe(1)
})

const talks = (text: string): Answer => ({ pieces: [{ text }] })

test('an attempt that gives no program is followed by another that is told why, until one does', async () => {
  const nonsense = [talks('I would rather talk.'), talks('{"answer": 42}'), { pieces: [{ refusal: 'I will not.' }] }]
  await using job = await open([...nonsense, says(RIGHT)])
  await job.desk.ended
  expect(job.report()).toMatchObject({ status: 'succeeded', attempt: 3, error: null })
  const inputs = job.model.requests.map(({ body }) => JSON.stringify(body['input']))
  expect(inputs).toHaveLength(4)
  expect(inputs[2]).toMatch(/Attempt 2 of 3.*gave no program that could be judged: the model gave no answer that can be read/)
  expect(inputs[3]).toMatch(/Attempt 3 of 3.*declined the task: I will not/)
  const summaries = job.summaries()
  expect(summaries).toContainEqual(
    expect.stringMatching(/^1 no program: the model gave no answer that can be read: .*; attempt 2 of 3 follows$/),
  )
  expect(summaries).toContainEqual(expect.stringMatching(/^2 no program: I will not.*; attempt 3 of 3 follows$/))
  expect(job.model.violations).toEqual([])
})

test.each<[string, Answer, string]>([
  ['an empty answer', { pieces: [] }, 'generate_unreadable'],
  ['garbage', talks('%%%% \u0000 ¯\\_(ツ)_/¯'), 'generate_unreadable'],
  ['JSON without a program', talks('{"main": ""}'), 'generate_unreadable'],
  ['a refusal', { pieces: [{ refusal: 'I will not.' }] }, 'model_refusal'],
  ['an answer cut by its length', { pieces: [{ text: '{"main": "pri' }], end: 'max_output_tokens' }, 'model_length'],
])('%s again and again ends the job only when all attempts are used', async (_what, answer, code) => {
  await using job = await open(() => answer, { max_attempts: 2 })
  await job.desk.ended
  expect(job.desk.patches.map(({ status, attempt }) => `${status} ${attempt ?? ''}`.trim())).toEqual([
    'running_generate 1',
    'running_generate 2',
    'failed',
  ])
  expect(job.report()).toMatchObject({
    attempt: 2,
    error: { code, message: expect.stringContaining('(the last of 2 attempts)') },
  })
})

test('a judge that takes over does not repeat an attempt that gave no program', async () => {
  const refusal: Answer = { pieces: [{ refusal: 'I will not.' }] }
  const answers = [refusal, { silent: true } as const, says(RIGHT)]
  await using job = await open(answers)
  await job.model.arrived(2)
  job.desk.expire()
  await job.desk.ended
  expect(job.report()).toMatchObject({ status: 'succeeded', claim: 2, attempt: 2 })
  expect(job.model.requests).toHaveLength(3)
})

test('what no other answer can mend ends the job at once, and says what to do', async () => {
  const message = 'The server had an error'
  const error = { message, type: 'invalid_request_error', param: null, code: 'odd' }
  await using job = await open([{ status: 400, body: { error } }])
  await job.desk.ended
  expect(job.report()).toMatchObject({ attempt: 1, error: { code: 'model_rejected' } })
  expect(job.model.requests).toHaveLength(1)
})

test('a cancelled job stops while the model is silent, and nothing follows', async () => {
  await using job = await open([{ silent: true }])
  await job.model.arrived(1)
  job.desk.isCancelled = true
  await job.desk.ended
  expect(job.desk.patches.map(({ status }) => status)).toEqual(['running_generate'])
  expect(job.summaries().at(-1)).toBe('1 cancelled')
  await expect.poll(() => job.model.requests[0]?.gone.aborted).toBe(true)
})

test('a lost claim stops the engine at once, and the next claim goes on', async () => {
  const rest = byTurn('responses', [says(RIGHT)])
  await using job = await open((request) => (request.number === 1 ? { silent: true } : rest(request)))
  await job.model.arrived(1)
  job.desk.expire()
  await job.desk.ended
  expect(job.desk.claims).toBe(2)
  expect(job.model.requests[0]?.gone.aborted).toBe(true)
  expect(job.report()).toMatchObject({ status: 'succeeded', claim: 2, attempt: 1 })
  expect(job.summaries()).toContain('1 goes on where the judge before stood')
  expect(job.model.violations).toEqual([])
})

import { type Answer, FAILURES, type Piece } from '@parley/agent/testing/model-server'
import { type JsonObject, Solution, ToolError } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { MODEL_KEY, openWriter } from '../fixture/open-writer.ts'
import { SOLUTIONS } from '../fixture/solutions.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const FILES = { '1.in': '2 3\n', '1.out': '5\n', '2.in': '4 5\n', '2.out': '9\n' }
const { right, wrong } = SOLUTIONS.python
const solves = (main: string, more: JsonObject = {}): string =>
  JSON.stringify({
    main,
    solution_idea: 'add',
    seed_code_idea: '',
    seed_code_bug_reason: '',
    user_feedback_md: '',
    seed_code_issue_type: 'no_seed_code',
    seed_code_wrong_lines: [],
    seed_code_fix_diff: '',
    assumptions: [],
    complexity: 'O(1)',
    ...more,
  })
const says = (text: string): Answer => ({ pieces: [{ text }], usage: { input: 100, output: 10, cached: 40 } })
const selfTest = (source: string): Piece => ({ call: 'realmoi-status_judge_self_test', arguments: { source } })
const textOf = (body: unknown): string => JSON.stringify(body)

describe('a solution', () => {
  test('statement, limits, samples and code go in; self-test, answer, solution and usage come out', async () => {
    const seed = 'a, b = map(int, input().split())\nprint(a - b)\n'
    await using writer = await openWriter(bench, [
      {
        pieces: [
          { reasoning: 'Adding, it seems.' },
          { call: 'realmoi-status_status_update', arguments: { stage: 'plan', summary: 'just add' } },
        ],
      },
      { pieces: [selfTest(right)] },
      says(
        solves(right, { seed_code_issue_type: 'minor_bug', seed_code_wrong_lines: [2, 99, 'x'], user_feedback_md: '**minus**' }),
      ),
    ])
    const job = await writer.job({ files: FILES, code: seed, timeMs: 1_500 }, { problem: { statement_md: 'Add two numbers.' } })
    const generated = await job.generate()
    expect(generated).toMatchObject({ kind: 'code', code: right, notes: ['self-tested on the judged cases'] })
    const solution = Solution.parse(generated.kind === 'code' ? generated.solution : undefined)
    expect(solution).toMatchObject({
      job_id: job.spec.job_id,
      seed_code_issue_type: 'minor_bug',
      seed_code_wrong_lines: [2],
      user_feedback_md: '**minus**',
      attempt: 1,
      tolerated: [],
    })
    expect(solution.seed_code_full_diff).toMatch(/^--- a\/main\.py\n\+\+\+ b\/main\.py\n@@ -1,2 \+1,3 @@\n/)
    expect(writer.model.violations).toEqual([])
    const [first] = writer.model.requests
    const asked = textOf(first?.body)
    for (const part of ['Add two numbers.', '1500 ms', '256 MB', 'Python', '2 3', 'print(a - b)', 'self_test'])
      expect(asked).toContain(part)
    expect(first?.headers.authorization).toBe(`Bearer ${MODEL_KEY}`)
    expect(textOf(first?.body['text'])).toContain('"strict":true')
    const summaries = job.summaries()
    expect(summaries).toContain('asks loopback (test)')
    expect(summaries).toContain('just add')
    expect(summaries).toContain('self-test passed: 2 of 2 passed')
    expect(summaries.at(-1)).toMatch(/^usage: .*3 calls, \$0\.001234$/)
    expect(job.calls).toHaveLength(3)
    expect(job.lines.some(({ kind, delta }) => kind === 'reasoning_summary_delta' && delta === 'Adding, it seems.')).toBe(true)
    expect(
      job.lines
        .filter(({ kind }) => kind === 'agent_message_delta')
        .map(({ delta }) => delta)
        .join(''),
    ).toContain('"main"')
    expect(job.lines.some(({ level }) => level === 'warn')).toBe(false)
  })

  test('a search that cannot be made is said, not passed over', async () => {
    await using writer = await openWriter(bench, [says(solves(right))])
    const job = await writer.job({}, { search_mode: 'live' })
    expect(await job.generate()).toMatchObject({ kind: 'code' })
    expect(job.summaries()).toContain('search_mode live: engines have no way to the web here, so it is written without')
  })

  test('a script says that it is one', async () => {
    await using writer = await openWriter(bench, [says(solves(right))], { prepared: { script: true } })
    const job = await writer.job()
    await job.generate()
    expect(job.summaries()[0]).toBe('loopback is a script: a file is played, no model is asked')
  })

  test('an answer whose self-test did not pass is called untested', async () => {
    await using writer = await openWriter(bench, [{ pieces: [selfTest(right)] }, says(solves(wrong))])
    const job = await writer.job({ files: FILES })
    expect(await job.generate()).toMatchObject({ kind: 'code', code: wrong })
    expect(job.lines).toContainEqual(expect.objectContaining({ level: 'warn', summary: expect.stringContaining('untested') }))
  })

  test('what was tolerated stands in the log and in the solution', async () => {
    await using writer = await openWriter(bench, [
      says(`Here you are:\n\`\`\`json\n{'main_cpp': ${JSON.stringify(right)},}\n\`\`\``),
    ])
    const job = await writer.job()
    const tolerated = [
      'a fence around the document',
      'other quotes than double ones',
      'a comma before the end',
      '`main_cpp` for `main`',
    ]
    expect(await job.generate()).toMatchObject({ kind: 'code', code: right, solution: { tolerated } })
    expect(job.lines).toContainEqual(expect.objectContaining({ level: 'warn', meta: { phase: 'tolerated', tolerated } }))
  })

  test('an answer that cannot be read is asked for again in the same conversation, once', async () => {
    await using writer = await openWriter(bench, [says('I would rather talk.'), says(solves(right))])
    const job = await writer.job()
    expect(await job.generate()).toMatchObject({ kind: 'code', code: right })
    expect(writer.model.requests).toHaveLength(2)
    expect(textOf(writer.model.requests[1]?.body)).toMatch(/I would rather talk.*cannot be read/)
    await using silent = await openWriter(bench, [says('No.'), says('Still no.'), says(solves(right))])
    const other = await silent.job()
    expect(await other.generate()).toMatchObject({ kind: 'failed', error: { code: 'generate_unreadable' } })
    expect(silent.model.requests).toHaveLength(2)
  })
})

describe('repair', () => {
  test('goes on in the same conversation, with what failed and its data', async () => {
    await using writer = await openWriter(bench, [says(solves(wrong)), { pieces: [selfTest(right)] }, says(solves(right))])
    const job = await writer.job({ files: FILES })
    await job.generate()
    const { report } = await bench.judge({ language: 'python', code: wrong, files: FILES })
    expect(await job.generate({ attempt: 2, previous: { code: wrong, report } })).toMatchObject({ kind: 'code', code: right })
    const [, second] = writer.model.requests
    const asked = textOf(second?.body)
    for (const part of ['0 of 2 passed', 'wrong answer', '<<< input', '-1', 'Attempt 2 of 3']) expect(asked).toContain(part)
    expect(JSON.stringify(second?.body['input']).match(/Solve this problem/g)).toHaveLength(1)
    expect(writer.model.violations).toEqual([])
  })

  test('the compiler’s words are told, and of hidden cases only how many failed', async () => {
    await using writer = await openWriter(bench, [says(solves('x')), says(solves('x')), says(solves('x'))])
    const job = await writer.job({ language: 'cpp', files: FILES })
    await job.generate()
    const broken = await bench.judge({ language: 'cpp', code: SOLUTIONS.cpp.broken, files: FILES })
    await job.generate({ attempt: 2, previous: { code: SOLUTIONS.cpp.broken, report: broken.report } })
    expect(textOf(writer.model.requests[1]?.body)).toMatch(/it does not compile.*was not declared in this scope/)
    const hidden = await bench.judge({ language: 'python', code: wrong, files: FILES, tests: { samples: [] } })
    await job.generate({ attempt: 3, previous: { code: wrong, report: hidden.report } })
    const asked = textOf(writer.model.requests[2]?.body['input'])
    expect(asked).toContain('2 of 2 hidden ones failed')
    expect(asked.slice(asked.lastIndexOf('The judge tested'))).not.toMatch(/expected output|4 5/)
  })
})

describe('what ends it', () => {
  test.each<[string, Answer, string]>([
    [
      'a refused key',
      {
        status: 401,
        body: { error: { message: 'bad key', type: 'invalid_request_error', param: null, code: 'invalid_api_key' } },
      },
      'model_unauthorized',
    ],
    ['a refusal', { pieces: [{ refusal: 'I will not.' }] }, 'model_refusal'],
  ])('%s', async (_what, answer, code) => {
    await using writer = await openWriter(bench, [answer])
    const job = await writer.job()
    expect(await job.generate()).toMatchObject({ kind: 'failed', error: { code } })
  })

  test('a budget', async () => {
    const budget = { requests: 1, tokens: null, microusd: null, wall_ms: null }
    await using writer = await openWriter(bench, [{ pieces: [selfTest(right)] }, says(solves(right))], { prepared: { budget } })
    const job = await writer.job({ files: FILES })
    expect(await job.generate()).toMatchObject({ kind: 'failed', error: { code: 'budget_requests' } })
  })

  test.each([
    ['budget.tokens: 9 of 9 tokens of the job are used or set aside', 'budget_tokens'],
    ['budget.microusd: 9 of 9 micro-USD of the job are used or set aside', 'budget_money'],
    ['tokens_per_day: 9 of 9 are used or set aside; resets_at 2026-11-17T00:00:00.000Z', 'budget_quota'],
  ])('a budget that was used up before: %s', async (message, code) => {
    await using writer = await openWriter(bench, [], { refused: new ToolError('quota_exceeded', message) })
    expect(await (await writer.job()).generate()).toEqual({ kind: 'failed', error: { code, message } })
  })

  test('an engine that this judge does not have', async () => {
    await using writer = await openWriter(bench, [])
    const job = await writer.job({}, { engine: 'codex' })
    expect(await job.generate()).toMatchObject({
      kind: 'failed',
      error: { code: 'engine_missing', message: expect.stringContaining('codex') },
    })
    expect(writer.model.requests).toEqual([])
  })

  test('a program with the key in it, and no stream shows the key', async () => {
    const leak = `key = "${MODEL_KEY}"\nprint(key)\n`
    const command: Piece = {
      call: 'shell',
      arguments: {
        command: ['sh', '-c', `printf '${MODEL_KEY.slice(0, 9)}'; sleep 0.1; printf '${MODEL_KEY.slice(9)} judge-token-abcdef'`],
      },
    }
    await using writer = await openWriter(bench, [
      {
        pieces: [
          { text: `I was given ${MODEL_KEY}` },
          { call: 'realmoi-status_status_update', arguments: { stage: 'plan', summary: `key ${MODEL_KEY}` } },
          { call: 'realmoi-status_status_update', arguments: { stage: 'plan', summary: 'x'.repeat(190) + MODEL_KEY } },
          command,
        ],
        manner: { deltaCharacters: 5 },
      },
      says(solves(leak)),
    ])
    const job = await writer.job()
    expect(await job.generate()).toMatchObject({ kind: 'failed', error: { code: 'secret_leak_detected' } })
    const left = JSON.stringify(job.lines) + job.terminal() + job.log.bytes.toString()
    expect(left).not.toContain(MODEL_KEY)
    expect(left).not.toContain('judge-token-abcdef')
    // The cut of a line does not leave its beginning either.
    expect(job.summaries().filter((summary) => summary.startsWith('xxx'))).toEqual([`${'x'.repeat(190)}***`])
    expect(job.terminal()).toContain('*** ***')
    const deltas = job.lines
      .filter(({ kind }) => kind === 'agent_message_delta')
      .map(({ delta }) => delta)
      .join('')
    expect(deltas).toContain('I was given ***')
  })

  test('a model that says nothing: those who watch are told that it is waited for, again and again', async () => {
    const limits = { waitingMs: 100, waitingEveryMs: 100 }
    await using writer = await openWriter(bench, [{ silent: true }], { limits })
    const job = await writer.job()
    const stop = new AbortController()
    const generating = job.generate({ signal: stop.signal })
    const waiting = () => job.lines.filter(({ meta }) => meta?.['phase'] === 'waiting')
    await expect.poll(() => waiting().length).toBeGreaterThanOrEqual(3)
    expect(waiting()[0]).toMatchObject({
      stage: 'coding',
      level: 'info',
      summary: expect.stringMatching(/^waiting for the model, \d+ s so far$/),
    })
    stop.abort()
    await generating
    const said = waiting().length
    expect(job.lines.filter(({ meta }) => meta?.['phase'] === 'waiting')).toHaveLength(said)
  })

  test('a self-test that takes long is no silence of the model', async () => {
    const limits = { waitingMs: 1, waitingEveryMs: 1 }
    const answers = [{ pieces: [selfTest(SOLUTIONS.python.sleeps)] }, says(solves(right))]
    await using writer = await openWriter(bench, answers, { limits })
    const job = await writer.job({ files: FILES, timeMs: 1_000 })
    await job.generate()
    const begun = job.lines.findIndex(({ summary }) => summary === 'tests itself')
    const ended = job.lines.findIndex(({ summary }) => summary.startsWith('self-test failed'))
    expect(begun).toBeGreaterThan(0)
    expect(ended).toBeGreaterThan(begun)
    expect(job.lines.slice(begun, ended).filter(({ meta }) => meta?.['phase'] === 'waiting')).toEqual([])
  })

  test('an overloaded model, with what to do', async () => {
    await using writer = await openWriter(bench, [FAILURES.rateLimited({ 'retry-after': '3600' })])
    const job = await writer.job()
    expect(await job.generate()).toEqual({
      kind: 'failed',
      error: {
        code: 'model_overloaded',
        message: expect.stringMatching(
          new RegExp(`Rate limit reached.*it asks to wait 60 min.*; try again later: parley job retry ${job.spec.job_id}$`),
        ),
      },
    })
  })

  test('the time of an attempt', async () => {
    await using writer = await openWriter(bench, [{ silent: true }], { limits: { generateMs: 500 } })
    const job = await writer.job()
    expect(await job.generate()).toMatchObject({ kind: 'failed', error: { code: 'generate_timeout' } })
  })
})

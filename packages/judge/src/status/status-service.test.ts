import { STATUS_LIMITS } from '@parley/protocol'
import { type Client, connectClient, memoryPair, memoryTransport, serveMemory } from '@parley/rpc'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Bench, type Submission, openBench, specOf } from '../fixture/open-bench.ts'
import { SOLUTIONS } from '../fixture/solutions.ts'
import type { StatusLine, TestRequest, Tester } from '../tester.ts'
import { SelfTests } from './self-test.ts'
import { statusService } from './status-service.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

let lines: StatusLine[]
let nowMs: number
beforeEach(() => {
  lines = []
  nowMs = 1_000
})

interface Opened extends AsyncDisposable {
  readonly client: Client
  call(name: string, args: object): Promise<Record<string, unknown>>
}

/** The service on a real tester, as an engine of this process mounts it. */
async function open(
  submission: Partial<Submission> = {},
  more: {
    readonly signal?: AbortSignal
    readonly tester?: Tester
    readonly tested?: (hash: string, ok: boolean) => Promise<void>
  } = {},
): Promise<Opened> {
  const whole: Submission = { language: 'python', code: '', ...submission }
  const inputFolder = await bench.folderOf(whole.files ?? {})
  const spec = specOf(whole, 'job_1')
  const service = statusService({
    voice: { status: (line) => `s-${lines.push(line)}` },
    selfTests: new SelfTests({
      tester: bench.tester,
      spec,
      inputFolder,
      judgeName: 'bench',
      claim: 1,
      attempt: 2,
      signal: new AbortController().signal,
      ...more,
    }),
    spec,
    version: '1.2.3',
    now: () => nowMs,
  })
  const { client, server } = memoryPair()
  serveMemory(server, service, { key: 'engine' })
  const connected = await connectClient(memoryTransport(client), { clientInfo: { name: 'test', version: '0' } })
  return {
    client: connected,
    call: async (name, args) => ({ ...(await connected.request('tools/call', { name, arguments: { ...args } })) }),
    [Symbol.asyncDispose]: () => connected.close(),
  }
}

const SAMPLES = { '1.in': '2 3\n', '1.out': '5\n', '2.in': '4 5\n', '2.out': '9\n' }
const right = SOLUTIONS.python.right
const answerOf = (result: Record<string, unknown>): unknown => result['structuredContent']

describe('status.update and agent.delta', () => {
  test('a line goes to the log as it was said, under a number', async () => {
    await using opened = await open()
    const said = {
      stage: 'plan',
      summary: 'read it',
      level: 'warn',
      progress: 0.5,
      meta: { a: 1 },
      job_id: 'job_other',
      attempt: 9,
    }
    expect(await opened.call('status.update', said)).toMatchObject({
      content: [{ type: 'text', text: '{"seq":"s-1"}' }],
      structuredContent: { seq: 's-1' },
    })
    expect(lines).toEqual([{ stage: 'plan', level: 'warn', summary: 'read it', progress: 0.5, meta: { a: 1 } }])
  })

  test('an unknown stage is analysis, and a long line is cut between characters', async () => {
    await using opened = await open()
    await opened.call('status.update', { stage: 'dreaming', summary: '🎈'.repeat(201) })
    await opened.call('agent.delta', { stage: 'dreaming', kind: 'other', delta: 'é'.repeat(20_001), meta: { summary_index: 1 } })
    expect(lines).toEqual([
      { stage: 'analysis', level: 'info', summary: '🎈'.repeat(200) },
      { stage: 'analysis', level: 'info', summary: '', kind: 'other', delta: 'é'.repeat(20_000), meta: { summary_index: 1 } },
    ])
  })

  test('the same line within a second is folded, a piece of text never', async () => {
    await using opened = await open()
    const update = async (summary: string) => answerOf(await opened.call('status.update', { stage: 'test', summary }))
    expect(await update('same')).toEqual({ seq: 's-1' })
    nowMs += STATUS_LIMITS.foldMs - 1
    expect(await update('same')).toEqual({ deduped: true })
    expect(await update('other')).toEqual({ seq: 's-2' })
    expect(await update('same')).toEqual({ seq: 's-3' })
    nowMs += STATUS_LIMITS.foldMs
    expect(await update('same')).toEqual({ seq: 's-4' })
    for (const seq of ['s-5', 's-6'])
      expect(answerOf(await opened.call('agent.delta', { stage: 'test', kind: 'k', delta: 'd' }))).toEqual({ seq })
  })

  test('what is wrong is named by its field; what is no tool is the protocol’s to refuse', async () => {
    await using opened = await open()
    const field = async (name: string, args: object) => {
      const result = await opened.call(name, args)
      return [result['isError'], result['structuredContent'], result['_meta']]
    }
    expect(await field('status.update', { summary: 'x' })).toMatchObject([
      true,
      undefined,
      { 'parley/error': { field: 'stage' } },
    ])
    expect(await field('status.update', { stage: 'x' })).toMatchObject([
      true,
      undefined,
      { 'parley/error': { field: 'summary' } },
    ])
    expect(await field('agent.delta', { stage: 'x', kind: 'k'.repeat(65) })).toMatchObject([
      true,
      undefined,
      { 'parley/error': { code: 'invalid_argument', field: 'kind' } },
    ])
    await expect(opened.call('status.nothing', {})).rejects.toMatchObject({ code: -32602 })
    await expect(opened.client.request('tools/run', {})).rejects.toMatchObject({ code: -32601 })
    expect(lines).toEqual([])
  })
})

describe('judge.self_test', () => {
  test('a program that passes: all of it is told, and a line says so', async () => {
    const tested: unknown[] = []
    await using opened = await open(
      { files: SAMPLES },
      { tested: (hash, ok) => Promise.resolve(void tested.push([hash.length, ok])) },
    )
    expect(answerOf(await opened.call('judge.self_test', { source: right, language: 'python' }))).toMatchObject({
      ok: true,
      status: 'succeeded',
      runner_exit_code: 0,
      compile_ok: true,
      first_failure: null,
      first_failure_verdict: null,
      first_failure_message: null,
      failure: null,
      passed: 2,
      total: 2,
      hidden_passed: 0,
      hidden_total: 0,
      time_ms: expect.any(Number),
      memory_kb: expect.any(Number),
    })
    expect(lines).toMatchObject([{ stage: 'test', level: 'info', summary: 'self-test passed: 2 of 2 passed' }])
    expect(tested).toEqual([[64, true]])
  })

  test('the first failure comes with its data, cut to a budget', async () => {
    const code =
      'import sys\na, b = map(int, input().split())\nprint(a - b)\nprint("x" * 9000, file=sys.stderr)\nprint("y" * 9000)'
    await using opened = await open({ files: { ...SAMPLES, '1.in': `2 3\n${'z'.repeat(50_000)}` } })
    const answer = answerOf(await opened.call('judge.self_test', { main_cpp: code }))
    expect(answer).toMatchObject({ ok: false, status: 'failed', runner_exit_code: 1, passed: 0, total: 2 })
    expect(answer).toMatchObject({ first_failure: '1', first_failure_verdict: 'WA' })
    expect(answer).toMatchObject({ failure: { name: '1', verdict: 'WA', hidden: false, expected: '5\n' } })
    const failure = Object(Object(answer).failure)
    expect(failure.input).toMatch(/^2 3\nz+\n… \(cut: \d+ .*\)$/)
    expect(failure.actual).toMatch(/^-1\ny+\n… \(cut: \d+ more characters\)$/)
    expect(failure.stderr).toMatch(/^\(cut: \d+ characters before this\) …\nx+\n$/)
    expect(Object(answer).stderr_tail).toBe(failure.stderr)
    for (const text of [failure.input, failure.actual, failure.stderr])
      expect(text.length).toBeLessThan(STATUS_LIMITS.tailChars + 60)
    expect(lines).toMatchObject([{ level: 'warn', summary: 'self-test failed: 0 of 2 passed, first failure 1 (WA)' }])
  })

  test('of hidden cases nothing is told but how many passed', async () => {
    const manifest = JSON.stringify({
      cases: [
        { name: 'seen', in: '1.in', out: '1.out' },
        { name: 'secret-good', in: '2.in', out: '2.out', hidden: true },
        { name: 'secret-bad', in: '3.in', out: '3.out', hidden: true },
      ],
    })
    await using opened = await open({
      files: { ...SAMPLES, 'manifest.json': manifest, '3.in': '777111 222\n', '3.out': 'classified\n' },
    })
    const result = await opened.call('judge.self_test', { source: right })
    expect(answerOf(result)).toMatchObject({
      ok: false,
      first_failure: null,
      first_failure_verdict: null,
      first_failure_message: '1 of 2 hidden cases failed',
      failure: null,
      passed: 2,
      total: 3,
      hidden_passed: 1,
      hidden_total: 2,
    })
    const told = JSON.stringify([result, lines])
    for (const word of ['secret', '777111', 'classified', '777333', 'token']) expect(told).not.toContain(word)
  })

  test('the compiler’s words come back', async () => {
    await using opened = await open({ language: 'cpp', files: SAMPLES })
    const answer = answerOf(await opened.call('judge.self_test', { main_cpp: SOLUTIONS.cpp.broken }))
    expect(answer).toMatchObject({
      ok: false,
      compile_ok: false,
      first_failure_verdict: 'CE',
      failure: null,
      total: 2,
      passed: 0,
    })
    expect(Object(answer).compile_output).toMatch(/undeclared.*was not declared/)
    expect(Object(answer).stderr_tail).toMatch(/undeclared.*was not declared/)
    expect(lines).toMatchObject([{ level: 'warn', summary: 'self-test failed: it does not compile' }])
  })

  test('cases without answers: it ran, and nobody says that it passed', async () => {
    await using opened = await open({ files: { '1.in': '2 3\n', '2.in': '4 5\n' }, tests: { samples: ['1'] } })
    expect(answerOf(await opened.call('judge.self_test', { source: right }))).toMatchObject({
      ok: true,
      unjudged: true,
      note: 'ran, not judged: the tests have no answers',
      passed: 0,
      judged: 0,
      run_only: 2,
      total: 2,
      hidden_passed: 0,
      hidden_total: 1,
      first_failure_message: null,
    })
    const crashes = answerOf(await opened.call('judge.self_test', { source: 'raise SystemExit(int(input()[0]) // 4)' }))
    expect(crashes).toMatchObject({ ok: false, unjudged: false, first_failure_message: '1 of 1 hidden cases failed' })
    expect(lines.map(({ meta }) => meta?.['unjudged'])).toEqual([true, false])
    expect(lines.map(({ summary }) => summary)).toEqual([
      'self-tested: ran, not judged: the tests have no answers',
      'self-test failed: 0 of 1 judged case passed, 1 only run',
    ])
  })

  test('some answers: only the judged cases pass', async () => {
    await using opened = await open({ files: { ...SAMPLES, '3.in': '1 1\n' } })
    const answer = answerOf(await opened.call('judge.self_test', { source: right }))
    expect(answer).toMatchObject({ ok: true, unjudged: false, passed: 2, judged: 2, run_only: 1, total: 3 })
    expect(lines).toMatchObject([{ summary: 'self-test passed: 2 of 2 judged cases passed, 1 only run' }])
  })

  test('without tests it only has to compile', async () => {
    await using opened = await open()
    expect(answerOf(await opened.call('judge.self_test', { source: right }))).toMatchObject({
      ok: true,
      unjudged: true,
      total: 0,
      compile_ok: true,
    })
    expect(answerOf(await opened.call('judge.self_test', { source: 'def (' }))).toMatchObject({ ok: false, compile_ok: false })
    expect(lines.map(({ summary }) => summary)).toEqual([
      'self-tested: compiled, not judged: the job has no tests',
      'self-test failed: it does not compile',
    ])
  })

  test.each<[string, object, string]>([
    ['nothing', {}, 'source'],
    ['empty', { source: '' }, 'source'],
    ['white space', { main_cpp: ' \n' }, 'main_cpp'],
  ])('no program (%s) is -32602 and names the field', async (_what, args, field) => {
    await using opened = await open({ files: SAMPLES })
    await expect(opened.call('judge.self_test', args)).rejects.toMatchObject({ code: -32602, data: { field } })
  })

  test.each<[string, object, string]>([
    ['two different programs', { main_cpp: 'a', source: 'b' }, 'source'],
    ['a program in another language', { source: 'x', language: 'rust' }, 'language'],
    ['a program that is no text', { source: 5 }, 'source'],
  ])('%s are refused as a result', async (_what, args, field) => {
    await using opened = await open({ files: SAMPLES })
    expect(await opened.call('judge.self_test', args)).toMatchObject({
      isError: true,
      _meta: { 'parley/error': { code: 'invalid_argument', field } },
    })
  })

  test('one at a time: a second one waits, and the job’s end ends both', async () => {
    const job = new AbortController()
    const begun: number[] = []
    const first = Promise.withResolvers<void>()
    let running = 0
    const slow: Tester = {
      languages: [],
      close: () => Promise.resolve(),
      test: async (request: TestRequest, listener, signal) => {
        begun.push((running += 1))
        first.resolve()
        return await bench.tester.test(request, listener, signal).finally(() => (running -= 1))
      },
    }
    await using opened = await open({ files: SAMPLES, timeMs: 60_000 }, { signal: job.signal, tester: slow })
    const args = { source: SOLUTIONS.python.sleeps }
    const both = [opened.call('judge.self_test', args), opened.call('judge.self_test', args)]
    await first.promise
    // What was sent after the second is answered: the second is there, and waits.
    await opened.call('status.update', { stage: 'test', summary: 'behind both' })
    job.abort()
    const answers = await Promise.all(both)
    expect(answers.map(answerOf)).toMatchObject([
      { ok: false, status: 'cancelled' },
      { ok: false, status: 'cancelled' },
    ])
    expect(begun).toEqual([1])
  })

  test('time is bounded as the caller says, within bounds', async () => {
    let aborted = Number.NaN
    const never: Tester = {
      languages: [],
      close: () => Promise.resolve(),
      test: async (request, listener, signal) => {
        const start = performance.now()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        aborted = performance.now() - start
        return bench.tester.test(request, listener, signal)
      },
    }
    await using opened = await open({ files: SAMPLES }, { tester: never })
    const answer = answerOf(await opened.call('judge.self_test', { source: right, timeout_seconds: 0.1 }))
    expect(answer).toMatchObject({ ok: false, status: 'timeout', error: expect.stringContaining('within 10 s') })
    expect(aborted).toBeGreaterThanOrEqual(9_900)
  }, 30_000)
})

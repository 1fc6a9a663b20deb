import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CASES, GREEDY, RIGHT, STATEMENT, inputOf, knapsackZip } from './knapsack.ts'
import { type Judged, openJudged } from './open-judged.ts'
import {
  SeedCreated,
  SeedLine,
  SeedModels,
  SeedPreview,
  SeedReport,
  SeedState,
  SeedStatus,
  SeedStatusNote,
  SeedSubscribed,
  SeedTerminalNote,
  SeedTests,
} from './seed-fields.ts'
import { Refused, type SeedUser, type Told, modernUser, plainUser, sessionUser } from './seed-user.ts'
import { type Log, lineEnds, readLog } from './seed-log.ts'

/** The user's side of the first job bus, step by step, by clients that nobody here wrote, against real processes. */
const POLL_MS = 50
const STREAMS = ['agent_status', 'terminal'] as const
const ENDS = ['succeeded', 'failed', 'cancelled']

let judged: Judged
let tests: string
beforeAll(async () => {
  judged = await openJudged(1)
  tests = await knapsackZip()
}, 120_000)
afterAll(() => judged[Symbol.asyncDispose]())

/** New for every run, so that the first of each is compiled while it is followed, and the others come from the cache. */
const NONCE = `// ${randomUUID()}\n`
const SOLUTIONS = [
  { solution: 'a right solution', code: `${RIGHT}${NONCE}`, status: 'succeeded', verdicts: CASES.map(() => 'AC') },
  { solution: 'the wrong greedy one', code: `${GREEDY}${NONCE}`, status: 'failed', verdicts: CASES.map(({ greedy }) => greedy) },
] as const
type Solution = (typeof SOLUTIONS)[number]

describe.each(SOLUTIONS)('$solution', (solution) => {
  test('by a plain socket without initialize, its sign-in in the query', { timeout: 120_000 }, async () => {
    await using user = await plainUser(judged.ws, judged.jwt)
    const walked = await walk(user, solution, subscribing(user, STREAMS))
    // The stream has no word for the end; the logs have, and everything in them comes.
    await expect.poll(() => heardTo(user.told)).toEqual(endsOf(walked.logs))
    await checkTold(user.told, walked)
  })

  test('by the official client 1.32 on a session, told on its GET stream', { timeout: 120_000 }, async () => {
    await using user = await sessionUser(judged.mcp, judged.token)
    const walked = await walk(user, solution, subscribing(user, [...STREAMS, 'state']))
    await expect
      .poll(() => user.told.at(-1))
      .toMatchObject({ method: 'job_state', params: { state: { status: solution.status } } })
    // The end came last: whatever was to be heard was heard before.
    const states = user.told.filter(({ method }) => method === 'job_state')
    expect(states.map(({ params }) => SeedState.parse(params['state']).status).filter((status) => ENDS.includes(status))).toEqual(
      [solution.status],
    )
    await checkTold(
      user.told.filter(({ method }) => method !== 'job_state'),
      walked,
    )
  })

  test('by the official client 2.4 in the modern era, which listens and reads', { timeout: 120_000 }, async () => {
    await using user = await modernUser(judged.mcp, judged.token)
    const heard: Record<Log, Buffer> = { agent_status: Buffer.alloc(0), terminal: Buffer.alloc(0) }
    const walked = await walk(user, solution, async (id, start) => {
      await expect(user.call('job.subscribe', { job_id: id })).rejects.toMatchObject({ body: { code: 'no_session' } })
      const uris = { agent_status: `resource://jobs/${id}/agent-status`, terminal: `resource://jobs/${id}/terminal` }
      const subscription = await user.client.listen({ resourceSubscriptions: Object.values(uris) })
      expect(subscription.honoredFilter).toMatchObject({ resourceSubscriptions: Object.values(uris) })
      // A job can be over before a listener is there: who wants to hear of every change listens first.
      await start()
      return async () => {
        for (const log of STREAMS) heard[log] = await followByReading(user, id, log, () => saidChanged(user.told, uris[log]))
        await subscription.close()
      }
    })
    expect(heard).toEqual(walked.logs)
    expect(user.told.length).toBeGreaterThan(0)
  })
})

test('a model that is not there is refused at its field, whatever else is right', async () => {
  await using user = await plainUser(judged.ws, judged.jwt)
  const refused = await user
    .call('job.create', { model: 'gpt-5.2-codex', statement_md: STATEMENT, current_code_cpp: GREEDY, tests_zip_b64: tests })
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Refused)
  expect(refused).toMatchObject({ body: { code: 'not_found', field: 'model', hint: expect.stringContaining('models.list') } })
})

interface Walked {
  readonly id: string
  readonly state: SeedState
  /** All bytes of the logs, as they were read in the moment when the end was seen. */
  readonly logs: Readonly<Record<Log, Buffer>>
}

/** The whole flow; `follow` starts the job and listens, and what it answers is done before the end is looked for. */
async function walk(user: SeedUser, { code, status, verdicts }: Solution, follow: Follow): Promise<Walked> {
  expect(SeedModels.parse(await user.call('models.list', {}))).toMatchObject({ items: [] })
  const created = SeedCreated.parse(
    await user.call('job.create', {
      statement_md: STATEMENT,
      current_code_cpp: code,
      tests_zip_b64: tests,
      tests_format: 'auto',
      compare_mode: 'tokens',
      run_if_no_expected: true,
      search_mode: 'disabled',
      reasoning_effort: 'medium',
      time_limit_ms: 2_000,
      memory_limit_mb: 1_024,
    }),
  )
  const id = created.job_id
  const created_state = SeedState.parse(await user.call('job.get_state', { job_id: id }))
  expect(created_state).toMatchObject({ status: 'created', started_at: null, judge: null, search_mode: 'disabled' })
  const caughtUp = await follow(id, async () => {
    expect(SeedStatus.parse(await user.call('job.start', { job_id: id })).job_id).toBe(id)
  })
  await checkTests(user, id)
  await caughtUp()
  const state = await pollToEnd(user, id)
  // Nothing is written after the end: what is there now is all there will ever be.
  const logs = { agent_status: await readLog(user, id, 'agent_status'), terminal: await readLog(user, id, 'terminal') }
  expect(state).toMatchObject({
    job_id: id,
    status,
    model: null,
    limits: { time_limit_ms: 2_000, memory_limit_mb: 1_024 },
    artifacts: { main_cpp: true, report_json: true },
    error: status === 'succeeded' ? null : { code: 'tests_failed' },
    judge: { machine_id: judged.installation.judges[0] },
  })
  await checkReport(user, state, { code, status, verdicts })
  checkLines(logs.agent_status, state)
  return { id, state, logs }
}
type Follow = (id: string, start: () => Promise<void>) => Promise<() => Promise<void>>

async function checkTests(user: SeedUser, id: string): Promise<void> {
  const { items, total } = SeedTests.parse(await user.call('job.get_tests', { job_id: id }))
  expect(total).toBe(CASES.length)
  expect(items).toMatchObject(
    CASES.map((_, index) => ({
      name: `${index + 1}`,
      group: 'default',
      input_rel: `tests/${index + 1}.in`,
      expected_rel: `tests/${index + 1}.out`,
      expected_present: true,
    })),
  )
  for (const [index, { input_rel, expected_rel }] of items.entries()) {
    const shown = SeedPreview.parse(await user.call('job.get_test_preview', { job_id: id, input_rel, expected_rel }))
    const one = CASES[index]
    const input = one === undefined ? '' : inputOf(one)
    expect(shown).toMatchObject({
      input: { text: input, truncated: false, bytes: input.length },
      expected: { text: `${one?.best}\n`, truncated: false },
    })
  }
  const [first] = items
  const cut = await user.call('job.get_test_preview', { job_id: id, input_rel: first?.input_rel, max_bytes: 3 })
  expect(SeedPreview.parse(cut)).toMatchObject({ input: { text: '3 4', truncated: true }, expected: null })
}

async function pollToEnd(user: SeedUser, id: string): Promise<SeedState> {
  for (;;) {
    const state = SeedState.parse(await user.call('job.get_state', { job_id: id }))
    if (ENDS.includes(state.status)) return state
    await wait(POLL_MS)
  }
}

async function checkReport(
  user: SeedUser,
  state: SeedState,
  { code, status, verdicts }: Pick<Solution, 'code' | 'status' | 'verdicts'>,
) {
  const { items } = await user.call('job.get_artifacts', { job_id: state.job_id, names: ['report.json', 'no-such-thing'] })
  expect(Object.keys(items ?? {})).toEqual(['report.json'])
  const report = SeedReport.parse((items as Record<string, unknown>)['report.json'])
  const passed = verdicts.filter((verdict) => verdict === 'AC').length
  expect(report).toMatchObject({
    job_id: state.job_id,
    owner_user_id: state.owner_user_id,
    status,
    mode: 'compile_and_test',
    environment: { cpp_std: 'c++20', compare_mode: 'tokens', time_limit_ms: 2_000, memory_limit_mb: 1_024 },
    compile: { ok: true, exit_code: 0 },
    summary: { total: 5, judged: 5, run_only: 0, passed, failed: 5 - passed, skipped: 0 },
  })
  expect(report.tests.map(({ verdict }) => verdict)).toEqual(verdicts)
  for (const [index, { stdout_b64, diff, expected_rel }] of report.tests.entries()) {
    expect(expected_rel).toBe(`tests/${index + 1}.out`)
    expect(diff.ok).toBe(verdicts[index] === 'AC')
    const said = Buffer.from(stdout_b64, 'base64').toString()
    expect(said === `${CASES[index]?.best}\n`).toBe(diff.ok)
  }
  const all = await user.call('job.get_artifacts', { job_id: state.job_id })
  expect(all['items']).toMatchObject({ 'main.cpp': code, 'report.json': report })
}

/** The timeline is whole when the end is seen: it begins with the claim and ends with the outcome, before `finished_at`. */
function checkLines(bytes: Buffer, state: SeedState): void {
  const lines = lineEnds(bytes).map(({ text }) => SeedLine.parse(JSON.parse(text)))
  expect(lines.at(0)).toMatchObject({ stage: 'analysis', summary: expect.stringContaining('claimed') })
  expect(lines.at(-1)).toMatchObject({ stage: state.status === 'succeeded' ? 'done' : 'error' })
  expect(new Set(lines.map(({ seq }) => seq)).size).toBe(lines.length)
  expect(lines.every(({ job_id }) => job_id === state.job_id)).toBe(true)
  expect(Date.parse(lines.at(-1)?.ts ?? '')).toBeLessThanOrEqual(Date.parse(state.finished_at ?? ''))
}

/** As in the seed: started first, subscribed then, from the beginning. */
const subscribing =
  (user: SeedUser, streams: readonly string[]): Follow =>
  async (id, start) => {
    await start()
    const answer = await user.call('job.subscribe', { job_id: id, streams, agent_status_offset: 0, terminal_offset: 0 })
    expect(SeedSubscribed.parse(answer)).toEqual({ job_id: id, streams })
    return () => Promise.resolve()
  }

/** The offset after the last notification of each stream. */
function heardTo(told: readonly Told[]): Readonly<Record<Log, number>> {
  const last = (log: Log): number => Number(told.findLast(({ method }) => method === log)?.params['offset'] ?? 0)
  return { agent_status: last('agent_status'), terminal: last('terminal') }
}

const endsOf = (logs: Walked['logs']): Readonly<Record<Log, number>> => ({
  agent_status: logs.agent_status.length,
  terminal: logs.terminal.length,
})

/** What was told is what the logs hold: every line and byte once, in order, each with the offset after it. */
async function checkTold(told: readonly Told[], { id, logs }: Walked): Promise<void> {
  expect([...new Set(told.map(({ method }) => method))].toSorted()).toEqual([...STREAMS])
  const items = told.filter(({ method }) => method === 'agent_status').map(({ params }) => SeedStatusNote.parse(params))
  expect(items).toEqual(
    lineEnds(logs.agent_status).map(({ text, offset }) => ({ job_id: id, offset, item: JSON.parse(text) as unknown })),
  )
  const chunks = told.filter(({ method }) => method === 'terminal').map(({ params }) => SeedTerminalNote.parse(params))
  let offset = 0
  for (const chunk of chunks) {
    offset += Buffer.from(chunk.chunk_b64, 'base64').length
    expect(chunk).toMatchObject({ job_id: id, offset })
  }
  expect(Buffer.concat(chunks.map(({ chunk_b64 }) => Buffer.from(chunk_b64, 'base64')))).toEqual(logs.terminal)
}

/** Reads on whenever it is told that there is more, until the log says that this was the last of it. */
async function followByReading(user: SeedUser, id: string, log: Log, changed: () => boolean): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let offset = 0; ;) {
    const page = await user.call('job.read_log', { job_id: id, stream: log, offset, max_bytes: 100, wait_ms: 1_000 })
    expect(page['offset']).toBe(offset)
    const bytes = Buffer.from(String(page['chunk_b64']), 'base64')
    pieces.push(bytes)
    offset += bytes.length
    expect(page['next_offset']).toBe(offset)
    if (page['eof'] === true) break
  }
  await expect.poll(changed).toBe(true)
  return Buffer.concat(pieces)
}

const saidChanged = (told: readonly Told[], uri: string): boolean =>
  told.some(({ method, params }) => method === 'notifications/resources/updated' && params['uri'] === uri)

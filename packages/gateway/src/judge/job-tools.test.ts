import { JOB_LIMITS, JobId, NO_CASES, TOOLS } from '@parley/protocol'
import { jobLog } from '@parley/store'
import { expect, test } from 'vitest'
import { type TestGateway, listIn, mint, openTestGateway } from '../fixture/test-gateway.ts'
import { type Claim, TestJudge, addJob, base64, unbase64 } from '../fixture/test-judge.ts'

const STRANGE = { job_id: 'job_00000000000000000000000000', claim_id: '0'.repeat(32) }
const NUMBERS = { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2, cached_output_tokens: 1 }
const CALLS: Record<string, object> = {
  'judge.heartbeat': {},
  'judge.release_claim': {},
  'judge.input.list': {},
  'judge.input.read_chunk': { path: 'job.json' },
  'judge.job.get_state': {},
  'judge.job.patch_state': { patch: { status: 'running_test' } },
  'judge.job.append_terminal': { offset: 0, chunk_b64: base64('x') },
  'judge.job.append_agent_status': { offset: 0, chunk_b64: base64('x') },
  'judge.job.append_case': { offset: 0, chunk_b64: base64('x') },
  'judge.job.append_transcript': { offset: 0, chunk_b64: base64('x') },
  'judge.job.read_transcript': {},
  'judge.job.put_artifacts': { main_cpp: 'x' },
  'judge.prepare_generate': {},
  'judge.usage.ingest': { attempt: 1, usage: NUMBERS },
}

test('a claim that is over is refused everywhere and changes nothing', async () => {
  await using bench = await openBench()
  const { judge, claim, gw } = bench
  await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'running_test' } })
  await judge.ok('judge.release_claim', { ...claim, reason: 'unfinished' })
  const next = await judge.claim()
  expect(next).toMatchObject({ job_id: claim.job_id })
  const before = await gw.store.jobs.byId(JobId.parse(claim.job_id))
  const hinted = { code: 'lease_lost', hint: 'stop working on it; judge.claim_next gives you the next job' }
  for (const [name, args] of Object.entries(CALLS))
    for (const stale of [claim, { ...next, claim_id: '0'.repeat(32) }, STRANGE])
      expect([name, await judge.refused(name, { ...args, ...stale })]).toEqual([name, expect.objectContaining(hinted)])
  expect(await gw.store.jobs.byId(JobId.parse(claim.job_id))).toEqual(before)
  expect((await gw.store.logs.end(jobLog(JobId.parse(claim.job_id), 'terminal'))).offset).toBe(0)
})

test('every field of every call is checked and named', async () => {
  await using bench = await openBench()
  const { judge, claim } = bench
  const garbage = [null, 7.5, -1, {}, [], 'ü\0', '../x', Number.MAX_SAFE_INTEGER]
  for (const [name, args] of Object.entries({ ...CALLS, 'judge.claim_next': { machine_id: 'm1' } })) {
    const good = name === 'judge.claim_next' ? args : { ...claim, ...args }
    const { input } = TOOLS[name as 'judge.heartbeat']
    for (const field of Object.keys(input.shape))
      for (const value of garbage) {
        if (input.safeParse({ ...good, [field]: value }).success) continue
        const { code, field: named } = await judge.refused(name, { ...good, [field]: value })
        expect([name, field, value, code, String(named).split('.')[0]]).toEqual([name, field, value, 'invalid_argument', field])
      }
    expect(await judge.refused(name, { ...good, extra: 1 })).toMatchObject({ code: 'invalid_argument', field: 'extra' })
  }
  expect(await judge.refused('judge.claim_next', { machine_id: 'a\0b' })).toMatchObject({ field: 'machine_id' })
  expect(await judge.ok('judge.heartbeat', claim)).toMatchObject({ ok: true, action: 'continue' })
})

test('a chunk that is there already changes nothing, one that does not fit says where to go on', async () => {
  await using bench = await openBench()
  const { judge, claim } = bench
  const append = (offset: number, text: string) =>
    judge.ok('judge.job.append_terminal', { ...claim, offset, chunk_b64: base64(text) })
  expect(await append(0, 'hello ')).toMatchObject({ ok: true, next_offset: 6, written_bytes: 6 })
  expect(await append(0, 'hello ')).toEqual({ ok: true, next_offset: 6, written_bytes: 0, action: 'continue' })
  expect(await append(6, 'world')).toMatchObject({ next_offset: 11 })
  expect(await append(0, 'hello ')).toMatchObject({ ok: true, next_offset: 6, written_bytes: 0 })
  expect(await append(6, 'world!\n')).toMatchObject({ ok: true, next_offset: 13 })
  const wrong = { ok: false, code: 'offset_mismatch', current_offset: 13, action: 'continue' }
  expect(await append(14, 'x')).toEqual(wrong)
  expect(await append(0, 'other')).toEqual(wrong)
  expect(await append(13, '')).toMatchObject({ ok: true, next_offset: 13, written_bytes: 0 })
  expect(await append(99, '')).toEqual(wrong)
  const id = JobId.parse(claim.job_id)
  const { entries } = await bench.gw.store.logs.read(jobLog(id, 'terminal'), { from: { offset: 0 }, maxBytes: 100 })
  expect(Buffer.concat(entries.map(({ bytes }) => bytes)).toString()).toBe('hello world!\n')
  for (const chunk_b64 of ['a', '####', 'aGk', 'aGk=\n', 'aG k=', base64('x'.repeat(JOB_LIMITS.chunkBytes + 1))])
    expect(await judge.refused('judge.job.append_terminal', { ...claim, offset: 13, chunk_b64 })).toMatchObject({
      code: 'invalid_argument',
      field: 'chunk_b64',
    })
})

test('past the cap of a log nothing is written and nothing fails', async () => {
  await using bench = await openBench()
  const { judge, claim } = bench
  const chunk_b64 = Buffer.alloc(JOB_LIMITS.chunkBytes, 'x').toString('base64')
  const full = JOB_LIMITS.agentStatusLogBytes
  for (let offset = 0; offset < full; offset += JOB_LIMITS.chunkBytes)
    expect(await judge.ok('judge.job.append_agent_status', { ...claim, offset, chunk_b64 })).toMatchObject({
      written_bytes: JOB_LIMITS.chunkBytes,
    })
  expect(await judge.ok('judge.job.append_agent_status', { ...claim, offset: full, chunk_b64 })).toEqual({
    ok: true,
    next_offset: full,
    written_bytes: 0,
    action: 'continue',
  })
})

test('a judge sets what is its own, repeats what is not, and hears which field was wrong', async () => {
  await using bench = await openBench()
  const { judge, claim, gw } = bench
  const patch = (change: object) => judge.call('judge.job.patch_state', { ...claim, patch: change })
  const refused = async (change: object) => (await patch(change))._meta?.['parley/error']
  const cases: [object, string][] = [
    [{ owner_user_id: 'usr_00000000000000000000000000' }, 'patch.owner_user_id'],
    [{ model: 'gpt' }, 'patch.model'],
    [{ claims: 0 }, 'patch.claims'],
    [{ judge: null }, 'patch.judge'],
    [{ nonsense: 1 }, 'patch.nonsense'],
    [{ status: 'queued', job_id: 'x' }, 'patch.job_id'],
    [{ status: 'created' }, 'patch.status'],
    [{ status: 7 }, 'patch.status'],
    [{ attempt: 0.5 }, 'patch.attempt'],
    [{ error: { code: 7, message: 'x' } }, 'patch.error.code'],
    [{ error: 'x' }, 'patch.error'],
    [{ summary: { total: -0.5 } }, 'patch.summary.total'],
    [{ containers: { generate: 7 } }, 'patch.containers.generate'],
    [{ containers: { test: { id: 'x'.repeat(20_000) } } }, 'patch.containers'],
  ]
  for (const [change, field] of cases) expect(await refused(change)).toMatchObject({ code: 'invalid_argument', field })
  expect(await refused({ status: 'succeeded' })).toEqual({
    code: 'conflict',
    message: 'the job is queued: succeeded may not follow',
    field: 'patch.status',
  })
  const state = await judge.ok('judge.job.get_state', claim)
  await patch({ ...state, containers: { generate: null, test: { id: 'c1', exit_code: null } }, status: 'running_test' })
  await patch({ containers: { generate: { id: 'c0' } } })
  await patch({ status: 'failed', error: { code: 'tests_failed', message: '1 of 2' }, finished_at: 'never' })
  expect((await patch({ status: 'failed' })).structuredContent).toEqual({ ok: true, action: 'continue' })
  expect(await refused({ status: 'running_test' })).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('is failed'),
  })
  expect(await judge.ok('judge.job.get_state', claim)).toMatchObject({
    status: 'failed',
    owner_user_id: null,
    error: { code: 'tests_failed', message: '1 of 2' },
    containers: { generate: { id: 'c0' }, test: { id: 'c1', exit_code: null } },
    finished_at: expect.stringMatching(/^20\d\d-/),
  })
  expect(await gw.store.jobs.byId(JobId.parse(claim.job_id))).toMatchObject({ claims: 1, ownerId: null })
})

test('a job of which no case was judged says so in its state and in lists, whatever its judge says about it', async () => {
  await using bench = await openBench({ 'tests/1.in': '1\n', 'tests/2.in': '2\n' })
  const { judge, claim, gw } = bench
  const state = async () => (await gw.admin('job.get_state', { job_id: claim.job_id })).structuredContent
  await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'running_test', attempt: 1, unjudged: true } })
  expect(await state()).toMatchObject({ status: 'running_test', unjudged: false })
  const summary = { ...NO_CASES, total: 2, run_only: 2 }
  await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'succeeded', summary, unjudged: false } })
  const told = { status: 'succeeded', unjudged: true, summary: { judged: 0, run_only: 2 } }
  expect(await state()).toMatchObject(told)
  expect((await gw.admin('job.list', {})).structuredContent).toMatchObject({ items: [told] })
})

test('what a judge tells of a job or of itself is bounded, because everybody who looks at a list gets it', async () => {
  await using bench = await openBench()
  const { judge, claim } = bench
  const summary = { ...NO_CASES, first_failure_message: 'x'.repeat(70_000) }
  expect(await judge.refused('judge.job.patch_state', { ...claim, patch: { summary } })).toMatchObject({
    code: 'invalid_argument',
    field: 'patch.summary',
  })
  const sandbox = { driver: 'x'.repeat(70_000), tier: '', enforced: {}, missing: [] }
  const facts = { version: '1', languages: [], sandbox, slots: 1, running: 0 }
  expect(await judge.refused('judge.claim_next', { machine_id: 'm2', facts })).toMatchObject({
    code: 'invalid_argument',
    field: 'facts',
  })
  expect(await judge.refused('judge.usage.ingest', { ...claim, attempt: 1, call_id: 'a\0', usage: NUMBERS })).toMatchObject({
    code: 'invalid_argument',
    field: 'call_id',
  })
})

test('an artifact may have any safe name', async () => {
  await using bench = await openBench()
  const { judge, claim, gw } = bench
  await judge.ok('judge.job.put_artifacts', { ...claim, files: { constructor: 'x', toString: 'y' } })
  expect((await gw.store.jobs.byId(JobId.parse(claim.job_id)))?.artifactNames).toEqual(['constructor', 'toString'])
})

test('artifacts: the same again changes nothing, the last one counts, names are safe and few', async () => {
  await using bench = await openBench()
  const { judge, claim, gw } = bench
  const id = JobId.parse(claim.job_id)
  const put = (args: object) => judge.call('judge.job.put_artifacts', { ...claim, ...args })
  expect((await put({ main_cpp: '', solution_json: {}, report_json: {} })).structuredContent).toEqual({
    ok: true,
    action: 'continue',
  })
  expect(await gw.store.jobs.artifacts(id)).toEqual([])
  for (const report_json of [{ x: 1 }, { status: 7 }])
    expect((await put({ report_json }))._meta?.['parley/error']).toMatchObject({ field: 'report_json.status' })
  const wrong = [
    '../x',
    'a/../b',
    '/etc/passwd',
    'a//b',
    '.',
    'ü',
    'a b',
    'a\\b',
    '',
    'report.json',
    'usage.json',
    'a/'.repeat(8) + 'a',
  ]
  for (const name of wrong)
    expect((await put({ files: { [name]: 'x' } }))._meta?.['parley/error']).toMatchObject({ field: `files.${name}` })
  const files = { 'attempt_1/prompt.txt': 'héllo', 'main.py': 'print()' }
  for (let round = 0; round < 2; round += 1) await put({ main_cpp: 'old', files, attempt: 1 })
  await put({ main_cpp: 'new', attempt: 2 })
  const found = (await gw.store.jobs.artifacts(id)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  expect(found.map(({ name, attempt, bytes }) => [name, attempt, bytes])).toEqual([
    ['attempt_1/prompt.txt', 1, 6],
    ['main.cpp', 2, 3],
    ['main.py', 1, 7],
  ])
  const many = Object.fromEntries(Array.from({ length: 62 }, (_, index) => [`f${index}`, 'x']))
  expect((await put({ files: many }))._meta?.['parley/error']).toMatchObject({ code: 'quota_exceeded', field: 'files' })
  expect(await gw.store.jobs.artifacts(id)).toHaveLength(3)
})

test('a call of a model is booked once, and usage.json is the sum of all', async () => {
  await using bench = await openBench()
  const { judge, claim, gw } = bench
  const ingest = (args: object) => judge.call('judge.usage.ingest', { ...claim, attempt: 1, usage: NUMBERS, ...args })
  const booked = async (args: object) => (await ingest(args)).structuredContent?.['booked']
  expect(await Promise.all([booked({}), booked({}), booked({ call_id: 'b' }), booked({ attempt: 2 })])).toSatisfy(
    (answers: unknown[]) => answers.filter((answer) => answer === true).length === 3,
  )
  expect(await booked({ usage: { ...NUMBERS, input_tokens: 99 } })).toBe(false)
  const [artifact] = await gw.store.jobs.artifacts(JobId.parse(claim.job_id))
  const read = await gw.store.blobs.read(artifact?.sha256 ?? '', 0, 10_000)
  expect(JSON.parse(unbase64(Buffer.from(read?.bytes ?? []).toString('base64')))).toMatchObject({
    usage: { input_tokens: 30, cached_input_tokens: 12, output_tokens: 6, cached_output_tokens: 3 },
    cost_microusd: null,
    calls: 3,
    unpriced_calls: 3,
  })
  const wrong: [object, string][] = [
    [{}, 'usage.input_tokens'],
    [{ ...NUMBERS, output_tokens: -1 }, 'usage.output_tokens'],
    [{ ...NUMBERS, input_tokens: 1.5 }, 'usage.input_tokens'],
    [{ usage: { ...NUMBERS, cached_input_tokens: 'x' } }, 'usage.usage.cached_input_tokens'],
    [{ ...NUMBERS, cached_input_tokens: 11 }, 'usage.cached_input_tokens'],
  ]
  for (const [usage, field] of wrong)
    expect((await ingest({ usage, call_id: 'c' }))._meta?.['parley/error']).toMatchObject({ code: 'invalid_argument', field })
})

test('what a judge sends by the thousand is not in the audit log, what it was refused is', async () => {
  await using bench = await openBench()
  const { judge, claim, gw } = bench
  await judge.ok('judge.job.append_terminal', { ...claim, offset: 0, chunk_b64: base64('x') })
  await judge.ok('judge.heartbeat', claim)
  await judge.refused('judge.job.append_terminal', { ...claim, offset: 0, chunk_b64: '#' })
  await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'running_test' } })
  const { structuredContent } = await gw.admin('audit.search', { actor: 'j1', limit: 100 })
  const items = listIn<{ action: string; code: string | null; target: string | null }>(structuredContent, 'items')
  const lines = items.map(({ action, code, target }) => [action, code, target])
  expect(lines.toReversed()).toEqual([
    ['judge.claim_next', null, claim.job_id],
    ['judge.job.append_terminal', 'invalid_argument', claim.job_id],
    ['judge.job.patch_state', 'begun', null],
    ['judge.job.patch_state', null, claim.job_id],
  ])
})

interface Bench extends AsyncDisposable {
  readonly gw: TestGateway
  readonly judge: TestJudge
  readonly claim: Claim
}

/** A gateway, a judge and a job that it holds. */
async function openBench(files: Readonly<Record<string, string>> = {}): Promise<Bench> {
  const gw = await openTestGateway()
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  const judge = await TestJudge.open(gw.gateway.ws, token)
  await addJob(gw.store, { files })
  return {
    gw,
    judge,
    claim: await judge.claim(),
    async [Symbol.asyncDispose]() {
      judge.close()
      await gw[Symbol.asyncDispose]()
    },
  }
}

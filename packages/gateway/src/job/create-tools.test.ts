import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { JOB_LIMITS, type JobId, TOOLS } from '@parley/protocol'
import { jobHolder } from '@parley/store'
import { ONE_CASE_ZIP, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlayedJudge, addUser } from '../fixture/test-job.ts'
import { type TestGateway, callTool, openTestGateway } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'
import { goodZip, rawZip } from '@parley/tests-zip/testing'

const CODE = { current_code: 'int main() {}' }
const WHOLE = { ...CODE, tests_zip_b64: ONE_CASE_ZIP }
const MIB = 1024 * 1024
const zip64 = async (files: Record<string, string>) => (await goodZip(files)).toString('base64')

let gw: TestGateway
let user: Awaited<ReturnType<typeof addUser>>
let rows: DatabaseSync
beforeAll(async () => {
  gw = await openTestGateway()
  user = await addUser(gw, 'ada')
  rows = new DatabaseSync(join(gw.folder, 'parley.db'), { readOnly: true })
})
afterAll(async () => {
  rows.close()
  await gw[Symbol.asyncDispose]()
})

const call = (name: string, args: object, token = user.token) => callTool(gw.gateway.url, token, name, args)
const failureOf = async (name: string, args: object, token?: string) => (await call(name, args, token))._meta?.['parley/error']

async function create(args: object): Promise<JobId> {
  const reply = await call('job.create', args)
  const made = TOOLS['job.create'].output.parse(reply.structuredContent)
  expect(made).toEqual({ ...reply.structuredContent, status: 'created' })
  return made.job_id
}

/** Every row that a job or its tests could leave. */
async function counts(): Promise<unknown[]> {
  await gw.store.blobs.collect(0)
  return ['jobs', 'job_inputs', 'uploads', 'blobs', 'blob_holders', 'blob_chunks', 'blob_garbage', 'logs'].map(
    (table) => rows.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()?.['n'],
  )
}

async function upload(bytes: Buffer, token = user.token): Promise<string> {
  const begun = TOOLS['blob.begin'].output.parse((await call('blob.begin', { bytes: bytes.length }, token)).structuredContent)
  for (let offset = 0; offset < bytes.length; offset += begun.chunk_bytes) {
    const chunk_b64 = bytes.subarray(offset, offset + begun.chunk_bytes).toString('base64')
    await call('blob.write', { upload_id: begun.upload_id, offset, chunk_b64 }, token)
  }
  const { structuredContent } = await call('blob.commit', { upload_id: begun.upload_id }, token)
  expect(structuredContent).toEqual({ sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length })
  return TOOLS['blob.commit'].output.parse(structuredContent).sha256
}

describe('job.create', () => {
  test('keeps what was asked for, with everything else at its default', async () => {
    const id = await create({ statement_md: '# Sum\nAdd.', ...WHOLE })
    expect(await gw.store.jobs.inputs(id)).toEqual({
      blob: expect.any(String),
      files: [expect.objectContaining({ path: 'tests/1.in' }), expect.objectContaining({ path: 'tests/1.out' })],
      cases: [expect.objectContaining({ name: '1' })],
      spec: {
        schema_version: 'job.v1',
        job_id: id,
        owner_user_id: user.id,
        title: 'Sum',
        language: 'cpp',
        model: null,
        upstream_channel: null,
        engine: null,
        problem: { statement_md: '# Sum\nAdd.' },
        seed: { current_code: 'int main() {}', current_code_cpp: 'int main() {}' },
        search_mode: 'cached',
        reasoning_effort: 'medium',
        max_attempts: 3,
        budget: { tokens: null, microusd: null },
        limits: {
          time_limit_ms: 2_000,
          memory_limit_mb: 1_024,
          cpus: 1,
          pids_limit: 256,
          max_output_bytes_per_test: 16 * MIB,
          max_terminal_log_bytes: 5 * MIB,
        },
        compile: { cpp_std: 'c++20' },
        tests: {
          dir: 'tests',
          present: true,
          format: 'auto',
          compare: { mode: 'tokens', tolerance: null },
          run_if_no_expected: true,
          checker: null,
          interactor: null,
          samples: null,
        },
      },
    })
    expect((await gw.store.jobs.byId(id))?.ownerId).toBe(user.id)
  })

  test('takes tests in the call, in natural order, with samples, over the socket without initialize', async () => {
    const socket = await TestSocket.open(gw.gateway.ws, user.token, 'query')
    const tests_zip_b64 = await zip64({ 'tests/10.in': 'ten', 'tests/10.out': '10', 'tests/2.in': 'two', 'tests/2.ans': '2' })
    const args = { current_code_cpp: 'int main() {}', tests_zip_b64, samples: ['2'] }
    const { result } = await socket.call('tools/call', { name: 'job.create', arguments: args })
    socket.socket.close()
    const { job_id } = TOOLS['job.create'].output.parse(result?.['structuredContent'])
    const inputs = await gw.store.jobs.inputs(job_id)
    expect(inputs?.cases.map(({ name, expected_rel, hidden }) => [name, expected_rel, hidden])).toEqual([
      ['2', 'tests/2.ans', false],
      ['10', 'tests/10.out', true],
    ])
    expect(inputs?.files.map(({ path, size }) => [path, size])).toEqual([
      ['tests/2.ans', 1],
      ['tests/2.in', 3],
      ['tests/10.in', 3],
      ['tests/10.out', 2],
    ])
    expect(inputs?.spec).toMatchObject({ title: 'untitled', tests: { present: true, samples: ['2'] } })
    const blob = inputs?.blob ?? ''
    expect(Buffer.from((await gw.store.blobs.read(blob, 0, 100))?.bytes ?? []).toString()).toBe('2twoten10')
    expect(await gw.store.blobs.isHeld(blob, jobHolder(job_id))).toBe(true)
  })

  test('takes tests from an upload, as often as wanted', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`${index}.in`, randomBytes(MIB).toString('latin1')]),
    )
    const zip = await goodZip(files)
    expect(zip.length).toBeGreaterThan(JOB_LIMITS.zipInCallBytes)
    const sha256 = await upload(zip)
    const [one, two] = [await create({ ...CODE, tests_blob: sha256 }), await create({ ...CODE, tests_blob: sha256 })]
    const [first, second] = [await gw.store.jobs.inputs(one), await gw.store.jobs.inputs(two)]
    expect(first?.files.map(({ path }) => path)).toEqual(Array.from({ length: 12 }, (_, index) => `tests/${index}.in`))
    expect(second?.blob).toBe(first?.blob)
    const last = first?.files.at(-1)
    const bytes = await gw.store.blobs.read(first?.blob ?? '', last?.offset ?? 0, last?.size ?? 1)
    expect(Buffer.from(bytes?.bytes ?? []).toString()).toBe(files['11.in'])
  })

  test('lets the manifest say what the call leaves open, and lets the call say more', async () => {
    const manifest = {
      compare_mode: 'floats',
      float_tolerance: { absolute: 0.25 },
      time_limit_ms: 700,
      memory_limit_mb: 99,
      checker: 'chk.py',
      groups: { g: { points: 10 } },
      cases: [{ in: 'a', group: 'g', hidden: true, compare_mode: 'checker' }],
    }
    const tests_zip_b64 = await zip64({ a: '1', 'chk.py': 'print("ok")', 'manifest.json': JSON.stringify(manifest) })
    const quiet = await gw.store.jobs.inputs(await create({ ...CODE, tests_zip_b64 }))
    expect(quiet?.cases).toMatchObject([{ name: 'a', hidden: true, points: 0, compare_mode: 'checker' }])
    expect(quiet?.spec).toMatchObject({
      limits: { time_limit_ms: 700, memory_limit_mb: 99 },
      tests: {
        compare: { mode: 'floats', tolerance: { absolute: 0.25, relative: 1e-6 } },
        checker: { language: 'python', source: 'print("ok")' },
      },
    })
    const said = {
      compare_mode: 'lines',
      time_limit_ms: 900,
      float_tolerance: { relative: 0.5 },
      checker: { source: 'int main() {}' },
    }
    const loud = await gw.store.jobs.inputs(await create({ ...CODE, ...said, tests_zip_b64 }))
    expect(loud?.spec).toMatchObject({
      limits: { time_limit_ms: 900, memory_limit_mb: 99 },
      tests: {
        compare: { mode: 'lines', tolerance: { absolute: 1e-6, relative: 0.5 } },
        checker: { language: 'cpp', source: 'int main() {}' },
      },
    })
  })

  test('a program that comes along is used', async () => {
    const program = { source: 'int main() {}' }
    const modes = [{ checker: program }, { interactor: program }, { interactor: program, checker: program }].map(async (args) => {
      const inputs = await gw.store.jobs.inputs(await create({ ...WHOLE, ...args }))
      return inputs?.spec.tests.compare.mode
    })
    expect(await Promise.all(modes)).toEqual(['checker', 'interactive', 'interactive'])
  })

  test('knows the standard of C++ and keeps other code as it is', async () => {
    const seeds = []
    for (const language of ['cpp17', 'cpp23', 'c', 'python']) {
      const { spec } = (await gw.store.jobs.inputs(await create({ ...WHOLE, language }))) ?? {}
      seeds.push([spec?.compile.cpp_std, spec?.seed.current_code_cpp === ''])
    }
    expect(seeds).toEqual([
      ['c++17', false],
      ['c++23', false],
      [null, true],
      [null, true],
    ])
    const python = await create({ ...WHOLE, current_code: 'print()', current_code_cpp: '', language: 'python' })
    expect((await gw.store.jobs.inputs(python))?.spec.seed).toEqual({ current_code: 'print()', current_code_cpp: '' })
  })

  test('refuses with the field and the way out, and leaves nothing behind', async () => {
    const ok = await zip64({ '1.in': '1', '1.out': '1' })
    const manifest = (value: object, more: Record<string, string> = {}) =>
      zip64({ '1.in': '1', ...more, 'manifest.json': JSON.stringify(value) })
    const slip = rawZip([{ name: '../../etc/cron.d/x', data: Buffer.from('x') }]).toString('base64')
    const late = rawZip([
      { name: '1.in', data: randomBytes(3 * MIB) },
      { name: '2.in', data: Buffer.from('x'), crc: 7 },
    ]).toString('base64')
    const foreign = await addUser(gw, 'eve')
    const foreignBlob = await upload(await goodZip({ '1.in': 'eve' }), foreign.token)
    const noZip = await upload(Buffer.from('I am no zip, and was uploaded all the same'))
    const cases: [args: object, code: string, field: string, message: RegExp][] = [
      [{}, 'invalid_argument', 'current_code', /is needed without a model/],
      [{ current_code: '' }, 'invalid_argument', 'current_code', /is needed/],
      [{ ...CODE, current_code_cpp: 'other' }, 'invalid_argument', 'current_code_cpp', /differs from current_code/],
      [{ current_code_cpp: 'x', language: 'python' }, 'invalid_argument', 'current_code_cpp', /the language is python/],
      [{ ...CODE, model: 'gpt-9' }, 'not_found', 'model', /there is no model gpt-9/],
      [{ ...CODE, engine: 'mini' }, 'invalid_argument', 'engine', /with a model/],
      [{ ...CODE, budget: { tokens: 9 } }, 'invalid_argument', 'budget', /with a model/],
      [{ ...CODE, max_attempts: 2 }, 'invalid_argument', 'max_attempts', /with a model/],
      [{ model: 'gpt-9' }, 'invalid_argument', 'statement_md', /is empty/],
      [{ ...CODE, upstream_channel: 'x' }, 'invalid_argument', 'upstream_channel', /with a model/],
      [{ ...CODE, language: 'cobol' }, 'invalid_argument', 'language', /./],
      [{ ...CODE, time_limit_ms: 0 }, 'invalid_argument', 'time_limit_ms', /./],
      [{ ...CODE, extra: 1 }, 'invalid_argument', 'extra', /./],
      [{ ...CODE, statement_md: 'a\0b' }, 'invalid_argument', 'statement_md', /NUL/],
      [{ current_code: 'a\0b' }, 'invalid_argument', 'current_code', /NUL/],
      [{ ...CODE, title: '\ud800' }, 'invalid_argument', 'title', /Unicode/],
      [{ ...CODE, checker: { source: '\0' } }, 'invalid_argument', 'checker.source', /NUL/],
      [{ ...CODE, statement_md: 'é'.repeat(600_000) }, 'invalid_argument', 'statement_md', /more than 1048576 bytes/],
      [{ current_code: 'é'.repeat(600_000) }, 'invalid_argument', 'current_code', /more than 1048576 bytes/],
      [{ ...CODE, tests_zip_b64: ok, tests_blob: '0'.repeat(64) }, 'invalid_argument', 'tests_blob', /tests_zip_b64/],
      [{ ...CODE, tests_blob: '0'.repeat(64) }, 'not_found', 'tests_blob', /there is no blob/],
      [{ ...CODE, tests_blob: foreignBlob }, 'not_found', 'tests_blob', /there is no blob/],
      [{ ...CODE, tests_blob: noZip }, 'invalid_argument', 'tests_blob', /^tests_blob: is not a zip/],
      [{ ...CODE, tests_blob: 'x' }, 'invalid_argument', 'tests_blob', /64 hex digits/],
      [{ ...CODE, tests_zip_b64: 'not base64!' }, 'invalid_argument', 'tests_zip_b64', /is not base64/],
      [{ ...CODE, tests_zip_b64: 'AAAA' }, 'invalid_argument', 'tests_zip_b64', /is not a zip/],
      [{ ...CODE, tests_zip_b64: 'A'.repeat(12 * MIB) }, 'invalid_argument', 'tests_zip_b64', /larger than the 8 MiB/],
      [{ ...CODE, tests_zip_b64: slip }, 'invalid_argument', 'tests_zip_b64', /"\.\.\/\.\.\/etc\/cron\.d\/x" leaves/],
      [{ ...CODE, tests_zip_b64: late }, 'invalid_argument', 'tests_zip_b64', /"tests\/2\.in" is damaged/],
      [{ ...CODE, tests_zip_b64: await zip64({ readme: '' }) }, 'invalid_argument', 'tests_zip_b64', /there is no case/],
      [{ ...CODE, tests_zip_b64: ok, tests_format: 'manifest' }, 'invalid_argument', 'tests_format', /no manifest\.json/],
      [CODE, 'invalid_argument', 'tests_zip_b64', /is needed without a model: there is nothing to judge/],
      [{ ...CODE, tests_zip_b64: '' }, 'invalid_argument', 'tests_zip_b64', /is not a zip/],
      [{ ...CODE, tests_zip_b64: await zip64({}) }, 'invalid_argument', 'tests_zip_b64', /has no file in it/],
      [{ ...CODE, tests_format: 'manifest' }, 'invalid_argument', 'tests_format', /no tests/],
      [{ ...CODE, tests_zip_b64: ok, samples: ['2'] }, 'invalid_argument', 'samples', /there is no case 2/],
      [{ ...CODE, samples: [] }, 'invalid_argument', 'samples', /no tests/],
      [
        { ...CODE, tests_zip_b64: await manifest({ cases: [{ in: '1.in' }, { in: '../../secret' }] }) },
        'invalid_argument',
        'tests_zip_b64',
        /^tests_zip_b64: manifest\.json cases\[1\]\.in: \.\.\/\.\.\/secret is not/,
      ],
      [
        { ...CODE, tests_blob: await upload(await goodZip({ '1.in': '1', 'manifest.json': '{"cases": [{"in": "2.in"}]}' })) },
        'invalid_argument',
        'tests_blob',
        /^tests_blob: manifest\.json cases\[0\]\.in: there is no file 2\.in/,
      ],
      [
        { ...CODE, tests_zip_b64: await manifest({ cases: [{ in: '1.in' }], checker: 'c.cpp' }, { 'c.cpp': 'a\0b' }) },
        'invalid_argument',
        'tests_zip_b64',
        /NUL/,
      ],
      [
        { ...CODE, tests_zip_b64: await manifest({ cases: [{ in: '1.in' }], checker: 'c.cpp' }, { 'c.cpp': '' }) },
        'invalid_argument',
        'tests_zip_b64',
        /c\.cpp is empty/,
      ],
      [{ ...WHOLE, compare_mode: 'checker' }, 'invalid_argument', 'checker', /is needed to compare by checker/],
      [{ ...WHOLE, compare_mode: 'interactive' }, 'invalid_argument', 'interactor', /is needed to compare by interactive/],
      [
        { ...CODE, tests_zip_b64: await manifest({ cases: [{ in: '1.in', compare_mode: 'checker' }] }) },
        'invalid_argument',
        'checker',
        /is needed/,
      ],
    ]
    const before = await counts()
    for (const [args, code, field, message] of cases) {
      const failure = await failureOf('job.create', args)
      expect({ args: Object.keys(args), failure }).toMatchObject({
        failure: { code, field, message: expect.stringMatching(message) },
      })
    }
    expect(await counts()).toEqual(before)
  })

  test('others are served while a large zip is unpacked', async () => {
    const files = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`${index}.in`, `${index}`.repeat(10 * MIB)]))
    const tests_zip_b64 = await zip64(files)
    const made = create({ ...CODE, tests_zip_b64 })
    let answered = 0
    for (let next = 'answered'; next === 'answered'; answered += 1)
      next = await Promise.race([made.then(() => 'made'), call('models.list', {}).then(() => 'answered')])
    const inputs = await gw.store.jobs.inputs(await made)
    expect(inputs?.files.map(({ size }) => size)).toEqual(Array.from({ length: 6 }, () => 10 * MIB))
    // The second was asked when the first was answered, long after the zip had been sent.
    expect(answered).toBeGreaterThan(2)
  })
})

describe('job.retry', () => {
  test('makes a new job of the same inputs and starts it', async () => {
    const old = await create({ ...CODE, title: 'again', tests_zip_b64: await zip64({ '1.in': 'retry me' }) })
    expect(await failureOf('job.retry', { job_id: old })).toMatchObject({ code: 'conflict', field: 'job_id' })
    const judge = await PlayedJudge.take(gw.store, old)
    expect(await failureOf('job.retry', { job_id: old })).toMatchObject({ code: 'conflict' })
    await judge.end('failed')
    const { structuredContent } = await call('job.retry', { job_id: old })
    const made = TOOLS['job.retry'].output.parse(structuredContent)
    expect(made).toMatchObject({ status: 'queued', retry_of: old })
    const [first, second] = [await gw.store.jobs.inputs(old), await gw.store.jobs.inputs(made.job_id)]
    expect(second).toEqual({ ...first, spec: { ...first?.spec, job_id: made.job_id } })
    expect(await gw.store.jobs.byId(made.job_id)).toMatchObject({ ownerId: user.id, retryOf: old, status: 'queued' })
    expect(await gw.store.jobs.delete(old)).toBe(true)
    await gw.store.blobs.collect(0)
    expect(await gw.store.blobs.stat(second?.blob ?? '')).toEqual({ bytes: 8 })
    await gw.store.jobs.cancel(made.job_id)
  })

  test("is for one's own jobs; an admin's retry stays its owner's", async () => {
    const old = await create(WHOLE)
    await gw.store.jobs.cancel(old)
    const { token } = await addUser(gw, 'mallory')
    expect(await failureOf('job.retry', { job_id: old }, token)).toMatchObject({ code: 'not_found', field: 'job_id' })
    const { structuredContent } = await gw.admin('job.retry', { job_id: old })
    const { job_id } = TOOLS['job.retry'].output.parse(structuredContent)
    expect((await gw.store.jobs.byId(job_id))?.ownerId).toBe(user.id)
    await gw.store.jobs.cancel(job_id)
  })
})

test('on PostgreSQL it is the same', async () => {
  const postgres = await startEngine('postgres')
  {
    await using other = await openTestGateway({}, await postgres.migratedUrl())
    const { id, token } = await addUser(other, 'ada')
    const on = async (name: string, args: object) => (await callTool(other.gateway.url, token, name, args)).structuredContent
    const args = { ...CODE, statement_md: 'é\n\u2028', tests_zip_b64: await zip64({ 'é.in': '1', 'é.out': '', '2.in': '2' }) }
    const { job_id } = TOOLS['job.create'].output.parse(await on('job.create', args))
    await on('job.cancel', { job_id })
    const again = TOOLS['job.retry'].output.parse(await on('job.retry', { job_id }))
    const inputs = await other.store.jobs.inputs(again.job_id)
    expect(inputs?.files.map(({ path, offset }) => [path, offset])).toEqual([
      ['tests/2.in', 0],
      ['tests/é.in', 1],
      ['tests/é.out', 2],
    ])
    expect(inputs?.cases.map(({ name }) => name)).toEqual(['2', 'é'])
    const before = await other.store.shares.of(id)
    expect([before.unfinished.used, before.jobs.used]).toEqual([1, 2])
    const bad = rawZip([{ name: '1.in', data: randomBytes(2 * MIB), crc: 1 }]).toString('base64')
    const failed = await callTool(other.gateway.url, token, 'job.create', { ...CODE, tests_zip_b64: bad })
    expect(failed._meta?.['parley/error']).toMatchObject({ field: 'tests_zip_b64' })
    // What was unpacked of it is gone, and counts no more.
    expect(await other.store.shares.of(id)).toEqual(before)
  }
  await postgres.stop()
})

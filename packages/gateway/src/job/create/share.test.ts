import { JOB_LIMITS, TOOLS, type UserId } from '@parley/protocol'
import { jobLog, openStore } from '@parley/store'
import { ENGINES, ONE_CASE_ZIP, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, callTool, mint, openTestGateway, optionsOf } from '../../fixture/test-gateway.ts'
import { addJob, addUser } from '../../fixture/test-job.ts'
import { TestJudge, base64 } from '../../fixture/test-judge.ts'
import { openGateway } from '../../gateway.ts'
import { goodZip } from '@parley/tests-zip/testing'

const KIB = 1024
const MIB = KIB * KIB
const CODE = { current_code: 'x', tests_zip_b64: ONE_CASE_ZIP }

async function person(gw: TestGateway) {
  const { token, id } = await addUser(gw, 'ada')
  const call = (name: string, args: object, url = gw.gateway.url) => callTool(url, token, name, args)
  const failureOf = async (name: string, args: object) => (await call(name, args))._meta?.['parley/error']
  const create = async (args: object = {}) =>
    TOOLS['job.create'].output.parse((await call('job.create', { ...CODE, ...args })).structuredContent).job_id
  const allow = (bounds: object) => gw.admin('user.set_quota', { username: 'ada', ...bounds })
  return { token, id, call, failureOf, create, allow, used: () => usedBy(gw, id) }
}

const usedBy = async ({ store }: TestGateway, id: UserId) => (await store.shares.of(id)).bytes.used

describe.each(ENGINES)("a person's share on %s", (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('counts texts, and a retry as much as what it retries; who is over it hears what to delete', async () => {
    await using gw = await openTestGateway({}, await host.migratedUrl())
    const { call, failureOf, create, allow, used } = await person(gw)
    const statement_md = 'x'.repeat(MIB)
    const old = await create({ statement_md })
    expect(await used()).toBeGreaterThan(MIB)
    await call('job.cancel', { job_id: old })
    await allow({ kept_bytes: 3 * MIB })
    const retry = async () => TOOLS['job.retry'].output.parse((await call('job.retry', { job_id: old })).structuredContent).job_id
    await call('job.cancel', { job_id: await retry() })
    const full = {
      code: 'quota_exceeded',
      message: 'job_id: beyond your share of 3 MiB',
      field: 'job_id',
      hint: expect.stringMatching(/job\.delete frees .* user\.set_quota/),
    }
    expect(await failureOf('job.retry', { job_id: old })).toEqual(full)
    expect((await gw.admin('job.retry', { job_id: old }))._meta?.['parley/error']).toMatchObject({
      message: 'job_id: beyond the owner’s share of 3 MiB',
    })
    const message = 'tests_zip_b64: beyond your share of 3 MiB'
    expect(await failureOf('job.create', { ...CODE, statement_md })).toMatchObject({ message, field: 'tests_zip_b64' })
    expect((await gw.store.shares.of((await gw.store.users.byName('ada'))?.id ?? null)).jobs.used).toBe(2)
    expect(await failureOf('blob.begin', { bytes: 3 * MIB })).toMatchObject({ code: 'quota_exceeded', field: 'bytes' })
    expect(await failureOf('blob.begin', { bytes: JOB_LIMITS.userBytes })).toMatchObject({ field: 'bytes' })
    // What was deleted is free, and an admin raises what is not enough.
    await allow({ kept_bytes: 4 * MIB })
    await retry()
    await allow({ kept_bytes: null })
    expect((await call('usage.summary', {})).structuredContent).toMatchObject({
      quota: { kept_bytes: { used: await used(), limit: JOB_LIMITS.userBytes }, kept_jobs: { used: 3 } },
    })
    await call('job.delete', { job_id: old })
    expect((await gw.admin('user.set_quota', { username: 'ada', kept_jobs: 2 })).structuredContent).toMatchObject({
      quota: { kept_jobs: { used: 2, limit: 2 } },
    })
    expect(await failureOf('job.create', CODE)).toEqual({
      code: 'quota_exceeded',
      message: '2 of your jobs are kept, and no more may be',
      hint: expect.stringContaining('job.delete those that are not needed'),
    })
  })

  test('beyond it a log stops as a full one does, and the verdict and the report still come', async () => {
    await using gw = await openTestGateway({}, await host.migratedUrl())
    const { call, failureOf, create, allow, used } = await person(gw)
    const job_id = await create()
    await call('job.start', { job_id })
    const later = await create()
    const { token } = await mint(gw, { role: 'judge', name: 'j1' })
    const judge = await TestJudge.open(gw.gateway.ws, token)
    const claim = await judge.claim()
    await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'running_test', attempt: 1 } })
    const write = (offset: number, text: string, log = 'terminal') =>
      judge.ok(`judge.job.append_${log}`, { ...claim, offset, chunk_b64: base64(text) })
    const wide = 'y'.repeat(100 * KIB)
    expect(await write(0, wide)).toMatchObject({ ok: true, next_offset: wide.length, written_bytes: wide.length })
    await allow({ kept_bytes: (await used()) + 10 })
    expect(await write(wide.length, wide)).toMatchObject({ ok: true, next_offset: wide.length, written_bytes: 0 })
    expect(await write(0, 'z'.repeat(5 * KIB), 'agent_status')).toMatchObject({ ok: true, next_offset: 0, written_bytes: 0 })
    // The room that a job has from the beginning is there whatever else is full.
    expect(await write(0, 'ok\n', 'agent_status')).toMatchObject({ ok: true, next_offset: 3, written_bytes: 3 })
    const report_json = { schema_version: 'report.v1', status: 'succeeded', note: 'n'.repeat(1_000) }
    await judge.ok('judge.job.put_artifacts', { ...claim, attempt: 1, report_json, main_cpp: 'int main() {}' })
    await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'failed', attempt: 1 } })
    await judge.ok('judge.release_claim', claim)
    judge.close()
    expect((await call('job.get_state', { job_id })).structuredContent).toMatchObject({ status: 'failed' })
    expect((await call('job.get_artifacts', { job_id, names: ['report.json'] })).isError).toBeUndefined()
    expect((await gw.store.logs.end(jobLog(later, 'terminal'))).offset).toBe(0)
    // What a judge handed in counts: one more job is not begun.
    expect(await used()).toBeGreaterThan(
      (await gw.store.shares.of((await gw.store.jobs.byId(later))?.ownerId ?? null)).bytes.limit,
    )
    expect(await failureOf('job.start', { job_id: later })).toMatchObject({ code: 'quota_exceeded', field: 'job_id' })
    await call('job.delete', { job_id })
    await allow({ kept_bytes: (await used()) + 10 })
    expect((await call('job.start', { job_id: later })).isError).toBeUndefined()
  })
})

test('two gateways that are asked at once do not let one more through each', async () => {
  await using host = await startEngine('postgres')
  const url = await host.migratedUrl()
  await using gw = await openTestGateway({}, url)
  const store = await openStore({ url })
  const beside = await openGateway(optionsOf(store, []))
  const { call, create, allow, used } = await person(gw)
  const old = await create({ statement_md: 'x'.repeat(100_000) })
  await call('job.cancel', { job_id: old })
  const each = await used()
  const worked = async (name: string, args: object) => {
    const urls = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? gw.gateway.url : beside.url))
    const replies = await Promise.all(urls.map((at) => call(name, args, at)))
    return replies.filter(({ isError }) => isError !== true).length
  }
  await allow({ kept_bytes: 3 * each + 2_000 })
  expect(await worked('job.retry', { job_id: old })).toBe(2)
  await allow({ kept_bytes: null, kept_jobs: 5 })
  expect(await worked('job.create', CODE)).toBe(2)
  await beside.close(200)
  await store.close()
})

test('uploads, jobs and what was let go of are one share', async () => {
  await using gw = await openTestGateway()
  const { call, failureOf, create, allow, used } = await person(gw)
  const begin = async () => TOOLS['blob.begin'].output.parse((await call('blob.begin', {})).structuredContent).upload_id
  const tests_zip_b64 = (await goodZip({ '1.in': '1'.repeat(50_000), '1.out': '' })).toString('base64')
  const job_id = await create({ tests_zip_b64 })
  const [made, upload_id] = [await used(), await begin()]
  expect(made).toBeGreaterThan(50_000)
  await allow({ kept_bytes: made + 8 })
  const write = { upload_id, offset: 0, chunk_b64: base64('12345678') }
  expect((await call('blob.write', write)).isError).toBeUndefined()
  expect(await failureOf('blob.write', { ...write, offset: 8 })).toMatchObject({ code: 'quota_exceeded', field: 'chunk_b64' })
  expect((await call('blob.write', write)).isError).toBeUndefined()
  expect(await failureOf('job.create', { ...CODE, tests_zip_b64 })).toMatchObject({ field: 'tests_zip_b64' })
  // Its texts are gone, its files are still on the disk.
  await call('job.delete', { job_id })
  expect(await used()).toBe(50_000 + 8)
  expect((await call('blob.commit', { upload_id })).structuredContent).toMatchObject({ bytes: 8 })
  await call('blob.abort', { upload_id: await begin() })
  expect(await used()).toBe(50_000 + 8)
})

test('jobs that wait or run are counted, those of others and those that ended are not', async () => {
  await using gw = await openTestGateway()
  const { id, call, failureOf } = await person(gw)
  const ids = await Promise.all(Array.from({ length: JOB_LIMITS.unfinishedJobs }, () => addJob(gw.store, id)))
  await addJob(gw.store, null)
  const refused = { code: 'quota_exceeded', message: '1000 of your jobs are not finished' }
  expect(await failureOf('job.create', CODE)).toMatchObject(refused)
  await gw.store.shares.check(null, { jobs: 1 })
  const [first] = ids
  if (first !== undefined) await gw.store.jobs.cancel(first)
  expect((await call('job.create', CODE)).isError).toBeUndefined()
  expect(await failureOf('job.retry', { job_id: first })).toMatchObject(refused)
})

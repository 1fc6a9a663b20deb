import { JOB_LIMITS, type JobId, NO_PRICES, NO_TOKENS, type UserId } from '@parley/protocol'
import type { Store } from '@parley/store'
import { ENGINES, ONE_CASE_ZIP, type TestEngine, startEngine } from '@parley/store/testing'
import { jobBounds, openQuotaBook } from '@parley/models'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlayedJudge, addJob, addUser } from '../fixture/test-job.ts'
import { type TestGateway, type ToolReply, callTool, openTestGateway } from '../fixture/test-gateway.ts'

const DAY_MS = 86_400_000
const failure = (reply: ToolReply) => reply._meta?.['parley/error']
const SCRIPT = JSON.stringify({
  schema_version: 'script.v1',
  model: 'played',
  display_name: 'Played',
  answers: [{ status: 200, body: {} }],
})
const scripts = { read: async () => SCRIPT, names: async () => ['played'] }
const channels = [{ name: 'demo', kind: 'script', script: 'played', wire: 'responses', enabled: true, models: [] }] as const

/** Books a call as one that passed. */
async function spend(store: Store, ownerId: UserId | null, callId: string, tokens: number, costMicrousd: number): Promise<void> {
  await store.usages.add({
    agentId: null,
    prompt: null,
    jobId: null,
    ownerId,
    claimId: 'claim',
    claim: 1,
    attempt: 1,
    callId,
    channel: null,
    model: 'played',
    threadId: null,
    estimated: false,
    tokens: { ...NO_TOKENS, input_tokens: tokens },
    prices: NO_PRICES,
    costMicrousd,
  })
}

async function people(gw: TestGateway) {
  const ada = await addUser(gw, 'ada')
  const call = (name: string, args: object) => callTool(gw.gateway.url, ada.token, name, args)
  const create = async (more: object = {}): Promise<JobId> => {
    const reply = await call('job.create', {
      statement_md: '# Sum',
      current_code: 'int main() {}',
      tests_zip_b64: ONE_CASE_ZIP,
      ...more,
    })
    return (reply.structuredContent as { job_id: JobId }).job_id
  }
  return { ada, call, create }
}

describe.each(ENGINES)('quotas on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('of twenty starts at once as many pass as jobs may be at once', async () => {
    await using gw = await openTestGateway({ quota: { jobsAtOnce: 50 } }, await host.migratedUrl())
    const { ada, call } = await people(gw)
    await gw.admin('user.set_quota', { username: 'ada', jobs_at_once: 3 })
    const ids = await Promise.all(Array.from({ length: 20 }, () => addJob(gw.store, ada.id)))
    const asAdmin = (id: JobId) => gw.admin('job.start', { job_id: id })
    const replies = await Promise.all(ids.map((id, n) => (n % 2 === 0 ? call('job.start', { job_id: id }) : asAdmin(id))))
    expect(replies.filter(({ isError }) => isError !== true)).toHaveLength(3)
    expect(failure(replies.find(({ isError }) => isError === true) ?? { content: [] })).toMatchObject({
      code: 'quota_exceeded',
      message: 'jobs_at_once: 3 of 3 jobs wait or run; free again when one of them ends',
    })
    // One that waits already may be started again; another owner's start is not in the way.
    const started = ids[replies.findIndex(({ isError }) => isError !== true)]
    expect((await call('job.start', { job_id: started })).structuredContent).toMatchObject({ status: 'queued' })
    const foreign = await addJob(gw.store, null)
    expect((await gw.admin('job.start', { job_id: foreign })).isError).toBeUndefined()

    await call('job.cancel', { job_id: started })
    const retried = await Promise.all(Array.from({ length: 5 }, () => call('job.retry', { job_id: started })))
    expect(retried.filter(({ isError }) => isError !== true)).toHaveLength(1)
    expect(retried.map(failure).find((error) => error !== undefined)).toMatchObject({ code: 'quota_exceeded' })
    expect((await call('usage.summary', {})).structuredContent?.['quota']).toMatchObject({
      jobs_at_once: { used: 3, limit: 3 },
    })
  })

  test("the day's tokens and money stop what needs a model, until midnight", async () => {
    let now = Date.now()
    const midnight = (Math.floor(now / DAY_MS) + 1) * DAY_MS
    const options = { quota: { tokensPerDay: 1_000 }, scripts, channels }
    await using gw = await openTestGateway({ ...options, now: () => now }, await host.migratedUrl(), () => now)
    const { ada, call, create } = await people(gw)
    const withModel = await create({ model: 'played' })
    await spend(gw.store, ada.id, 'one', 999, 10)
    expect((await call('job.start', { job_id: withModel })).isError).toBeUndefined()
    await spend(gw.store, ada.id, 'two', 201, 10)
    const second = await create({ model: 'played' })
    const resets = new Date(midnight).toISOString()
    expect(failure(await call('job.start', { job_id: second }))).toEqual({
      code: 'quota_exceeded',
      message: `tokens_per_day: 1200 of 1000 tokens of this day are used; resets_at ${resets}`,
      hint: expect.stringContaining('usage.summary'),
    })
    expect((await call('job.start', { job_id: await create() })).isError).toBeUndefined()

    const reply = await gw.admin('user.set_quota', { username: 'ada', tokens_per_day: 5_000, microusd_per_day: 20 })
    expect(reply.structuredContent).toEqual({
      username: 'ada',
      quota: {
        jobs_at_once: { used: 2, limit: null },
        tokens_per_day: { used: 1_200, limit: 5_000 },
        microusd_per_day: { used: 20, limit: 20 },
        kept_bytes: { used: expect.any(Number), limit: JOB_LIMITS.userBytes },
        kept_jobs: { used: 3, limit: JOB_LIMITS.keptJobs },
        resets_at: resets,
      },
    })
    expect(failure(await call('job.start', { job_id: second }))).toMatchObject({
      message: `microusd_per_day: 20 of 20 micro-USD of this day are used; resets_at ${resets}`,
    })
    // Null gives the installation's own bound back; what is left out stays.
    await gw.admin('user.set_quota', { username: 'ada', tokens_per_day: null })
    now = midnight
    expect((await call('job.start', { job_id: second })).isError).toBeUndefined()
    expect((await call('usage.summary', {})).structuredContent?.['quota']).toMatchObject({
      tokens_per_day: { used: 0, limit: 1_000 },
      microusd_per_day: { used: 0, limit: 20 },
    })
  })
})

test('a job is counted while it waits or runs; its calls are bound by its owner and by itself', async () => {
  await using gw = await openTestGateway()
  const { ada, call, create } = await people(gw)
  const now = Date.UTC(2026, 10, 3, 23, 59, 59)
  const book = openQuotaBook({ store: gw.store, defaults: { microusdPerDay: 7 }, now: () => now })
  await gw.store.quotas.set({
    userId: ada.id,
    jobsAtOnce: 0,
    tokensPerDay: 9,
    microusdPerDay: null,
    keptBytes: null,
    keptJobs: null,
  })
  const id = await create()
  const used = async () => (await book.of(ada.id)).jobs_at_once
  expect(await used()).toEqual({ used: 0, limit: 0 })
  expect(failure(await call('job.start', { job_id: id }))).toMatchObject({ code: 'quota_exceeded' })
  const judge = await PlayedJudge.take(gw.store, id)
  expect(await used()).toEqual({ used: 1, limit: 0 })
  await judge.end()
  expect(await used()).toEqual({ used: 0, limit: 0 })
  const job = await gw.store.jobs.byId(id)
  if (job === undefined) throw new Error('it is gone')
  const bounds = jobBounds({ tokens: 3, microusd: null })
  expect(await book.limitsFor({ ownerId: job.ownerId, bounds })).toEqual({
    since: Date.UTC(2026, 10, 3),
    owner: { tokens: 9, microusd: 7 },
    job: { tokens: 3, microusd: null },
  })
  expect(await book.limitsFor({ ownerId: null, bounds })).toMatchObject({ owner: { tokens: null, microusd: 7 } })
  expect(new Date(book.resetsAt()).toISOString()).toBe('2026-11-04T00:00:00.000Z')
})

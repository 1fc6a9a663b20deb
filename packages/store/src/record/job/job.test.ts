import { JOB_LIMITS, type JobId, JobStatus, NO_BUDGET, type ReportSummary, UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rowCounts, topicsTold } from '../../fixture/look.ts'
import { claimNext, newJobId, sampleCall, sampleInputs, startedJob, storeFor, tryClaim } from '../../fixture/sample-job.ts'
import { JOB_QUEUE, type JobRecord, type Store, jobHolder, jobLog, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const HOUR = 60 * 60_000
const TTL = 1_000
const KEPT = 5_000
const bytes = (value: string) => new TextEncoder().encode(value)
const SUMMARY: ReportSummary = {
  total: 1,
  judged: 1,
  run_only: 0,
  passed: 1,
  failed: 0,
  skipped: 0,
  first_failure: null,
  first_failure_verdict: null,
  first_failure_message: null,
  score: 1,
  max_score: 1,
  time_ms: 1.5,
  memory_kb: 10,
}

describe.each(ENGINES)('jobs on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let now = 10_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 10_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const addUser = (username: string) => store.users.add({ username, passwordHash: null, admin: false })
  const statusOf = async (id: JobId) => (await store.jobs.byId(id))?.status

  test('a job is added once with its inputs and logs, and lists see an outline', async () => {
    const ann = await addUser('ann')
    const id = newJobId()
    const blob = await storeFor(store, id, 'onetwo')
    const files = [
      { path: 'tests/1.in', offset: 0, size: 3, sha256: 'a'.repeat(64) },
      { path: 'tests/1.out', offset: 3, size: 3, sha256: 'b'.repeat(64) },
    ]
    const one = { name: '1', group: 'default', input_rel: 'tests/1.in', expected_rel: 'tests/1.out', expected_present: true }
    const cases = [{ ...one, hidden: false, points: 0.5, compare_mode: null }]
    const inputs = sampleInputs(id, { blob: blob.sha256, files, cases })
    const earlier = newJobId()
    const told = await topicsTold(store)
    const job = await store.jobs.add({ id, ownerId: ann.id, inputs, retryOf: earlier })
    expect(await told(3)).toEqual([`job/${id}`, 'jobs', `jobs/${ann.id}`])
    const { problem: _problem, seed: _seed, tests, ...spec } = inputs.spec
    const { checker: _checker, interactor: _interactor, samples: _samples, ...outline } = tests
    expect(job).toEqual({
      id,
      ownerId: ann.id,
      ownerName: 'ann',
      status: 'created',
      createdAt: 10_000,
      startedAt: null,
      finishedAt: null,
      expiresAt: now + JOB_LIMITS.keptMs,
      spec: { ...spec, tests: outline },
      claim: null,
      claims: 0,
      lostClaims: 0,
      attempt: 0,
      error: null,
      summary: null,
      containers: null,
      artifactNames: [],
      retryOf: earlier,
    })
    expect(await store.jobs.byId(id)).toEqual(job)
    expect(await store.jobs.inputs(id)).toEqual(inputs)
    expect(await store.jobs.inputs(earlier)).toBeUndefined()
    await expect(store.jobs.add({ id, ownerId: null, inputs })).rejects.toMatchObject({ code: 'already_exists' })
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
    await expect(store.logs.create(jobLog(id, 'terminal'))).rejects.toMatchObject({ code: 'already_exists' })
    const most = JOB_LIMITS.agentStatusLogBytes
    expect([
      await store.jobs.makeRoom(id, 'agent_status', most + 1),
      await store.jobs.makeRoom(id, 'agent_status', most),
    ]).toEqual([false, true])
    expect(await store.logs.append(jobLog(id, 'agent_status'), [new Uint8Array(most + 1)])).toMatchObject({ kind: 'full' })
    expect(await store.logs.append(jobLog(id, 'agent_status'), [new Uint8Array(most)])).toMatchObject({ kind: 'appended' })
  })

  test('what does not hold together is refused and leaves nothing', async () => {
    const id = newJobId()
    const inputs = sampleInputs(id)
    const before = await rowCounts(url)
    const blob = (await store.blobs.put(bytes('x'), 'somebody')).sha256
    await expect(store.jobs.add({ id, ownerId: null, inputs: { ...inputs, blob } })).rejects.toMatchObject({ code: 'not_found' })
    const ownerId = UserId.parse(`usr_${'0'.repeat(26)}`)
    await expect(store.jobs.add({ id, ownerId, inputs })).rejects.toMatchObject({ code: 'not_found' })
    const spec = { ...inputs.spec, limits: { ...inputs.spec.limits, cpus: Number.NaN } }
    await expect(store.jobs.add({ id, ownerId: null, inputs: { ...inputs, spec } })).rejects.toMatchObject({
      code: 'invalid_argument',
      field: 'inputs.spec',
    })
    expect(await rowCounts(url)).toEqual({ ...before, blobs: 1, blob_holders: 1, blob_chunks: 1 })
  })

  test('jobs are listed newest first in pages, by owner and status', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const all: JobId[] = []
    for (const [index, ownerId] of [ann.id, bob.id, null, ann.id, ann.id].entries()) {
      now += index % 2
      all.push((await startedJob(store, ownerId)).id)
    }
    await store.jobs.cancel(all[0] ?? newJobId())
    const ids = async (filter: Omit<Parameters<Store['jobs']['list']>[0], 'limit'>) =>
      (await store.jobs.list({ ...filter, limit: 10 })).map((job) => job.id).toSorted()
    const pages: JobId[] = []
    for (let last: JobRecord | undefined; ;) {
      const before = last === undefined ? {} : { beforeCreatedAt: last.createdAt, beforeId: last.id }
      const page = await store.jobs.list({ ...before, limit: 2 })
      last = page.at(-1)
      if (last === undefined) break
      pages.push(...page.map((job) => job.id))
    }
    const listed = await store.jobs.list({ limit: 10 })
    expect(pages).toEqual(listed.map((job) => job.id))
    expect(pages.toSorted()).toEqual(all.toSorted())
    expect(listed.map((job) => job.createdAt)).toEqual([10_002, 10_002, 10_001, 10_001, 10_000])
    expect(await ids({ ownerId: ann.id })).toEqual([...all.slice(0, 1), ...all.slice(3)].toSorted())
    expect(await ids({ ownerId: null })).toEqual([all[2]])
    expect(await ids({ ownerId: ann.id, statuses: ['queued', 'failed'] })).toEqual(all.slice(3).toSorted())
    expect(await ids({ statuses: ['cancelled'] })).toEqual([all[0]])
    expect(await ids({ statuses: JobStatus.options })).toEqual(all.toSorted())
    expect(await ids({ statuses: [] })).toEqual([])
    await expect(store.jobs.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_argument', field: 'limit' })
  })

  test('a job goes its way under one claim, and everybody who looks is told', async () => {
    const { id } = await startedJob(store)
    expect(await store.jobs.start(id)).toMatchObject({ status: 'queued', startedAt: null })
    expect(await store.jobs.start(newJobId())).toBeUndefined()
    const told = await topicsTold(store)
    now = 11_000
    const key = await claimNext(store, 'm1', TTL)
    expect(await told(1)).toEqual([`job/${id}`])
    expect(await store.jobs.byId(id)).toMatchObject({
      status: 'queued',
      claim: { id: key.claimId, machineId: 'm1', claimedAt: 11_000, begun: false },
      claims: 1,
      lostClaims: 0,
    })
    const { jobId, claimId } = key
    expect(await store.jobs.heldBy()).toEqual([{ jobId, claimId, machineId: 'm1', ownerId: null }])
    const others = [
      { jobId, claimId: 'f'.repeat(32) },
      { jobId: newJobId(), claimId },
    ]
    expect(await store.jobs.heldAmong([...others, key])).toEqual([{ claimId, ownerId: null }])
    expect(await store.jobs.heldAmong(others)).toEqual([])
    const renewed = await store.jobs.renew(key, TTL)
    expect(renewed).toMatchObject({
      job: { id, claim: { begun: true } },
      fence: { queue: JOB_QUEUE, key: id },
      expiresAt: 12_000,
    })
    expect(await store.logs.append(jobLog(id, 'terminal'), [bytes('hi')], { fence: renewed.fence })).toMatchObject({ offset: 2 })
    now = 11_500
    expect(await store.jobs.patch(key, { status: 'running_test', attempt: 1 }, KEPT)).toMatchObject({
      status: 'running_test',
      startedAt: 11_500,
      attempt: 1,
    })
    expect(await told(3)).toEqual([`job/${id}`, 'jobs', 'jobs/-'])
    expect(await store.jobs.patch(key, { containers: '{"test":null}' }, KEPT)).toMatchObject({ containers: '{"test":null}' })
    const report = await storeFor(store, id, '{}')
    await store.jobs.putArtifacts(key, [{ name: 'report.json', attempt: 1, ...report }])
    expect(await told(1)).toEqual([`job/${id}`])
    now = 11_800
    const error = { code: 'tests_failed', message: 'one failed' }
    const ended = await store.jobs.patch(key, { status: 'failed', error, summary: SUMMARY }, KEPT)
    expect(ended).toMatchObject({ status: 'failed', startedAt: 11_500, finishedAt: 11_800, expiresAt: 16_800 })
    expect(ended).toMatchObject({ error, summary: SUMMARY, attempt: 1, artifactNames: ['report.json'] })
    now = 11_900
    expect(await store.jobs.patch(key, { status: 'failed' }, KEPT)).toEqual(ended)
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 1 })
    for (let again = 0; again < 2; again += 1) await store.jobs.release(key, { countLoss: true })
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
    expect(await store.jobs.heldBy()).toEqual([])
    expect(await store.jobs.heldAmong([key])).toEqual([])
    expect(await store.jobs.byId(id)).toEqual(ended)
    expect(await store.jobs.start(id)).toMatchObject({ status: 'failed' })
    expect(await store.jobs.cancel(id)).toEqual(ended)
    await expect(store.jobs.renew(key, TTL)).rejects.toMatchObject({ code: 'lease_lost' })
  })

  test('a status follows only where it may, and an end is set once', async () => {
    const { id } = await startedJob(store)
    const key = await claimNext(store, 'm1', TTL)
    await expect(store.jobs.patch(key, { status: 'succeeded' }, KEPT)).rejects.toMatchObject({ code: 'conflict' })
    const error = { code: 'x', message: 'y' }
    await store.jobs.patch(key, { status: 'running_generate', error, summary: SUMMARY }, KEPT)
    now += 1
    await store.jobs.patch(key, { status: 'running_test', error: null }, KEPT)
    expect(await store.jobs.patch(key, { status: 'running_generate', attempt: 2 }, KEPT)).toMatchObject({
      startedAt: 10_000,
      error: null,
      summary: SUMMARY,
    })
    await expect(store.jobs.patch(key, { error: { code: 'c'.repeat(65), message: '' } }, KEPT)).rejects.toMatchObject({
      field: 'error',
    })
    await expect(store.jobs.patch(key, { containers: '\0' }, KEPT)).rejects.toMatchObject({ field: 'containers' })
    await store.jobs.patch(key, { status: 'succeeded' }, KEPT)
    for (const patch of [{ status: 'failed' }, { status: 'running_test' }, { attempt: 3 }, { status: 'cancelled' }] as const) {
      await expect(store.jobs.patch(key, patch, KEPT)).rejects.toMatchObject({ code: 'conflict' })
    }
    expect(await store.jobs.byId(id)).toMatchObject({ status: 'succeeded', attempt: 2 })
  })

  test('cancelling works in every state; a judge that holds the job still hands in what it has', async () => {
    expect(await store.jobs.cancel(newJobId())).toBeUndefined()
    const created = newJobId()
    await store.jobs.add({ id: created, ownerId: null, inputs: sampleInputs(created) })
    expect(await store.jobs.cancel(created, { keptMs: KEPT })).toMatchObject({
      status: 'cancelled',
      finishedAt: 10_000,
      expiresAt: 15_000,
    })
    const queued = await startedJob(store)
    expect(await store.jobs.cancel(queued.id, { by: 'ann' })).toMatchObject({
      status: 'cancelled',
      expiresAt: 10_000 + JOB_LIMITS.keptMs,
      error: { code: 'cancelled', message: 'cancelled by ann', by: 'ann' },
    })
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
    const held = await startedJob(store)
    const key = await claimNext(store, 'm1', TTL)
    const { fence } = await store.jobs.renew(key, TTL)
    await store.jobs.patch(key, { status: 'running_test', attempt: 1 }, KEPT)
    const cancelled = await store.jobs.cancel(held.id)
    expect(cancelled).toMatchObject({ status: 'cancelled', attempt: 1 })
    expect(await store.jobs.patch(key, { status: 'succeeded', attempt: 7 }, KEPT)).toEqual(cancelled)
    const counted = await store.jobs.patch(key, { status: 'succeeded', attempt: 7, summary: SUMMARY }, KEPT)
    expect(counted).toEqual({ ...cancelled, summary: SUMMARY })
    expect(await store.jobs.renew(key, TTL)).toMatchObject({ job: { status: 'cancelled' } })
    expect(await store.logs.append(jobLog(held.id, 'cases'), [bytes('x')], { fence })).toMatchObject({ kind: 'appended' })
    await store.jobs.putArtifacts(key, [{ name: 'report.json', attempt: 1, ...(await storeFor(store, held.id, '{}')) }])
    await store.jobs.release(key, { countLoss: true })
    expect(await store.jobs.byId(held.id)).toMatchObject({ status: 'cancelled', artifactNames: ['report.json'] })
    expect(await tryClaim(store, 'm2', TTL)).toBeUndefined()
    const silent = await startedJob(store)
    const lost = await claimNext(store, 'm1', TTL)
    now += TTL
    await store.jobs.cancel(silent.id)
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
    await expect(store.jobs.renew(lost, TTL)).rejects.toMatchObject({ code: 'lease_lost' })
    await store.jobs.release(lost, { countLoss: true })
  })

  test('artifacts are replaced by name, and blobs are held while something of the job needs them', async () => {
    const id = newJobId()
    const [input, other, third] = await Promise.all(['input', 'other', 'third'].map((content) => storeFor(store, id, content)))
    if (input === undefined || other === undefined || third === undefined) throw new Error('nothing was stored')
    await store.jobs.add({ id, ownerId: null, inputs: sampleInputs(id, { blob: input.sha256 }) })
    await store.jobs.start(id)
    const key = await claimNext(store, 'm1', TTL)
    const put = (name: string, blob: typeof input, attempt = 1) => store.jobs.putArtifacts(key, [{ name, attempt, ...blob }])
    const holds = (blob: typeof input) => store.blobs.isHeld(blob.sha256, jobHolder(id))
    await store.jobs.putArtifacts(key, [
      { name: 'main.cpp', attempt: 1, ...other },
      { name: 'a', attempt: 1, ...other },
      { name: 'b', attempt: 1, ...input },
    ])
    now += 1
    await put('a', other, 2)
    const at = 10_000
    expect(await store.jobs.artifacts(id)).toEqual([
      { name: 'a', attempt: 1, claim: 1, ...other, at },
      { name: 'b', attempt: 1, claim: 1, ...input, at },
      { name: 'main.cpp', attempt: 1, claim: 1, ...other, at },
    ])
    await put('a', third, 2)
    await put('b', third)
    expect(await Promise.all([holds(input), holds(other), holds(third)])).toEqual([true, true, true])
    await put('main.cpp', third)
    expect(await Promise.all([holds(input), holds(other), holds(third)])).toEqual([true, false, true])
    expect((await store.jobs.artifacts(id))[0]).toEqual({ name: 'a', attempt: 2, claim: 1, ...third, at: at + 1 })
    await expect(put('c', other)).rejects.toMatchObject({ code: 'not_found' })
    const many = Array.from({ length: JOB_LIMITS.artifacts }, (_, index) => ({ name: `n${index}`, attempt: 1, ...third }))
    await expect(store.jobs.putArtifacts(key, many)).rejects.toMatchObject({ code: 'conflict' })
  })

  test('a job that is not at work is deleted, and nothing of it stays but what its calls came to', async () => {
    const empty = await rowCounts(url)
    const { id } = await startedJob(store)
    expect(await store.jobs.delete(id)).toBe(false)
    const key = await claimNext(store, 'm1', TTL)
    const { fence } = await store.jobs.renew(key, TTL)
    await store.jobs.patch(key, { status: 'running_test', attempt: 1 }, KEPT)
    expect(await store.jobs.delete(id)).toBe(false)
    for (const log of ['terminal', 'agent_status', 'cases', 'transcript'] as const)
      await store.logs.append(jobLog(id, log), [bytes(log)], { fence })
    await store.jobs.putArtifacts(key, [{ name: 'a', attempt: 1, ...(await storeFor(store, id, 'a')) }])
    await storeFor(store, id, 'never recorded')
    await store.modelKeys.add(key, { hash: 'h', attempt: 1, channel: 'c', model: 'm', budget: NO_BUDGET })
    await store.usages.add(sampleCall({ jobId: id }))
    await store.jobs.patch(key, { status: 'succeeded' }, KEPT)
    const told = await topicsTold(store)
    expect(await store.jobs.delete(id)).toBe(true)
    expect(await told(3)).toEqual([`job/${id}`, 'jobs', 'jobs/-'])
    expect(await store.jobs.delete(id)).toBe(false)
    for (const late of [
      () => store.jobs.renew(key, TTL),
      () => store.jobs.release(key, { countLoss: true }),
      () => store.logs.append(jobLog(id, 'terminal'), [bytes('late')], { fence }),
    ]) {
      await expect(late()).rejects.toMatchObject({ code: 'lease_lost' })
    }
    now += 2 * HOUR
    await store.blobs.collect(HOUR)
    expect(await store.modelKeys.find('h')).toBeUndefined()
    expect(await store.usages.totalOf(id)).toMatchObject({ calls: 1, input_tokens: 10 })
    // The round that was served last is the queue's.
    expect(await rowCounts(url)).toEqual({ ...empty, usage: 1, served_rounds: 1 })
  })

  test('sweeping removes what is over and holds of jobs that never came', async () => {
    const empty = await rowCounts(url)
    const ended: JobId[] = []
    for (let index = 0; index < 3; index += 1) {
      const { id } = await startedJob(store)
      await store.jobs.cancel(id, { keptMs: KEPT + index })
      ended.push(id)
    }
    const waiting = await startedJob(store)
    const created = newJobId()
    await store.jobs.add({
      id: created,
      ownerId: null,
      inputs: sampleInputs(created, { blob: (await storeFor(store, created, 'i')).sha256 }),
    })
    await storeFor(store, newJobId(), 'orphan')
    await store.blobs.put(bytes('theirs'), 'user/x')
    now += KEPT + 1
    expect(await store.jobs.sweep()).toBe(1)
    expect(await Promise.all(ended.map(statusOf))).toEqual([undefined, 'cancelled', 'cancelled'])
    now += HOUR - KEPT - 1
    expect(await store.jobs.sweep()).toBe(2)
    expect(await rowCounts(url)).toMatchObject({ blob_holders: 3, jobs: 2 })
    now += 1
    expect(await store.jobs.sweep()).toBe(0)
    expect(await rowCounts(url)).toMatchObject({ blob_holders: 2, jobs: 2 })
    expect(await statusOf(waiting.id)).toBe('queued')
    expect(await statusOf(created)).toBe('created')
    now += JOB_LIMITS.keptMs
    expect(await store.jobs.sweep()).toBe(1)
    expect(await statusOf(created)).toBeUndefined()
    expect(await statusOf(waiting.id)).toBe('queued')
    await store.jobs.cancel(waiting.id)
    await store.jobs.delete(waiting.id)
    expect(await store.blobs.dropStale('user/', 0)).toBe(1)
    now += 1
    await store.blobs.collect(0)
    expect(await rowCounts(url)).toEqual(empty)
  })
})

import { JOB_LIMITS, type JobId, type UserId } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimNext, newJobId, sampleInputs, startedJob, storeFor } from '../../fixture/sample-job.ts'
import { type Store, jobLog, leftHolder, openStore, personHolder } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const KIB = 1024
const MIB = KIB * KIB
/** Room that the four logs of a new job have. */
const FIRST_ROOM = 16 * KIB
const NO_BOUNDS = { jobsAtOnce: null, tokensPerDay: null, microusdPerDay: null, keptBytes: null, keptJobs: null }

describe.each(ENGINES)("a person's share on %s", (engine) => {
  let host: TestEngine
  let store: Store
  /** Another gateway's, where there can be one. */
  let other: Store
  let names = 0
  let now = 1_000_000
  beforeAll(async () => {
    host = await startEngine(engine)
    const url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
    other = engine === 'postgres' ? await openStore({ url, now: () => now }) : store
  })
  afterAll(async () => {
    if (other !== store) await other.close()
    await store.close()
    await host.stop()
  })

  const addUser = async () => (await store.users.add({ username: `user${(names += 1)}`, passwordHash: null, admin: false })).id
  const used = async (owner: UserId | null) => (await store.shares.of(owner)).bytes.used
  const unfinished = async (owner: UserId | null) => (await store.shares.of(owner)).unfinished.used
  const bound = (userId: UserId, bounds: { readonly keptBytes?: number; readonly keptJobs?: number }) =>
    store.quotas.set({ userId, ...NO_BOUNDS, ...bounds })
  const add = async (ownerId: UserId | null, { statement = '', content = '', at = store } = {}) => {
    const id = newJobId()
    const inputs = sampleInputs(id)
    const blob = content === '' ? null : (await storeFor(at, id, content)).sha256
    const spec = { ...inputs.spec, problem: { statement_md: statement } }
    await at.jobs.add({ id, ownerId, inputs: { ...inputs, spec, blob } })
    return id
  }
  /** What a job takes that has nothing in it. */
  const emptyJob = async () => {
    const owner = await addUser()
    await add(owner)
    return used(owner)
  }

  test('has the texts, the files and the room for logs of all their jobs, the same files once', async () => {
    const ann = await addUser()
    const empty = await emptyJob()
    expect(empty).toBeGreaterThan(FIRST_ROOM)
    expect([await unfinished(ann), await used(ann)]).toEqual([0, 0])
    const first = await add(ann, { content: 'same bytes' })
    const second = await add(ann, { content: 'same bytes', statement: 'é'.repeat(500) })
    expect([await unfinished(ann), await used(ann)]).toEqual([2, 2 * empty + 1_000 + 10])
    await storeFor(store, newJobId(), 'of a job that never was')
    await store.jobs.cancel(first)
    expect([await unfinished(ann), await used(ann)]).toEqual([1, 2 * empty + 1_000 + 10])
    expect((await store.shares.of(ann)).jobs).toEqual({ used: 2, limit: JOB_LIMITS.keptJobs })
    await store.jobs.delete(first)
    expect(await used(ann)).toBe(empty + 1_000 + 10)
    // Texts and logs are gone at once; files count until their bytes are gone.
    await store.jobs.delete(second)
    expect(await used(ann)).toBe(10)
    await store.blobs.collect(0)
    expect(await used(ann)).toBe(10)
    now += 1
    await store.blobs.collect(0)
    expect(await used(ann)).toBe(0)
  })

  test('has artifacts, those that were replaced until they are collected, and logs as they grow', async () => {
    const ann = await addUser()
    const { id } = await startedJob(store, ann)
    const before = await used(ann)
    const claim = await claimNext(store, 'm1', 60_000)
    await store.jobs.renew(claim, 60_000)
    await store.jobs.patch(claim, { status: 'running_test', attempt: 1 }, 60_000)
    for (const text of ['the report', 'another report'])
      await store.jobs.putArtifacts(claim, [{ name: 'report.json', attempt: 1, ...(await storeFor(store, id, text)) }])
    expect(await used(ann)).toBe(before + 24)
    const full = async (log: Parameters<typeof jobLog>[1], bytes: number) =>
      (await store.logs.append(jobLog(id, log), [new Uint8Array(bytes)])).kind === 'full'
    expect(await full('terminal', 5 * KIB)).toBe(true)
    expect(await store.jobs.makeRoom(id, 'terminal', 5 * KIB)).toBe(true)
    expect(await full('terminal', 5 * KIB)).toBe(false)
    // Twice the room of before.
    expect(await used(ann)).toBe(before + 24 + 4 * KIB)
    expect(await store.jobs.makeRoom(id, 'terminal', 5 * KIB + 3 * MIB)).toBe(true)
    expect(await full('terminal', 3 * MIB)).toBe(false)
    expect(await used(ann)).toBe(before + 24 + KIB + 3 * MIB)
    expect(await store.jobs.makeRoom(id, 'terminal', 5 * KIB + 3 * MIB)).toBe(true)
    expect(await store.jobs.makeRoom(id, 'terminal', JOB_LIMITS.terminalLogBytes + 1)).toBe(false)
    expect(await store.jobs.makeRoom(newJobId(), 'terminal', 1)).toBe(false)
    await store.jobs.patch(claim, { status: 'succeeded' }, 60_000)
    await store.jobs.release(claim, { countLoss: false })
  })

  test('holds: a job beyond it is not there, no log grows past it, no upload either, and nothing starts while it is exceeded', async () => {
    const ann = await addUser()
    const empty = await emptyJob()
    const id = await add(ann)
    await bound(ann, { keptBytes: 2 * empty + 10_000 })
    const refused = { code: 'quota_exceeded', bound: 'bytes', limit: 2 * empty + 10_000 }
    await expect(add(ann, { statement: 'x'.repeat(10_001) })).rejects.toMatchObject(refused)
    await expect(add(ann, { content: 'x'.repeat(10_001) })).rejects.toMatchObject(refused)
    expect((await store.shares.of(ann)).jobs.used).toBe(1)
    const last = await add(ann, { statement: 'x'.repeat(9_900) })
    const retry = newJobId()
    const inputs = await store.jobs.inputs(last)
    if (inputs === undefined) throw new Error('the job has no inputs')
    await expect(store.jobs.add({ id: retry, ownerId: ann, inputs, retryOf: last })).rejects.toMatchObject(refused)
    // A hundred bytes are left: for a log, and then for nothing.
    expect(await store.jobs.makeRoom(id, 'cases', 4 * KIB + 101)).toBe(false)
    expect(await store.jobs.makeRoom(id, 'cases', 4 * KIB + 60)).toBe(true)
    const me = personHolder(ann)
    const upload = await store.blobs.begin(me)
    await expect(store.blobs.write(upload, me, 0, new Uint8Array(41))).rejects.toMatchObject(refused)
    expect(await store.blobs.write(upload, me, 0, new Uint8Array(40))).toEqual({ offset: 40 })
    expect(await used(ann)).toBe(refused.limit)
    expect(await store.blobs.write(upload, me, 0, new Uint8Array(40))).toEqual({ offset: 40 })
    await expect(store.blobs.write(upload, me, 40, new Uint8Array(1))).rejects.toMatchObject(refused)
    await expect(store.shares.check(ann, { bytes: 1 })).rejects.toMatchObject(refused)
    await store.shares.check(ann, { bytes: 0 })
    expect(await store.jobs.start(id)).toMatchObject({ status: 'queued' })
    await bound(ann, { keptBytes: refused.limit - 1 })
    await expect(store.jobs.start(last)).rejects.toMatchObject({ ...refused, limit: refused.limit - 1 })
    expect(await store.jobs.start(id)).toMatchObject({ status: 'queued' })
    await bound(ann, {})
    expect(await store.jobs.start(last)).toMatchObject({ status: 'queued' })
    for (const job of [id, last]) await store.jobs.cancel(job)
  })

  test('bounds the jobs that are kept, ended ones too, and the uploads, each in number', async () => {
    const ann = await addUser()
    await bound(ann, { keptJobs: 2 })
    const [first] = [await add(ann), await add(ann)]
    await store.jobs.cancel(first)
    const refused = { code: 'quota_exceeded', bound: 'jobs', limit: 2 }
    await expect(add(ann)).rejects.toMatchObject(refused)
    await expect(store.shares.check(ann, { jobs: 1 })).rejects.toMatchObject(refused)
    await store.jobs.delete(first)
    await add(ann)
    const me = personHolder(ann)
    const bounds = { underWay: 1, kept: 1 }
    const upload = await store.blobs.begin(me, bounds)
    await expect(store.blobs.begin(me, bounds)).rejects.toMatchObject({ bound: 'uploads', limit: 1 })
    await store.blobs.commit(upload, me, { holder: me })
    await expect(store.blobs.begin(me, bounds)).rejects.toMatchObject({ bound: 'kept_uploads', limit: 1 })
  })

  test('many at once, from two gateways too, do not pass it together', async () => {
    const ann = await addUser()
    const empty = await emptyJob()
    const at = (index: number) => (index % 2 === 0 ? store : other)
    const each = async (count: number, work: (at: Store) => Promise<unknown>) =>
      (await Promise.allSettled(Array.from({ length: count }, (_, index) => work(at(index))))).filter(
        ({ status }) => status === 'fulfilled',
      ).length
    await bound(ann, { keptBytes: 5 * empty + 3_000 })
    expect(await each(20, (on) => add(ann, { at: on }))).toBe(5)
    const jobs = await store.jobs.list({ ownerId: ann, limit: 10 })
    const rooms = await Promise.all(jobs.map(({ id }, index) => at(index).jobs.makeRoom(id, 'terminal', 4 * KIB + 1_000)))
    expect(rooms.filter((made) => made)).toHaveLength(3)
    expect(await used(ann)).toBe(5 * empty + 3_000)
    const bob = await addUser()
    await bound(bob, { keptJobs: 3 })
    expect(await each(12, (on) => add(bob, { at: on }))).toBe(3)
    const [me, upload] = [personHolder(bob), await store.blobs.begin(personHolder(bob))]
    await bound(bob, { keptBytes: (await used(bob)) + 3_500 })
    const uploads = [upload, ...(await Promise.all(Array.from({ length: 7 }, () => store.blobs.begin(me))))]
    const written = await Promise.allSettled(
      uploads.map((one, index) => at(index).blobs.write(one, me, 0, new Uint8Array(1_000))),
    )
    expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(await each(20, (on) => on.blobs.begin(me, { underWay: 10, kept: 100 }))).toBe(2)
  })

  test('has inputs that were handed in and of which no job came, and a job takes them over', async () => {
    const [ann, bob] = [await addUser(), await addUser()]
    const { sha256 } = await store.blobs.put(new Uint8Array(100), leftHolder(ann))
    expect(await used(ann)).toBe(100)
    const make = async (ownerId: UserId, retryOf?: JobId) => {
      const id = newJobId()
      const inputs = sampleInputs(id, { blob: sha256 })
      await store.jobs.add({ id, ownerId, inputs, ...(retryOf === undefined ? {} : { retryOf }) })
      return id
    }
    await expect(make(bob)).rejects.toMatchObject({ code: 'not_found' })
    const job = await make(ann)
    const again = await make(ann, job)
    now += 1
    await store.blobs.collect(0)
    await store.jobs.delete(job)
    expect(await store.blobs.stat(sha256)).toEqual({ bytes: 100 })
    await store.jobs.delete(again)
    now += 1
    await store.blobs.collect(0)
    expect([await store.blobs.stat(sha256), await used(ann)]).toEqual([undefined, 0])
  })
})

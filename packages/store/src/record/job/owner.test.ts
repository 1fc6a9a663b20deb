import type { JobId, UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { claimNext, newJobId, sampleInputs, startedJob, tryClaim } from '../../fixture/sample-job.ts'
import { JOB_QUEUE, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'
import { execute } from '../../testing/execute.ts'

const TTL = 1_000
const KEPT = 5_000

describe.each(ENGINES)('jobs of deleted and disabled owners on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => 10_000 })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const addUser = async (username: string) => (await store.users.add({ username, passwordHash: null, admin: false })).id
  const statusOf = async (id: JobId) => (await store.jobs.byId(id))?.status
  /** What is left when somebody deletes the account first, wants to cancel its jobs after that, and dies between. */
  const deleteHalf = (id: UserId) =>
    execute(url, 'UPDATE users SET deleted_at = 1, disabled = 1, username = $2 WHERE id = $1', [id, 'deleted user'])

  test('are cancelled in the commit of the deletion, whatever they were doing; what others have stays', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const held = await startedJob(store, ann)
    const key = await claimNext(store, 'm1', TTL)
    await store.jobs.renew(key, TTL)
    const ended = await startedJob(store, ann)
    const judged = await claimNext(store, 'm2', TTL)
    await store.jobs.renew(judged, TTL)
    await store.jobs.patch(judged, { status: 'failed' }, KEPT)
    await store.jobs.release(judged, { countLoss: true })
    const created = newJobId()
    await store.jobs.add({ id: created, ownerId: ann, inputs: sampleInputs(created) })
    const queued = await Promise.all(Array.from({ length: 20 }, () => startedJob(store, ann)))
    const other = await startedJob(store, bob)
    const told = await topicsTold(store)
    expect(await store.users.delete(ann)).toBe(22)
    const gone = [held.id, created, ...queued.map(({ id }) => id)]
    const topics = [...gone.map((id) => `job/${id}`), 'jobs', `jobs/${ann}`, 'users', `user/${ann}`]
    expect(await told(topics.length)).toEqual(topics.toSorted())
    for (const id of gone)
      expect(await store.jobs.byId(id)).toMatchObject({ status: 'cancelled', finishedAt: 10_000, error: { code: 'cancelled' } })
    expect([await statusOf(ended.id), await statusOf(other.id)]).toEqual(['failed', 'queued'])
    // The judge that holds one still hands in what it has.
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 1, held: 1 })
    await store.jobs.release(key, { countLoss: true })
    expect(await claimNext(store, 'm1', TTL)).toMatchObject({ jobId: other.id })
  })

  test('no job slips past an owner who is deleted at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const owner = await addUser(`user${round}`)
      const adding = Array.from({ length: 3 }, () => startedJob(store, owner).catch(() => undefined))
      await Promise.all([...adding, store.users.delete(owner)])
      expect((await store.shares.of(owner)).unfinished.used).toBe(0)
    }
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
  })

  test('are cancelled in the commit that disables the owner, with that reason, and no new one comes', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const held = await startedJob(store, ann)
    const key = await claimNext(store, 'm1', TTL)
    await store.jobs.renew(key, TTL)
    const queued = await startedJob(store, ann)
    const other = await startedJob(store, bob)
    expect(await store.users.setDisabled(ann, true)).toBe(2)
    for (const { id } of [held, queued])
      expect(await store.jobs.byId(id)).toMatchObject({ status: 'cancelled', error: { code: 'owner_disabled' } })
    expect(await statusOf(other.id)).toBe('queued')
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 1, held: 1 })
    await expect(startedJob(store, ann)).rejects.toMatchObject({ code: 'conflict' })
    await store.jobs.release(key, { countLoss: true })
    expect(await claimNext(store, 'm1', TTL)).toMatchObject({ jobId: other.id })
    expect(await store.users.setDisabled(ann, false)).toBe(0)
    expect(await statusOf(queued.id)).toBe('cancelled')
  })

  test('no job slips past an owner who is disabled at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const owner = await addUser(`user${round}`)
      const adding = Array.from({ length: 3 }, () => startedJob(store, owner).catch(() => undefined))
      await Promise.all([...adding, store.users.setDisabled(owner, true)])
      expect((await store.shares.of(owner)).unfinished.used).toBe(0)
    }
  })

  test('that an earlier version left to a disabled owner are given to no judge, and cancelled by the sweep', async () => {
    const ann = await addUser('ann')
    const first = await startedJob(store, ann)
    await execute(url, 'UPDATE users SET disabled = 1 WHERE id = $1', [ann])
    expect(await tryClaim(store, 'm1', TTL)).toBeUndefined()
    await execute(url, 'UPDATE users SET disabled = 0 WHERE id = $1', [ann])
    const second = await startedJob(store, ann)
    await execute(url, 'UPDATE users SET disabled = 1 WHERE id = $1', [ann])
    await store.jobs.sweep()
    for (const { id } of [first, second])
      expect(await store.jobs.byId(id)).toMatchObject({ status: 'cancelled', claims: 0, error: { code: 'owner_disabled' } })
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
  })

  test('that a half deletion left are given to no judge', async () => {
    const ann = await addUser('ann')
    const { id } = await startedJob(store, ann)
    await deleteHalf(ann)
    expect(await tryClaim(store, 'm1', TTL)).toBeUndefined()
    expect(await store.jobs.byId(id)).toMatchObject({ status: 'cancelled', claims: 0, error: { code: 'cancelled' } })
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
  })

  test('that a half deletion left are cancelled by the sweep', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const left = [await startedJob(store, ann), await startedJob(store, ann)]
    const [other, nobodys] = [await startedJob(store, bob), await startedJob(store)]
    await deleteHalf(ann)
    expect(await store.jobs.sweep()).toBe(0)
    for (const { id } of left) expect(await statusOf(id)).toBe('cancelled')
    for (const { id } of [other, nobodys]) expect(await statusOf(id)).toBe('queued')
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 2, held: 0 })
  })
})

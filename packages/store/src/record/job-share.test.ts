import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { claimNext, newJobId, sampleInputs, startedJob, storeFor } from '../testing/sample-job.ts'

describe.each(ENGINES)("an owner's jobs on %s", (engine) => {
  let host: TestEngine
  let store: Store
  beforeAll(async () => {
    host = await startEngine(engine)
    store = await openStore({ url: await host.freshUrl() })
  })
  afterAll(async () => {
    await store.close()
    await host.stop()
  })

  test('are counted until they end, and what they hold until they are deleted, the same bytes once', async () => {
    const ann = await store.users.add({ username: 'ann', passwordHash: null, admin: false })
    const add = async (content: string) => {
      const id = newJobId()
      const { sha256 } = await storeFor(store, id, content)
      await store.jobs.add({ id, ownerId: ann.id, inputs: sampleInputs(id, { blob: sha256 }) })
      return id
    }
    expect([await store.jobs.unfinished(ann.id), await store.jobs.heldBytes(ann.id)]).toEqual([0, 0])
    const [first, second] = [await add('same bytes'), await add('same bytes')]
    await add('others')
    await startedJob(store, null)
    await storeFor(store, newJobId(), 'of a job that never was')
    expect([await store.jobs.unfinished(ann.id), await store.jobs.heldBytes(ann.id)]).toEqual([3, 16])
    expect([await store.jobs.unfinished(null), await store.jobs.heldBytes(null)]).toEqual([1, 0])
    await store.jobs.cancel(first)
    expect([await store.jobs.unfinished(ann.id), await store.jobs.heldBytes(ann.id)]).toEqual([2, 16])
    const claim = await claimNext(store, 'm1', 60_000)
    await store.jobs.renew(claim, 60_000)
    await store.jobs.patch(claim, { status: 'running_test', attempt: 1 }, 60_000)
    const report = await storeFor(store, claim.jobId, 'the report')
    await store.jobs.putArtifacts(claim, [{ name: 'report.json', attempt: 1, ...report }])
    await store.jobs.patch(claim, { status: 'succeeded' }, 60_000)
    expect(await store.jobs.unfinished(null)).toBe(0)
    expect(await store.jobs.heldBytes(null)).toBe('the report'.length)
    await store.jobs.delete(first)
    expect(await store.jobs.heldBytes(ann.id)).toBe(16)
    await store.jobs.delete(second)
    expect(await store.jobs.heldBytes(ann.id)).toBe(6)
  })
})

import { JOB_LIMITS, type JobId, NO_BUDGET } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rowCounts, topicsTold } from '../../fixture/look.ts'
import { claimNext, newJobId, startedJob, storeFor, tryClaim } from '../../fixture/sample-job.ts'
import { type ClaimKey, JOB_QUEUE, type Store, jobLog, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const TTL = 1_000
const KEPT = 5_000
const ROUNDS = 15
const bytes = (value: string) => new TextEncoder().encode(value)

describe.each(ENGINES)('claims on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  /** Several gateways on PostgreSQL; SQLite has one. */
  let gateways: readonly Store[]
  let now = 10_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 10_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
    gateways = engine === 'postgres' ? [store, await openStore({ url, now: () => now })] : [store]
  })
  afterEach(async () => {
    for (const each of gateways) await each.close()
  })
  afterAll(() => host.stop())

  const gateway = (index: number): Store => gateways[index % gateways.length] ?? store
  const begin = async (machineId: string): Promise<ClaimKey> => {
    const key = await claimNext(store, machineId, TTL)
    await store.jobs.renew(key, TTL)
    return key
  }
  const countsOf = async (id: JobId) => {
    const job = await store.jobs.byId(id)
    return job && { status: job.status, claims: job.claims, lostClaims: job.lostClaims, claim: job.claim?.machineId }
  }

  test('every write of a claim that is not the last, or ran out, is refused', async () => {
    const { id } = await startedJob(store)
    const first = await claimNext(store, 'm1', TTL)
    const { fence } = await store.jobs.renew(first, TTL)
    const blob = await storeFor(store, id, 'x')
    const writes = (key: ClaimKey) => [
      () => store.jobs.renew(key, TTL),
      () => store.jobs.patch(key, { status: 'running_test' }, KEPT),
      () => store.jobs.putArtifacts(key, [{ name: 'a', attempt: 1, ...blob }]),
      () => store.modelKeys.add(key, { hash: 'h', attempt: 1, channel: 'c', model: 'm', budget: NO_BUDGET }),
      () => store.jobs.release(key, { countLoss: false }),
      () => store.logs.append(jobLog(id, 'terminal'), [bytes('x')], { fence }),
    ]
    now += TTL
    for (const write of writes(first)) await expect(write()).rejects.toMatchObject({ code: 'lease_lost' })
    const second = await begin('m2')
    for (const write of writes(first)) await expect(write()).rejects.toMatchObject({ code: 'lease_lost' })
    for (const jobId of [newJobId(), (await startedJob(store)).id]) {
      for (const write of writes({ jobId, claimId: second.claimId }).slice(0, -1)) {
        await expect(write()).rejects.toMatchObject({ code: 'lease_lost' })
      }
    }
    expect(await store.jobs.byId(id)).toMatchObject({ status: 'queued', artifactNames: [], claim: { id: second.claimId } })
    expect(await store.logs.end(jobLog(id, 'terminal'))).toMatchObject({ offset: 0 })
    await store.jobs.patch(second, { status: 'failed' }, KEPT)
    await store.jobs.release(second, { countLoss: true })
    await expect(store.jobs.release(first, { countLoss: true })).rejects.toMatchObject({ code: 'lease_lost' })
    await store.jobs.release(second, { countLoss: true })
  })

  test('a lease is written anew only when it has lost a tenth of its time', async () => {
    const { id } = await startedJob(store)
    const key = await claimNext(store, 'm1', TTL)
    const until = async () => (await store.leases.get(JOB_QUEUE, id))?.expiresAt
    now = 10_050
    expect(await store.jobs.renew(key, TTL)).toMatchObject({ expiresAt: 11_050 })
    now = 10_150
    expect(await store.jobs.renew(key, TTL)).toMatchObject({ expiresAt: 11_050 })
    expect(await until()).toBe(11_050)
    now = 10_151
    expect(await store.jobs.renew(key, TTL)).toMatchObject({ expiresAt: 11_151 })
    expect(await until()).toBe(11_151)
  })

  test('a job that judges get lost with is given up; those that never began, or gave it back unharmed, do not count', async () => {
    const { id } = await startedJob(store)
    await claimNext(store, 'never began', TTL)
    now += TTL
    await begin('m1')
    expect(await countsOf(id)).toEqual({ status: 'queued', claims: 2, lostClaims: 0, claim: 'm1' })
    now += TTL
    const unharmed = await begin('m2')
    expect(await countsOf(id)).toEqual({ status: 'queued', claims: 3, lostClaims: 1, claim: 'm2' })
    await store.jobs.patch(unharmed, { status: 'running_test' }, KEPT)
    for (let again = 0; again < 2; again += 1) await store.jobs.release(unharmed, { countLoss: false })
    expect(await countsOf(id)).toEqual({ status: 'queued', claims: 2, lostClaims: 1, claim: undefined })
    const gaveUp = await begin('m3')
    await store.jobs.patch(gaveUp, { status: 'running_test' }, KEPT)
    for (let again = 0; again < 2; again += 1) await store.jobs.release(gaveUp, { countLoss: true })
    expect(await countsOf(id)).toEqual({ status: 'queued', claims: 3, lostClaims: 1, claim: 'm3' })
    const last = await begin('m4')
    expect(await countsOf(id)).toEqual({ status: 'queued', claims: 4, lostClaims: 2, claim: 'm4' })
    const blob = await storeFor(store, id, 'x')
    const full = Array.from({ length: JOB_LIMITS.artifacts }, (_, index) => ({ name: `a${index}`, attempt: 1, ...blob }))
    await store.jobs.putArtifacts(last, full)
    now += TTL
    const lease = await store.leases.claim(JOB_QUEUE, 'm5', { ttlMs: TTL })
    if (lease === undefined) throw new Error('nothing to claim')
    const report = await storeFor(store, id, 'report')
    const claim = { id: 'f'.repeat(32), machineId: 'm5', maxLost: 3, keptMs: KEPT, report }
    const told = await topicsTold(store)
    const poisoned = await store.jobs.claimed(lease, claim)
    expect(poisoned).toMatchObject({
      kind: 'poisoned',
      job: { status: 'failed', error: { code: 'poisoned' }, lostClaims: 3, claims: 4, finishedAt: now, expiresAt: now + KEPT },
    })
    expect(await told(3)).toEqual([`job/${id}`, 'jobs', 'jobs/-'])
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
    expect((await store.jobs.artifacts(id)).at(-1)).toMatchObject({ name: 'report.json', claim: 4, ...report })
    await expect(store.jobs.claimed(lease, claim)).rejects.toMatchObject({ code: 'lease_lost' })
  })

  test('a claim that is written down twice counts once, and one whose lease ran out is refused', async () => {
    const { id } = await startedJob(store)
    const lease = await store.leases.claim(JOB_QUEUE, 'm1', { ttlMs: TTL })
    if (lease === undefined) throw new Error('nothing to claim')
    const claim = { id: 'a'.repeat(32), machineId: 'm1', maxLost: 3, keptMs: KEPT }
    const first = await store.jobs.claimed(lease, claim)
    await store.jobs.renew({ jobId: id, claimId: claim.id }, TTL)
    expect(await store.jobs.claimed(lease, claim)).toMatchObject({ kind: 'claimed', job: { claims: 1, lostClaims: 0 } })
    expect(first).toMatchObject({ kind: 'claimed', job: { claims: 1, claim: { fence: lease.fence, begun: false } } })
    now += TTL
    await expect(store.jobs.claimed(lease, { ...claim, id: 'b'.repeat(32) })).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await store.jobs.byId(id)).toMatchObject({ claim: { id: claim.id } })
  })

  test('a lease without a job, or with one that has ended, goes', async () => {
    const { id } = await startedJob(store)
    const key = await begin('m1')
    await store.jobs.patch(key, { status: 'failed' }, KEPT)
    await store.leases.offer(JOB_QUEUE, newJobId())
    now += TTL
    expect(await tryClaim(store, 'm2', TTL)).toBeUndefined()
    expect(await tryClaim(store, 'm2', TTL)).toBeUndefined()
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
    expect(await countsOf(id)).toEqual({ status: 'failed', claims: 1, lostClaims: 0, claim: 'm1' })
    await store.jobs.release(key, { countLoss: true })
  })

  test('a job that was given back waits for its time, and a waiting judge is woken by it', async () => {
    await startedJob(store)
    const key = await begin('m1')
    await store.jobs.release(key, { countLoss: false, notBefore: now + 500 })
    expect(await tryClaim(store, 'm2', TTL)).toBeUndefined()
    now += 500
    const again = await begin('m2')
    const waiting = store.leases.claim(JOB_QUEUE, 'm3', { ttlMs: TTL, waitMs: 30_000 })
    await store.leases.count(JOB_QUEUE)
    await store.jobs.release(again, { countLoss: false })
    expect(await waiting).toMatchObject({ holder: 'm3' })
  })

  test('after a restart with grace the judge goes on with what it holds', async () => {
    const { id } = await startedJob(store)
    const key = await begin('m1')
    for (const each of gateways) await each.close()
    now += 10 * TTL
    store = await openStore({ url, now: () => now })
    gateways = [store]
    await store.leases.grace(TTL)
    expect(await tryClaim(store, 'm2', TTL)).toBeUndefined()
    now += TTL - 1
    expect(await store.jobs.renew(key, TTL)).toMatchObject({ job: { id }, expiresAt: now + TTL })
    await store.jobs.patch(key, { status: 'running_test' }, KEPT)
    await store.jobs.patch(key, { status: 'succeeded' }, KEPT)
    await store.jobs.release(key, { countLoss: true })
    expect(await countsOf(id)).toEqual({ status: 'succeeded', claims: 1, lostClaims: 0, claim: 'm1' })
  })

  test('of eight who claim while one cancels, at most one has it, and nothing stays in the queue', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await startedJob(store)
      const claimers = Array.from({ length: 8 }, (_, index) => tryClaim(gateway(index), `m${index}`, TTL))
      const cancel = Promise.resolve().then(() => gateway(round).jobs.cancel(id))
      const taken = (await Promise.all(claimers)).filter((each) => each !== undefined)
      expect(await cancel).toMatchObject({ status: 'cancelled' })
      expect(taken.length).toBeLessThanOrEqual(1)
      expect(await countsOf(id)).toMatchObject({ status: 'cancelled', claims: taken.length })
      for (const key of taken) await store.jobs.release(key, { countLoss: true })
      expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
    }
  })

  test('of a cancel and an end at the same moment exactly one counts', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await startedJob(store)
      const key = await begin('m1')
      await store.jobs.patch(key, { status: 'running_test' }, KEPT)
      const patch = () => gateway(0).jobs.patch(key, { status: 'succeeded' }, KEPT)
      const cancel = () => gateway(1).jobs.cancel(id, { keptMs: KEPT })
      const answers = await Promise.all(round % 2 === 0 ? [patch(), cancel()] : [cancel(), patch()])
      const final = await store.jobs.byId(id)
      expect(answers.map((job) => job?.status)).toEqual([final?.status, final?.status])
      expect(['succeeded', 'cancelled']).toContain(final?.status)
      await store.jobs.release(key, { countLoss: true })
    }
    expect(await store.leases.count(JOB_QUEUE)).toEqual({ waiting: 0, held: 0 })
  })

  test('whatever judges and people do at once, a job ends once and leaves no lease', async () => {
    const empty = await rowCounts(url)
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await startedJob(store)
      const key = await begin('m1')
      await store.jobs.patch(key, { status: 'running_test' }, KEPT)
      const attempts = [
        () => gateway(0).jobs.patch(key, { status: 'failed' }, KEPT),
        () => gateway(1).jobs.release(key, { countLoss: round % 2 === 0 }),
        () => gateway(0).jobs.cancel(id, { keptMs: KEPT }),
        () => gateway(1).jobs.renew(key, TTL),
        () => gateway(0).modelKeys.add(key, { hash: key.claimId, attempt: 1, channel: 'c', model: 'm', budget: NO_BUDGET }),
        () => gateway(1).jobs.delete(id),
        async () => {
          const other = await tryClaim(gateway(0), 'm2', TTL)
          if (other !== undefined) await gateway(1).jobs.release(other, { countLoss: false })
        },
      ]
      const shift = round % attempts.length
      const outcomes = await Promise.allSettled(
        [...attempts.slice(shift), ...attempts.slice(0, shift)].map((attempt) => attempt()),
      )
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'lease_lost' })
      }
      expect([undefined, 'cancelled', 'failed']).toContain((await store.jobs.byId(id))?.status)
      await store.jobs.release(key, { countLoss: true }).catch(() => undefined)
      await store.jobs.delete(id)
      now += TTL
      expect(await tryClaim(store, 'm3', TTL)).toBeUndefined()
    }
    expect(await rowCounts(url)).toEqual({ ...empty, served_rounds: 1 })
  })
})

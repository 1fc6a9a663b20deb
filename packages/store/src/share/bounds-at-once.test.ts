import { JOB_LIMITS, type JobId, NO_PRICES, type UserId } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_CALLS } from '../record/usage/steps.ts'
import { type Store, StoreError, openStore, personHolder } from '../index.ts'
import { type TestPostgres, startPostgres } from '../testing/start-postgres.ts'
import { claimNext, newJobId, sampleCall, sampleInputs, startedJob, storeFor } from '../fixture/sample-job.ts'
import { rowCounts } from '../fixture/look.ts'
import { execute } from '../testing/execute.ts'

const GATEWAYS = 3
const AT_ONCE = 48
const HOUR_MS = 3_600_000
/** What a server, a role or an address may set for every transaction; a snapshot that is older than a lock would see too little. */
const ISOLATIONS = ['read committed', 'repeatable read']

/** How each of many that are begun together ended: by the code of its failure. */
async function together(work: readonly (() => Promise<unknown>)[]): Promise<Readonly<Record<string, number>>> {
  const ends: Record<string, number> = {}
  const ended = await Promise.allSettled(work.map((each) => each()))
  for (const end of ended) {
    const code = end.status === 'fulfilled' ? 'ok' : codeOf(end.reason)
    ends[code] = (ends[code] ?? 0) + 1
  }
  return ends
}

function codeOf(error: unknown): string {
  if (error instanceof StoreError) return error.code
  throw error
}

describe.each(ISOLATIONS)('bounds with several gateways on PostgreSQL, %s', (isolation) => {
  let postgres: TestPostgres
  let url: string
  let stores: readonly Store[]
  let store: Store
  let names = 0
  beforeAll(async () => {
    postgres = await startPostgres({ settings: { fsync: 'off', default_transaction_isolation: isolation } })
    url = await postgres.createDatabase()
    store = await openStore({ url })
    const others = Array.from({ length: GATEWAYS - 1 }, () => openStore({ url }))
    stores = [store, ...(await Promise.all(others))]
  })
  afterAll(async () => {
    await Promise.all(stores.map((each) => each.close()))
    await postgres.stop()
  })

  const addUser = async (): Promise<UserId> =>
    (await store.users.add({ username: `user${(names += 1)}`, passwordHash: null, admin: false })).id
  /** The same at every gateway in turn, all of them at once. */
  const everywhere = (work: (at: Store, index: number) => Promise<unknown>, times = AT_ONCE) =>
    together(Array.from({ length: times }, (_, index) => () => work(stores[index % GATEWAYS] ?? store, index)))
  const rows = async (table: string) => (await rowCounts(url))[table] ?? 0

  test('uploads under way', async () => {
    const owner = personHolder(await addUser())
    const before = await rows('uploads')
    const ends = await everywhere((at) => at.blobs.begin(owner, { underWay: 5, kept: 100 }))
    expect(ends).toEqual({ ok: 5, quota_exceeded: AT_ONCE - 5 })
    expect((await rows('uploads')) - before).toBe(5)
  })

  test('uploads that are kept, those under way among them', async () => {
    const owner = personHolder(await addUser())
    const before = await rows('blob_holders')
    const ends = await everywhere(async (at, index) => {
      const upload = await at.blobs.begin(owner, { underWay: 100, kept: 5 })
      await at.blobs.write(upload, owner, 0, new TextEncoder().encode(`${owner} ${index}`))
      await at.blobs.commit(upload, owner, { holder: owner })
    })
    expect(ends).toEqual({ ok: 5, quota_exceeded: AT_ONCE - 5 })
    expect((await rows('blob_holders')) - before).toBe(5)
  })

  test('bytes of uploads', async () => {
    const userId = await addUser()
    const keptBytes = 3_000
    await store.quotas.set({ userId, ...NO_BOUNDS, keptBytes })
    const owner = personHolder(userId)
    const ends = await everywhere(async (at) =>
      at.blobs.write(await at.blobs.begin(owner), owner, 0, new Uint8Array(1_000).fill(1)),
    )
    expect(ends).toEqual({ ok: 3, quota_exceeded: AT_ONCE - 3 })
    expect((await store.shares.of(userId)).bytes).toEqual({ used: keptBytes, limit: keptBytes })
  })

  test('jobs that are kept', async () => {
    const userId = await addUser()
    await store.quotas.set({ userId, ...NO_BOUNDS, keptJobs: 4 })
    const ends = await everywhere((at) => {
      const id = newJobId()
      return at.jobs.add({ id, ownerId: userId, inputs: sampleInputs(id) })
    })
    expect(ends).toEqual({ ok: 4, quota_exceeded: AT_ONCE - 4 })
    expect((await store.shares.of(userId)).jobs.used).toBe(4)
  })

  test('jobs at once', async () => {
    const ownerId = await addUser()
    const ids = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const id = newJobId()
        await store.jobs.add({ id, ownerId, inputs: sampleInputs(id) })
        return id
      }),
    )
    const startAt = (at: Store, id: JobId | undefined) =>
      id === undefined ? Promise.resolve() : at.jobs.start(id, { atOnce: 3 })
    const ends = await everywhere((at, index) => startAt(at, ids[index]))
    expect(ends).toEqual({ ok: 3, quota_exceeded: AT_ONCE - 3 })
    expect(await store.jobs.list({ ownerId, statuses: ['queued'], limit: 100 })).toHaveLength(3)
  })

  test('artifacts of a job', async () => {
    const { id } = await startedJob(store)
    let claim = await claimNext(store, 'm1', HOUR_MS)
    while (claim.jobId !== id) claim = await claimNext(store, 'm1', HOUR_MS)
    const most = JOB_LIMITS.artifacts
    const artifact = async (name: string) => ({ name, attempt: 1, ...(await storeFor(store, id, name)) })
    const first = await Promise.all(Array.from({ length: most - 2 }, (_, index) => artifact(`first-${index}`)))
    await store.jobs.putArtifacts(claim, first)
    const more = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => artifact(`more-${index}`)))
    const ends = await everywhere((at, index) => at.jobs.putArtifacts(claim, more.slice(index, index + 1)))
    expect(ends).toEqual({ ok: 2, conflict: AT_ONCE - 2 })
    expect(await store.jobs.artifacts(id)).toHaveLength(most)
  })

  test.each(['reserved', 'told by a judge'])('calls of models for one job, %s', async (way) => {
    const { id: jobId } = await startedJob(store)
    const claimId = jobId
    await execute(url, FILL, [jobId, claimId, MAX_CALLS - 3])
    const ends = await everywhere((at, index) => {
      const call = sampleCall({ jobId, claimId, callId: `more-${index}` })
      return way === 'reserved' ? at.usages.reserve(call, { since: 0 }) : at.usages.add(call)
    })
    expect(ends).toEqual({ ok: 3, conflict: AT_ONCE - 3 })
  })

  test('sign-ins of one person', async () => {
    const userId = await addUser()
    const expiresAt = Date.now() + HOUR_MS
    const jtis = Array.from({ length: 3 * AT_ONCE }, (_, index) => `${userId}/${index}`)
    await everywhere(
      (at, index) => at.signIns.add({ jti: jtis[index] ?? '', userId, expiresAt, proof: { passwordHash: null } }),
      jtis.length,
    )
    const standing = (await Promise.all(jtis.map((jti) => store.signIns.get(jti)))).filter((each) => each?.revokedAt === null)
    expect(standing).toHaveLength(100)
  })

  test('channels and models', async () => {
    const channel = { ...CHANNEL, name: 'first' }
    await store.channels.put(channel)
    const ends = await everywhere((at, index) => at.channels.put({ ...channel, name: `channel-${index}` }, { most: 5 }))
    expect(ends).toEqual({ ok: 4, conflict: AT_ONCE - 4 })
    const models = await everywhere((at, index) => at.channels.putModel({ ...MODEL, model: `model-${index}` }, { most: 5 }))
    expect(models).toEqual({ ok: 5, conflict: AT_ONCE - 5 })
    // What is there can be changed, however many there are.
    await store.channels.put({ ...channel, displayName: 'renamed' }, { most: 2 })
    await store.channels.put({ ...channel, displayName: 'again' })
  })
})

const NO_BOUNDS = { jobsAtOnce: null, tokensPerDay: null, microusdPerDay: null, keptBytes: null, keptJobs: null }
const CHANNEL = {
  displayName: 'Main',
  kind: 'openai',
  baseUrl: 'http://127.0.0.1:1',
  wire: 'responses',
  modelsPath: '/models',
  script: null,
  sealedKey: null,
  keyHint: null,
  enabled: true,
  source: 'admin',
} as const
const MODEL = {
  channel: 'first',
  displayName: 'Model',
  contextTokens: null,
  prices: NO_PRICES,
  active: true,
  source: 'admin',
} as const
/** $1 job, $2 claim, $3 how many calls. */
const FILL = `INSERT INTO usage (id, status, job_id, claim_id, claim, attempt, call_id, model, source, estimated, input_tokens,
    cached_input_tokens, output_tokens, cached_output_tokens, reasoning_output_tokens, at)
  SELECT $2 || '/' || n, 'booked', $1, $2, 1, 1, 'call-' || n, 'm', 'judge', 0, 1, 0, 1, 0, 0, 1 FROM generate_series(1, CAST($3 AS INT)) AS n`

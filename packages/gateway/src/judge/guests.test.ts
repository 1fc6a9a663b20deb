import { JobId, type UserId } from '@parley/protocol'
import { openStore } from '@parley/store'
import { startEngine } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { type TestGateway, callTool, mint, openTestGateway, optionsOf } from '../fixture/test-gateway.ts'
import { addUser } from '../fixture/test-job.ts'
import { type Claim, TestJudge, addJob } from '../fixture/test-judge.ts'
import { openGateway } from '../gateway.ts'

/** Long enough for any step of a test, and never waited for to the end. */
const LONG_MS = 30_000

const factsOf = (slots: number, languages = ['cpp']) => ({
  version: '1',
  languages: languages.map((language) => ({ language, version: '1' })),
  sandbox: { driver: 'cage', tier: 'full', enforced: {}, missing: [] },
  slots,
  guests: slots,
  running: 0,
})

async function judgeOf(gw: TestGateway, name = 'tower', ws = gw.gateway.ws): Promise<TestJudge> {
  return TestJudge.open(ws, (await mint(gw, { role: 'judge', name })).token, name)
}

/** A judge that waits, with this in its hands. */
const guest = (judge: TestJudge, holding: readonly Claim[], slots = 1) =>
  judge.poll({ wait_ms: LONG_MS, facts: factsOf(slots), holding })
/** The job is over, and its judge says so. */
async function end(gw: TestGateway, judge: TestJudge, claim: Claim): Promise<void> {
  await gw.store.jobs.cancel(JobId.parse(claim.job_id))
  await judge.ok('judge.release_claim', { ...claim })
}
async function waits(gw: TestGateway, name: string): Promise<void> {
  await expect.poll(async () => (await gw.store.judges.byId(name))?.lastSeenAt, { timeout: LONG_MS }).toBeGreaterThan(0)
}
const startFor = (gw: TestGateway, ownerId?: UserId): Promise<JobId> => addJob(gw.store, ownerId === undefined ? {} : { ownerId })

test('a judge whose slots are full gets jobs of those who have none there, and of nobody else', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw)
  const [ann, bob] = [await addUser(gw, 'ann'), await addUser(gw, 'bob')]
  const first = await startFor(gw, ann.id)
  const second = await startFor(gw, ann.id)
  const held = [await judge.claim({ facts: factsOf(1) })]
  expect(held).toMatchObject([{ job_id: first }])
  expect(await judge.poll({ facts: factsOf(1), holding: held })).toMatchObject({ claimed: false })
  const bobs = await startFor(gw, bob.id)
  const nobodys = await startFor(gw)
  held.push(await judge.claim({ facts: factsOf(1), holding: held }))
  expect(held[1]).toMatchObject({ job_id: bobs })
  // What nobody owns has one lane.
  await startFor(gw)
  held.push(await judge.claim({ facts: factsOf(1), holding: held }))
  expect(held[2]).toMatchObject({ job_id: nobodys })
  expect(await judge.poll({ facts: factsOf(1), holding: held })).toMatchObject({ claimed: false })
  // A judge that does not say what it holds gets what is next, as ever.
  expect(await judge.claim()).toMatchObject({ job_id: second })
  judge.close()
})

test('a claim that ends while its judge waits makes room in that moment: for its owner, or for anybody', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw)
  const [ann, bob] = [await addUser(gw, 'ann'), await addUser(gw, 'bob')]
  for (const owner of [ann, ann]) await startFor(gw, owner.id)
  const anns = [await judge.claim({ facts: factsOf(2) }), await judge.claim({ facts: factsOf(2) })]
  await startFor(gw, bob.id)
  const bobs = await judge.claim({ facts: factsOf(2), holding: anns })

  // Bob's next is a guest like the one before, as soon as that has ended.
  const next = await startFor(gw, bob.id)
  const asGuest = guest(judge, [...anns, bobs], 2)
  await waits(gw, 'tower')
  await end(gw, judge, bobs)
  const second = await asGuest
  expect(second).toMatchObject({ claimed: true, job_id: next })

  // Ann's third waits for a slot. With the first of hers two jobs are left here, with the second one.
  const third = await startFor(gw, ann.id)
  const holding = [...anns, { job_id: String(second['job_id']), claim_id: String(second['claim_id']) }]
  const asAny = guest(judge, holding, 2)
  for (const claim of anns) await end(gw, judge, claim)
  expect(await asAny).toMatchObject({ claimed: true, job_id: third })
  judge.close()
})

test('a judge with a free slot comes before one that takes a guest, unless it cannot do the job', async () => {
  await using gw = await openTestGateway()
  const [full, free] = [await judgeOf(gw, 'full'), await judgeOf(gw, 'free')]
  const [ann, bob] = [await addUser(gw, 'ann'), await addUser(gw, 'bob')]
  await startFor(gw, ann.id)
  const held = [await full.claim({ facts: factsOf(1) })]
  const asGuest = guest(full, held)
  const asked = free.poll({ wait_ms: LONG_MS, facts: factsOf(1) })
  await waits(gw, 'free')
  const first = await startFor(gw, bob.id)
  expect(await asked).toMatchObject({ claimed: true, job_id: first })
  void free.poll({ wait_ms: LONG_MS, facts: factsOf(1, ['go']) }).catch(() => undefined)
  const second = await startFor(gw, bob.id)
  expect(await asGuest).toMatchObject({ claimed: true, job_id: second })
  for (const judge of [full, free]) judge.close()
})

test('a job that could be a guest does not say that all are at work; the second of its owner does', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw)
  const ann = await addUser(gw, 'ann')
  const [first, second] = [await startFor(gw, ann.id), await startFor(gw, ann.id)]
  expect(await judge.claim({ facts: factsOf(1) })).toMatchObject({ job_id: first })
  const bob = await addUser(gw, 'bob')
  const waiting = async (token: string, id: JobId) =>
    (await callTool(gw.gateway.url, token, 'job.get_state', { job_id: id })).structuredContent?.['waiting']
  expect(await waiting(bob.token, await startFor(gw, bob.id))).toBeNull()
  expect(await waiting(ann.token, second)).toEqual({
    code: 'busy',
    message: 'every judge that could take it is at work (tower: 1 of 1)',
  })
  judge.close()
})

test('a claim that ends at another gateway makes room for who waits at this one', async () => {
  const postgres = await startEngine('postgres')
  const database = await postgres.migratedUrl()
  const stores = [await openStore({ url: database }), await openStore({ url: database })] as const
  const gw = await openTestGateway({ store: stores[0] })
  const other = await openGateway(optionsOf(stores[1], []))
  const ann = await addUser(gw, 'ann')
  await startFor(gw, ann.id)
  const second = await startFor(gw, ann.id)
  const { token } = await mint(gw, { role: 'judge', name: 'tower' })
  const [here, there] = [await TestJudge.open(gw.gateway.ws, token, 'tower'), await TestJudge.open(other.ws, token, 'tower')]
  const held = await here.claim({ facts: factsOf(1) })
  const waiting = guest(here, [held])
  await waits(gw, 'tower')
  await end(gw, there, held)
  expect(await waiting).toMatchObject({ claimed: true, job_id: second })
  for (const judge of [here, there]) judge.close()
  await other.close(200)
  await gw[Symbol.asyncDispose]()
  for (const store of stores) await store.close()
  await postgres.stop()
}, 60_000)

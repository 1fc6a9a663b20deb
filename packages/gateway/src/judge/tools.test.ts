import { AgentStatusItem, Report } from '@parley/protocol'
import { type Store, jobLog, openStore } from '@parley/store'
import { ENGINES, startEngine } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { listIn, mint, openTestGateway, optionsOf, request } from '../fixture/test-gateway.ts'
import { TestJudge, addJob, base64 } from '../fixture/test-judge.ts'
import { openGateway } from '../gateway.ts'

/** Long enough for any step of a test, and never waited for to the end. */
const LONG_MS = 30_000
/** After this a lease of thirty seconds is over. */
const LEASE_OVER_MS = 31_000
/** After this a judge that said nothing is gone. */
const GONE_MS = 120_000

const FACTS = {
  version: '1.2.3',
  languages: [{ language: 'cpp20', version: 'g++ 13' }],
  sandbox: { driver: 'cage', tier: 'full', enforced: { memory: 'cgroup' }, missing: [] },
  slots: 2,
  running: 0,
}

test('a judge that waits gets the job when it comes, and one that asks in vain is told so after its wait', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw)
  expect(await judge.poll({ wait_ms: 20 })).toMatchObject({ claimed: false, drain: false })
  const waiting = judge.poll({ wait_ms: LONG_MS })
  const id = await addJob(gw.store)
  expect(await waiting).toMatchObject({ claimed: true, job_id: id })
  judge.close()
})

test('of two judges each gets a job of its own, oldest first', async () => {
  await using gw = await openTestGateway()
  const judges = [await judgeOf(gw, 'a'), await judgeOf(gw, 'b')]
  const ids = [await addJob(gw.store), await addJob(gw.store)]
  const claims = []
  for (const judge of judges) claims.push(await judge.claim())
  expect(claims.map(({ job_id }) => job_id)).toEqual(ids)
  for (const judge of judges) judge.close()
})

test('a judge that hangs up while it waits takes nothing with it', async () => {
  await using gw = await openTestGateway()
  const gone = await judgeOf(gw, 'gone')
  void gone.poll({ wait_ms: LONG_MS }).catch(() => undefined)
  await seen(gw.store, 'gone')
  gone.close()
  await gone.socket.closed
  const id = await addJob(gw.store)
  const judge = await judgeOf(gw, 'here')
  expect(await judge.claim()).toMatchObject({ job_id: id })
  expect(await gw.store.jobs.byId(id)).toMatchObject({ claims: 1, lostClaims: 0 })
  judge.close()
})

test('a job in a language that a judge does not have is left to another; cpp is cpp20', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw, 'cpp-only')
  const rust = await addJob(gw.store, { language: 'rust' })
  expect(await judge.poll({ facts: FACTS })).toMatchObject({ claimed: false, drain: false })
  const cpp = await addJob(gw.store, { language: 'cpp' })
  expect(await judge.poll({ facts: FACTS })).toMatchObject({ claimed: true, job_id: cpp })
  expect(await gw.store.jobs.byId(rust)).toMatchObject({ status: 'queued', claims: 0, claim: null })
  const other = await judgeOf(gw, 'any')
  expect(await other.claim()).toMatchObject({ job_id: rust })
  judge.close()
  other.close()
})

test('a judge gets past a queue full of jobs for others', async () => {
  await using gw = await openTestGateway()
  for (let count = 0; count < 300; count += 1) await addJob(gw.store, { language: 'rust' })
  const id = await addJob(gw.store)
  const judge = await judgeOf(gw)
  let answer: Record<string, unknown> = {}
  while (answer['claimed'] !== true) answer = await judge.poll({ facts: FACTS })
  expect(answer).toMatchObject({ job_id: id })
  judge.close()
})

test('drain: the judge finishes and gets no more until it is taken back', async () => {
  await using gw = await openTestGateway()
  const { token } = await mint(gw, { role: 'judge', name: 'm1' })
  const judge = await TestJudge.open(gw.gateway.ws, token)
  const waiting = judge.poll({ wait_ms: LONG_MS, facts: FACTS })
  await seen(gw.store, 'm1')
  expect((await gw.admin('judge.drain', { machine_id: 'nobody' }))._meta?.['parley/error']).toMatchObject({
    code: 'not_found',
    field: 'machine_id',
  })
  expect((await gw.admin('judge.drain', { machine_id: 'm1' })).structuredContent).toEqual({ machine_id: 'm1', drain: true })
  const id = await addJob(gw.store)
  const second = await TestJudge.open(gw.gateway.ws, token)
  expect(await second.poll()).toMatchObject({ claimed: false, drain: true })
  const { structuredContent } = await gw.admin('judge.list')
  expect(listIn(structuredContent, 'items')).toMatchObject([{ machine_id: 'm1', name: 'm1', state: 'draining', facts: FACTS }])
  await gw.admin('judge.drain', { machine_id: 'm1', drain: false })
  expect(await waiting).toMatchObject({ claimed: true, job_id: id })
  judge.close()
  second.close()
})

test('judges are idle or busy, and whoever watches their list is told', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw)
  const admin = await TestJudge.open(gw.gateway.ws, gw.adminToken)
  const items = async () => listIn((await gw.admin('judge.list')).structuredContent, 'items')
  await judge.poll({ facts: FACTS })
  expect(await items()).toMatchObject([{ machine_id: 'm1', state: 'idle', jobs: [] }])
  await admin.socket.call('resources/subscribe', { uri: 'resource://judges/list' })
  const id = await addJob(gw.store)
  const claim = await judge.claim()
  expect(await admin.told('notifications/resources/updated')).toEqual({ uri: 'resource://judges/list' })
  expect(await items()).toMatchObject([{ state: 'busy', jobs: [id] }])
  await judge.ok('judge.release_claim', { ...claim, reason: 'unfinished' })
  await admin.told('notifications/resources/updated')
  const read = await request(gw.gateway.url, gw.adminToken, 'resources/read', { uri: 'resource://judges/list' })
  expect(JSON.parse(listIn<{ text: string }>(read.body.result, 'contents')[0]?.text ?? '')).toMatchObject({
    items: [{ machine_id: 'm1', jobs: [], state: 'idle' }],
  })
  judge.close()
  admin.close()
})

test('a judge that waits is there however long it waits, and one that went is gone', async () => {
  const clock = new Clock()
  await using gw = await openTestGateway({ now: clock.now, limits: { leaseMs: 30 } }, undefined, clock.now)
  const judge = await judgeOf(gw)
  const state = async () =>
    listIn<{ state: string }>((await gw.admin('judge.list', { gone: true })).structuredContent, 'items')[0]?.state
  void judge.poll({ wait_ms: LONG_MS }).catch(() => undefined)
  await seen(gw.store, 'm1')
  clock.pass(GONE_MS)
  while ((await state()) !== 'idle') await turn()
  judge.close()
  await judge.socket.closed
  while ((await state()) !== 'gone') {
    clock.pass(GONE_MS)
    await turn()
  }
})

test('a dead judge: another has the job after the lease, the dead one’s words are refused', async () => {
  const clock = new Clock()
  await using gw = await openTestGateway({ now: clock.now }, undefined, clock.now)
  const [dead, next] = [await judgeOf(gw, 'dead'), await judgeOf(gw, 'next')]
  const id = await addJob(gw.store)
  const claim = await dead.claim()
  await dead.ok('judge.job.append_agent_status', { ...claim, offset: 0, chunk_b64: base64('{"half":') })
  expect(await next.poll()).toMatchObject({ claimed: false })
  clock.pass(LEASE_OVER_MS)
  // The broken line was ended, so that the next one is whole.
  const second = await next.poll()
  expect(second).toMatchObject({
    claimed: true,
    job_id: id,
    claim: 2,
    previous_claim_id: claim.claim_id,
    offsets: { agent_status: 9 },
  })
  // Told on its connection, too: the job is not its own any more.
  expect(await dead.told('judge_control')).toEqual({ ...claim, action: 'cancel' })
  expect(await dead.refused('judge.heartbeat', claim)).toMatchObject({ code: 'lease_lost' })
  expect(await gw.store.jobs.byId(id)).toMatchObject({ claims: 2, lostClaims: 1, status: 'queued' })
  // Whoever comes after one that gave the job back cannot know who wrote last.
  await next.ok('judge.release_claim', { job_id: id, claim_id: second['claim_id'], reason: 'unfinished' })
  const third = await next.poll()
  expect(third).toMatchObject({ claimed: true, job_id: id, claim: 2 })
  expect(third).not.toHaveProperty('previous_claim_id')
  dead.close()
  next.close()
})

test('a judge that waits takes what another lost, without asking again', async () => {
  await using gw = await openTestGateway({ limits: { leaseMs: 50 } })
  const [dead, next] = [await judgeOf(gw, 'dead'), await judgeOf(gw, 'next')]
  const id = await addJob(gw.store)
  await dead.claim()
  expect(await next.poll({ wait_ms: LONG_MS })).toMatchObject({ claimed: true, job_id: id })
  dead.close()
  next.close()
})

test.each(ENGINES)(
  'three judges lost at work: the job ends as failed, with a report and a line that say so (%s)',
  async (engine) => {
    const clock = new Clock()
    await using host = await startEngine(engine)
    await using gw = await openTestGateway({ now: clock.now }, await host.migratedUrl(), clock.now)
    const judge = await judgeOf(gw)
    const id = await addJob(gw.store)
    for (let lost = 0; lost < 3; lost += 1) {
      const claim = await judge.claim()
      await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'running_test', attempt: 1 } })
      clock.pass(LEASE_OVER_MS)
    }
    const good = await addJob(gw.store)
    expect(await judge.claim()).toMatchObject({ job_id: good })
    expect(await gw.store.jobs.byId(id)).toMatchObject({
      status: 'failed',
      lostClaims: 3,
      error: { code: 'poisoned' },
      artifactNames: ['report.json'],
    })
    const [artifact] = await gw.store.jobs.artifacts(id)
    const report = Report.parse(JSON.parse(await textOf(gw.store, artifact?.sha256)))
    const error = { code: 'poisoned', message: expect.stringMatching(/^3 judges were lost/) }
    expect(report).toMatchObject({ status: 'failed', mode: 'none', attempt: 1, claim: 3, error })
    const { entries } = await gw.store.logs.read(jobLog(id, 'agent_status'), { from: { offset: 0 }, maxBytes: 10_000 })
    const lines = Buffer.concat(entries.map(({ bytes }) => bytes))
      .toString()
      .trim()
      .split('\n')
    expect(lines.map((line) => AgentStatusItem.parse(JSON.parse(line)))).toMatchObject([
      { stage: 'error', meta: { code: 'poisoned' } },
    ])
    const metrics = await (await fetch(`${gw.gateway.url}/metrics`)).text()
    expect(metrics).toContain('parley_job_claims_total{outcome="lost"} 3')
    expect(metrics).toContain('parley_job_claims_total{outcome="poisoned"} 1')
    judge.close()
  },
)

test('claims whose judge never began, or gave the job back in time, poison nothing', async () => {
  const clock = new Clock()
  await using gw = await openTestGateway({ now: clock.now }, undefined, clock.now)
  const judge = await judgeOf(gw)
  const id = await addJob(gw.store)
  for (let count = 0; count < 4; count += 1) {
    await judge.claim()
    clock.pass(LEASE_OVER_MS)
  }
  for (const reason of ['unfinished', 'unsupported', 'unfinished', 'unfinished']) {
    const claim = await judge.claim()
    await judge.ok('judge.heartbeat', claim)
    await judge.ok('judge.release_claim', { ...claim, reason })
    clock.pass(LEASE_OVER_MS)
  }
  expect(await gw.store.jobs.byId(id)).toMatchObject({ status: 'queued', lostClaims: 0 })
  judge.close()
})

test('done on a job that has not ended counts: nobody takes and drops a job for ever', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw)
  const id = await addJob(gw.store)
  for (let count = 0; count < 3; count += 1) {
    const claim = await judge.claim()
    await judge.ok('judge.heartbeat', claim)
    await judge.ok('judge.release_claim', claim)
    expect(await judge.ok('judge.release_claim', claim)).toEqual({ released: true })
  }
  expect(await judge.poll()).toMatchObject({ claimed: false })
  expect(await gw.store.jobs.byId(id)).toMatchObject({ status: 'failed', error: { code: 'poisoned' } })
  judge.close()
})

test('cancel: pushed to the judge once, in every result after it; it may flush until it gives the job back', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw)
  const id = await addJob(gw.store)
  const claim = await judge.claim()
  await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'running_test' } })
  await gw.store.jobs.cancel(id)
  expect(await judge.told('judge_control')).toEqual({ ...claim, action: 'cancel' })
  const chunk = { ...claim, offset: 0, chunk_b64: base64('bye\n') }
  expect(await judge.ok('judge.job.append_terminal', chunk)).toMatchObject({ ok: true, next_offset: 4, action: 'cancel' })
  expect(await judge.ok('judge.heartbeat', claim)).toMatchObject({ action: 'cancel' })
  await judge.ok('judge.job.put_artifacts', { ...claim, main_cpp: 'x' })
  const patch = { status: 'succeeded', error: { code: 'x', message: 'y' } }
  expect(await judge.ok('judge.job.patch_state', { ...claim, patch })).toEqual({ ok: true, action: 'cancel' })
  expect(await gw.store.jobs.byId(id)).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } })
  // A judge that comes back on a new connection is told there, by the first call that it makes.
  const again = await judgeOf(gw)
  expect(await again.ok('judge.job.get_state', claim)).toMatchObject({ status: 'cancelled' })
  expect(await again.told('judge_control')).toEqual({ ...claim, action: 'cancel' })
  await again.ok('judge.release_claim', claim)
  expect(judge.socket.messages.filter(({ method }) => method === 'judge_control')).toEqual([])
  expect(await gw.store.leases.count('jobs')).toEqual({ waiting: 0, held: 0 })
  judge.close()
  again.close()
})

test('after a restart a judge goes on with what it held, though its lease ran out while nobody could renew it', async () => {
  const clock = new Clock()
  await using gw = await openTestGateway({ now: clock.now }, undefined, clock.now)
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  const judge = await TestJudge.open(gw.gateway.ws, token)
  const id = await addJob(gw.store)
  const claim = await judge.claim()
  await judge.ok('judge.heartbeat', claim)
  await gw.gateway.close(0)
  clock.pass(LEASE_OVER_MS)
  const gateway = await gw.restart()
  const back = await TestJudge.open(gateway.ws, token)
  expect(await back.poll()).toMatchObject({ claimed: false })
  expect(await back.ok('judge.job.patch_state', { ...claim, patch: { status: 'running_test' } })).toMatchObject({ ok: true })
  expect(await gw.store.jobs.byId(id)).toMatchObject({ claims: 1, lostClaims: 0 })
  back.close()
})

test('a gateway that closes answers the judges that wait, at once', async () => {
  await using gw = await openTestGateway()
  const judge = await judgeOf(gw)
  const waiting = judge.poll({ wait_ms: LONG_MS })
  await seen(gw.store, 'm1')
  await gw.gateway.close(LONG_MS)
  expect(await waiting).toMatchObject({ claimed: false, drain: false })
})

test('on PostgreSQL: a cancel and a drain at one gateway reach the judge at the other', async () => {
  const postgres = await startEngine('postgres')
  const url = await postgres.migratedUrl()
  const stores = [await openStore({ url }), await openStore({ url })] as const
  const gw = await openTestGateway({ store: stores[0] })
  const other = await openGateway(optionsOf(stores[1], []))
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  const judge = await TestJudge.open(other.ws, token)
  const id = await addJob(stores[0])
  const claim = await judge.claim()
  await stores[0].jobs.cancel(id)
  expect(await judge.told('judge_control')).toEqual({ ...claim, action: 'cancel' })
  await judge.ok('judge.release_claim', claim)
  await gw.admin('judge.drain', { machine_id: 'm1' })
  const waiting = judge.poll({ wait_ms: LONG_MS })
  const next = await addJob(stores[0])
  await gw.admin('judge.drain', { machine_id: 'm1', drain: false })
  expect(await waiting).toMatchObject({ claimed: true, job_id: next })
  judge.close()
  await other.close(200)
  await gw[Symbol.asyncDispose]()
  for (const store of stores) await store.close()
  await postgres.stop()
})

/** The time of the gateway and its store, which passes as the test wants. */
class Clock {
  #ahead = 0
  readonly now = (): number => Date.now() + this.#ahead
  pass(ms: number): void {
    this.#ahead += ms
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

async function judgeOf(gw: Awaited<ReturnType<typeof openTestGateway>>, machineId = 'm1'): Promise<TestJudge> {
  const { token } = await mint(gw, { role: 'judge', name: machineId })
  return TestJudge.open(gw.gateway.ws, token, machineId)
}

/** Answers when a judge has asked for work. */
async function seen(store: Store, machineId: string): Promise<void> {
  while ((await store.judges.byId(machineId)) === undefined) await turn()
}

async function textOf(store: Store, sha256: string | undefined): Promise<string> {
  const read = await store.blobs.read(sha256 ?? '', 0, 1_000_000)
  return Buffer.from(read?.bytes ?? []).toString('utf8')
}

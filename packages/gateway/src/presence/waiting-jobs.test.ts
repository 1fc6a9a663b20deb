import type { JobId, JobState, Language } from '@parley/protocol'
import { openStore } from '@parley/store'
import { ONE_CASE_ZIP, startEngine } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { JobSocket } from '../fixture/job-socket.ts'
import { type TestGateway, callTool, listIn, mint, openTestGateway, optionsOf, request } from '../fixture/test-gateway.ts'
import { addUser } from '../fixture/test-job.ts'
import { TestJudge, addJob } from '../fixture/test-judge.ts'
import { openGateway } from '../gateway.ts'

/** Long enough for any step of a test, and never waited for to the end. */
const LONG_MS = 30_000
const PATIENCE = { timeout: LONG_MS }

const factsOf = (languages: Language[], more: object = {}) => ({
  version: '1',
  languages: languages.map((language) => ({ language, version: '1' })),
  sandbox: { driver: 'cage', tier: 'full', enforced: {}, missing: [] },
  slots: 1,
  running: 0,
  ...more,
})

/** A judge that waits for work, by the name of its token. What it is given at last is `answer`. */
async function judgeAt(gw: TestGateway, ws: string, name: string, facts: object) {
  const { token, id } = await mint(gw, { role: 'judge', name })
  const judge = await TestJudge.open(ws, token, `machine of ${name}`)
  const answer = judge.poll({ wait_ms: LONG_MS, facts })
  answer.catch(() => undefined)
  return { judge, tokenId: id, answer }
}

async function waitingAt(url: string, token: string, id: JobId): Promise<JobState['waiting']> {
  const { structuredContent } = await callTool(url, token, 'job.get_state', { job_id: id })
  return (structuredContent as unknown as JobState).waiting
}

/** What a follower was told of the reasons, one after the other. */
const reasonsTold = (socket: JobSocket): (string | undefined)[] =>
  socket.told('job_state').map(({ params }) => (params['state'] as JobState).waiting?.code)

test('a job says why it waits, whoever follows is told when that changes, and a judge that comes later takes it', async () => {
  await using gw = await openTestGateway()
  const { url, ws } = gw.gateway
  const ada = await addUser(gw, 'ada')
  const id = await addJob(gw.store, { language: 'go', ownerId: ada.id })
  const uri = `resource://jobs/${id}/state`
  const follower = await JobSocket.open(ws, ada.token)
  const subscriber = await JobSocket.open(ws, ada.token)
  await follower.subscribe(id, { streams: ['state'] })
  await subscriber.socket.call('resources/subscribe', { uri })
  const updates = () => subscriber.told('notifications/resources/updated').length
  await expect.poll(() => reasonsTold(follower), PATIENCE).toEqual(['no_judge'])

  const before = updates()
  const tower = await judgeAt(gw, ws, 'tower', factsOf(['cpp', 'python']))
  await expect.poll(() => reasonsTold(follower).at(-1), PATIENCE).toBe('no_language')
  await expect.poll(updates, PATIENCE).toBeGreaterThan(before)
  const reason = { code: 'no_language', message: 'no judge that is here has Go (tower: cpp, python)' }
  expect(await waitingAt(url, ada.token, id)).toEqual(reason)
  const listed = await callTool(url, ada.token, 'job.list')
  expect(listed.structuredContent?.['items']).toMatchObject([{ job_id: id, owner: 'ada', waiting: reason }])
  const read = await request(url, ada.token, 'resources/read', { uri })
  expect(JSON.parse(listIn<{ text: string }>(read.body.result, 'contents')[0]?.text ?? '')).toMatchObject({ waiting: reason })

  // A judge that breaks off its wait is gone in that moment, and not when its time is over.
  tower.judge.close()
  await expect.poll(() => reasonsTold(follower).at(-1), PATIENCE).toBe('no_judge')

  const attic = await judgeAt(gw, ws, 'attic', factsOf(['go']))
  expect(await attic.answer).toMatchObject({ claimed: true, job_id: id, name: 'attic' })
  expect(await waitingAt(url, ada.token, id)).toBeNull()
  await expect.poll(() => reasonsTold(follower).at(-1), PATIENCE).toBeUndefined()

  // It has one slot, and that is taken.
  const next = await addJob(gw.store, { language: 'go', ownerId: ada.id })
  const busy = { code: 'busy', message: 'every judge that could take it is at work (attic: 1 of 1)' }
  expect(await waitingAt(url, ada.token, next)).toEqual(busy)
  await gw.admin('judge.drain', { machine_id: 'machine of attic' })
  expect(await waitingAt(url, ada.token, next)).toMatchObject({ code: 'draining' })
  for (const { socket } of [follower.socket, subscriber.socket, attic.judge.socket]) socket.terminate()
})

test('a judge that goes without a word is missed when its time is over, without anybody saying so', async () => {
  const leaseMs = 300
  await using gw = await openTestGateway({ limits: { leaseMs } })
  const { token } = await mint(gw, { role: 'judge', name: 'tower' })
  const judge = await TestJudge.open(gw.gateway.ws, token)
  // It asks once, without waiting, and is never heard of again.
  await judge.poll({ facts: factsOf(['cpp']) })
  const id = await addJob(gw.store, { language: 'go' })
  const follower = await JobSocket.open(gw.gateway.ws, gw.adminToken)
  await follower.subscribe(id, { streams: ['state'] })
  await expect.poll(() => reasonsTold(follower), PATIENCE).toEqual(['no_language', 'no_judge'])
  follower.close()
  judge.close()
})

test('a job for an engine goes to a judge that offers it, and waits for one where none does', async () => {
  await using gw = await openTestGateway()
  const { url, ws } = gw.gateway
  const id = await addJob(gw.store, { model: 'm', engine: 'codex' })
  const any = await addJob(gw.store, { model: 'm' })
  const asIs = await addJob(gw.store)
  const none = await judgeAt(gw, ws, 'none', factsOf(['cpp'], { engines: [] }))
  expect(await none.answer).toMatchObject({ claimed: true, job_id: asIs })
  const mini = await judgeAt(gw, ws, 'mini', factsOf(['cpp'], { engines: ['mini'] }))
  expect(await mini.answer).toMatchObject({ claimed: true, job_id: any })
  const reason = {
    code: 'no_engine',
    message: 'no judge that is here for C++ has the engine codex (mini: mini; none: no engine)',
  }
  expect(await waitingAt(url, gw.adminToken, id)).toEqual(reason)
  const codex = await judgeAt(gw, ws, 'codex', factsOf(['cpp'], { engines: ['mini', 'codex'] }))
  expect(await codex.answer).toMatchObject({ claimed: true, job_id: id })
  for (const { judge } of [none, mini, codex]) judge.close()
})

test('job.create warns of what would keep the job waiting, and says where its page is', async () => {
  await using gw = await openTestGateway()
  const ada = await addUser(gw, 'ada')
  const create = async (args: object) => {
    const whole = { current_code: 'x', tests_zip_b64: ONE_CASE_ZIP, ...args }
    const { structuredContent } = await callTool(gw.gateway.url, ada.token, 'job.create', whole)
    return structuredContent ?? {}
  }
  const lonely = await create({})
  expect(lonely['warnings']).toEqual([{ code: 'no_judge', message: 'no judge is connected' }])
  expect(lonely['url']).toBe(`${gw.gateway.url}/jobs/${String(lonely['job_id'])}`)
  const { judge } = await judgeAt(gw, gw.gateway.ws, 'tower', factsOf(['cpp']))
  await expect.poll(async () => (await create({}))['warnings'], PATIENCE).toEqual([])
  expect((await create({ language: 'go' }))['warnings']).toEqual([
    { code: 'no_language', message: 'no judge that is here has Go (tower: cpp)' },
  ])
  judge.close()
})

test('a judge is called as its token is, unless it says otherwise, and its name goes with the token', async () => {
  await using gw = await openTestGateway({ judgeToken: 'a-token-for-all-judges-of-this-installation' })
  const { url, ws } = gw.gateway
  const list = async (args: object = {}) =>
    listIn<{ name: string; machine_id: string; state: string }>(
      (await gw.admin('judge.list', args)).structuredContent,
      'items',
    ).map(({ name, machine_id, state }) => `${name} ${machine_id} ${state}`)
  const { token, id: tokenId } = await mint(gw, { role: 'judge', name: 'tower' })
  const tower = await TestJudge.open(ws, token, 'host-1')
  const named = await TestJudge.open(ws, token, 'host-2')
  const fixed = await TestJudge.open(ws, 'a-token-for-all-judges-of-this-installation', 'host-3')
  const id = await addJob(gw.store)
  expect(await tower.poll()).toMatchObject({ claimed: true, name: 'tower' })
  expect(await named.poll({ name: 'attic' })).toMatchObject({ name: 'attic' })
  expect(await fixed.poll()).toMatchObject({ name: 'host-3' })
  expect(await list()).toEqual(['tower host-1 busy', 'attic host-2 idle', 'host-3 host-3 idle'])
  const { structuredContent } = await callTool(url, gw.adminToken, 'job.get_state', { job_id: id })
  expect(structuredContent).toMatchObject({ judge: { machine_id: 'host-1', name: 'tower' } })

  // One that is gone is shown to whoever asks for it.
  void fixed.poll({ wait_ms: LONG_MS }).catch(() => undefined)
  await expect.poll(async () => (await gw.store.judges.byId('host-3'))?.lastSeenAt).toBeGreaterThan(0)
  fixed.close()
  await expect.poll(() => list(), PATIENCE).toEqual(['tower host-1 busy', 'attic host-2 idle'])
  expect(await list({ gone: true })).toContain('host-3 host-3 gone')

  await gw.admin('token.revoke', { id: tokenId })
  expect(await list({ gone: true })).toEqual(['host-3 host-3 gone'])
})

test('two gateways on one PostgreSQL say the same about a job, and tell their own followers', async () => {
  const postgres = await startEngine('postgres')
  const database = await postgres.migratedUrl()
  const stores = [await openStore({ url: database }), await openStore({ url: database })] as const
  const gw = await openTestGateway({ store: stores[0] })
  const other = await openGateway(optionsOf(stores[1], []))
  const id = await addJob(stores[0], { language: 'go' })
  const followers = [await JobSocket.open(gw.gateway.ws, gw.adminToken), await JobSocket.open(other.ws, gw.adminToken)]
  for (const follower of followers) await follower.subscribe(id, { streams: ['state'] })
  const everywhere = () => Promise.all([gw.gateway.url, other.url].map((url) => waitingAt(url, gw.adminToken, id)))
  const toldLast = () => followers.map((follower) => reasonsTold(follower).at(-1))
  await expect.poll(toldLast, PATIENCE).toEqual(['no_judge', 'no_judge'])

  const tower = await judgeAt(gw, other.ws, 'tower', factsOf(['cpp']))
  await expect.poll(toldLast, PATIENCE).toEqual(['no_language', 'no_language'])
  const reason = { code: 'no_language', message: 'no judge that is here has Go (tower: cpp)' }
  expect(await everywhere()).toEqual([reason, reason])

  const attic = await judgeAt(gw, gw.gateway.ws, 'attic', factsOf(['go']))
  expect(await attic.answer).toMatchObject({ claimed: true, job_id: id })
  expect(await everywhere()).toEqual([null, null])
  for (const follower of followers) follower.close()
  for (const { judge } of [tower, attic]) judge.close()
  await other.close(200)
  await gw[Symbol.asyncDispose]()
  for (const store of stores) await store.close()
  await postgres.stop()
}, 60_000)

import type { JobId, JobListItem } from '@parley/protocol'
import { expect, test } from 'vitest'
import { PlayedJudge, addJob, addUser } from '../fixture/test-job.ts'
import { type TestGateway, type ToolReply, callTool, listIn, openTestGateway, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

const failure = (reply: ToolReply) => reply._meta?.['parley/error']

async function open(gw: TestGateway) {
  const ada = await addUser(gw, 'ada')
  const id = await addJob(gw.store, ada.id)
  const call = (tool: string, args: object = { job_id: id }) => callTool(gw.gateway.url, ada.token, tool, args)
  return { ada, id, call }
}

test('a job is started once, runs, ends, and then neither starts nor changes', async () => {
  await using gw = await openTestGateway()
  const { id, call } = await open(gw)
  expect((await call('job.get_state')).structuredContent).toMatchObject({ job_id: id, status: 'created', claims: 0 })
  expect((await call('job.start')).structuredContent).toEqual({ job_id: id, status: 'queued' })
  expect((await call('job.start')).structuredContent).toEqual({ job_id: id, status: 'queued' })
  const judge = await PlayedJudge.take(gw.store, id)
  expect((await call('job.start')).structuredContent).toEqual({ job_id: id, status: 'running_test' })
  expect(failure(await call('job.delete'))).toMatchObject({ code: 'conflict', hint: 'job.cancel first' })
  await judge.end()
  expect(failure(await call('job.start'))).toMatchObject({
    code: 'conflict',
    field: 'job_id',
    hint: expect.stringContaining('job.retry'),
  })
  expect((await call('job.cancel')).structuredContent).toEqual({ job_id: id, status: 'succeeded' })
  expect((await call('job.delete')).structuredContent).toEqual({ job_id: id, deleted: true })
  expect(failure(await call('job.get_state'))).toMatchObject({ code: 'not_found', field: 'job_id' })
  expect(failure(await call('job.delete'))).toMatchObject({ code: 'not_found' })
})

test.each(['created', 'queued', 'running'] as const)('a job is cancelled while it is %s, and stays so', async (when) => {
  await using gw = await openTestGateway()
  const { id, call } = await open(gw)
  if (when === 'queued') await call('job.start')
  const judge = when === 'running' ? await PlayedJudge.take(gw.store, id) : undefined
  expect((await call('job.cancel')).structuredContent).toEqual({ job_id: id, status: 'cancelled' })
  expect((await call('job.cancel')).structuredContent).toEqual({ job_id: id, status: 'cancelled' })
  expect(failure(await call('job.start'))).toMatchObject({ code: 'conflict' })
  await judge?.end()
  expect((await call('job.get_state')).structuredContent).toMatchObject({ status: 'cancelled', finished_at: expect.any(String) })
  expect(await gw.store.leases.claim('jobs', 'another', { ttlMs: 1_000 })).toBeUndefined()
})

test('job.wait answers when the job ends, when the time is over, when it is gone, and when we close', async () => {
  await using gw = await openTestGateway()
  const { id, call } = await open(gw)
  expect((await call('job.wait', { job_id: id, wait_ms: 0 })).structuredContent).toMatchObject({
    status: 'created',
    ended: false,
  })
  const judge = await PlayedJudge.take(gw.store, id)
  const waiting = call('job.wait', { job_id: id, wait_ms: 30_000 })
  expect((await call('job.wait', { job_id: id, wait_ms: 30 })).structuredContent).toMatchObject({ ended: false })
  await judge.end('failed')
  expect((await waiting).structuredContent).toMatchObject({
    job_id: id,
    status: 'failed',
    ended: true,
    state: { status: 'failed' },
  })
  const second = await addJob(gw.store, null)
  const gone = gw.admin('job.wait', { job_id: second })
  await gw.admin('job.wait', { job_id: second, wait_ms: 10 })
  await gw.admin('job.delete', { job_id: second })
  expect(failure(await gone)).toMatchObject({ code: 'not_found' })
  const third = await addJob(gw.store, null)
  const left = gw.admin('job.wait', { job_id: third })
  await gw.admin('job.wait', { job_id: third, wait_ms: 10 })
  await gw.restart()
  expect((await left).structuredContent).toMatchObject({ ended: false })
})

test('a wait that its caller takes back ends at once', async () => {
  await using gw = await openTestGateway()
  const { ada, id } = await open(gw)
  const socket = await TestSocket.open(gw.gateway.ws, ada.token)
  void socket.call('tools/call', { name: 'job.wait', arguments: { job_id: id } })
  socket.socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }))
  await socket.call('ping')
  // It is written down when it has ended: without the cancellation that would take thirty seconds.
  const written = async () => listIn((await gw.admin('audit.search', { action: 'job.wait' })).structuredContent, 'items')
  while ((await written()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(socket.messages.some((message) => message.id === 1)).toBe(false)
})

test('jobs are listed page by page, newest first; a person sees their own and an admin all', async () => {
  await using gw = await openTestGateway()
  const { ada, id, call } = await open(gw)
  const bob = await addUser(gw, 'bob')
  const ids: JobId[] = [id]
  for (let n = 0; n < 4; n += 1) ids.push(await addJob(gw.store, ada.id, { title: `job ${n}` }))
  const foreign = await addJob(gw.store, bob.id)
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const { structuredContent } = await call('job.list', { limit: 2, ...(cursor === undefined ? {} : { cursor }) })
    const items = listIn<JobListItem>(structuredContent, 'items')
    expect(items.length).toBeLessThanOrEqual(2)
    seen.push(...items.map((item) => item.job_id))
    cursor = (structuredContent?.['next_cursor'] as string | null) ?? undefined
  } while (cursor !== undefined)
  expect(seen.toSorted()).toEqual(ids.toSorted())
  await call('job.start')
  const queued = await call('job.list', { status: ['queued'] })
  expect(listIn<JobListItem>(queued.structuredContent, 'items')).toMatchObject([{ job_id: id, status: 'queued' }])
  expect((await call('job.list', { owner_user_id: bob.id })).structuredContent).toEqual({ items: [], next_cursor: null })
  expect(listIn((await call('job.list', { owner_user_id: ada.id })).structuredContent, 'items')).toHaveLength(5)
  expect(listIn((await gw.admin('job.list')).structuredContent, 'items')).toHaveLength(6)
  const ofBob = await gw.admin('job.list', { owner_user_id: bob.id })
  expect(listIn<JobListItem>(ofBob.structuredContent, 'items').map((item) => item.job_id)).toEqual([foreign])
  expect(failure(await call('job.list', { cursor: 'nonsense' }))).toMatchObject({ code: 'invalid_argument', field: 'cursor' })
  expect(failure(await call('job.list', { owner_user_id: 'ada' }))).toMatchObject({
    code: 'invalid_argument',
    field: 'owner_user_id',
  })
})

test("somebody else's job is as unknown as one that never was, to every tool and resource, in both eras", async () => {
  await using gw = await openTestGateway()
  const { id } = await open(gw)
  const eve = await addUser(gw, 'eve')
  const judge = await PlayedJudge.take(gw.store, id)
  await judge.append('terminal', 'secret\n')
  await judge.put({ 'report.json': '{}' })
  const nobodys = `job_${'0'.repeat(26)}` as JobId
  const socket = await TestSocket.open(gw.gateway.ws, eve.token)
  const calls: [string, object][] = [
    ['job.start', {}],
    ['job.cancel', {}],
    ['job.delete', {}],
    ['job.get_state', {}],
    ['job.wait', {}],
    ['job.get_artifacts', {}],
    ['job.get_tests', {}],
    ['job.get_test_preview', { input_rel: 'tests/1.in' }],
    ['job.subscribe', { streams: ['state', 'terminal'] }],
    ['job.read_log', { stream: 'terminal' }],
  ]
  for (const [name, args] of calls) {
    const replies = []
    for (const job_id of [id, nobodys]) {
      const { result } = await socket.call('tools/call', { name, arguments: { ...args, job_id } })
      replies.push(JSON.stringify(result).replaceAll(job_id, 'ID'))
    }
    expect(replies[0]).toContain('not_found')
    expect(replies[0]).toBe(replies[1])
    expect(JSON.stringify(await callTool(gw.gateway.url, eve.token, name, { ...args, job_id: id }))).toMatch(
      /not_found|no_session/,
    )
  }
  expect((await socket.call('tools/call', { name: 'job.unsubscribe', arguments: { job_id: id } })).result).toMatchObject({
    structuredContent: { streams: [] },
  })
  for (const part of ['state', 'report', 'terminal', 'agent-status', 'cases']) {
    const uri = `resource://jobs/${id}/${part}`
    for (const method of ['resources/read', 'resources/subscribe'])
      expect((await socket.call(method, { uri })).error).toMatchObject({ code: -32002, data: { uri } })
    expect((await request(gw.gateway.url, eve.token, 'resources/read', { uri })).body.error).toMatchObject({ code: -32602 })
  }
  expect(await gw.store.jobs.byId(id)).toMatchObject({ status: 'running_test' })
  expect(JSON.stringify((await socket.call('resources/read', { uri: 'resource://jobs/list' })).result)).not.toContain(id)
})

import { type Client, connectClient, httpTransport } from '@parley/rpc'
import { TASKS_CAPABILITY } from '@parley/task'
import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { PlayedJudge, addJob, addUser } from '../fixture/test-job.ts'
import { type TestGateway, mint, openTestGateway, postJson } from '../fixture/test-gateway.ts'

const kept = keeping()

async function clientOf(gw: TestGateway, token: string): Promise<Client> {
  const client = await connectClient(httpTransport({ url: gw.gateway.mcp, token }), {
    clientInfo: { name: 'test', version: '1' },
    era: 'modern',
    capabilities: TASKS_CAPABILITY,
  })
  kept({ [Symbol.asyncDispose]: () => client.close() })
  return client
}

async function worldOf() {
  const gw = kept(await openTestGateway())
  const ada = await addUser(gw, 'ada')
  const job_id = await addJob(gw.store, ada.id)
  return { gw, ada, job_id, client: await clientOf(gw, ada.token) }
}
const start = (client: Client, job_id: string) => client.request('tools/call', { name: 'job.start', arguments: { job_id } })

test('a job is a task until it ends, also over a restart and with another token of its owner, and of nobody else', async () => {
  const { gw, job_id, client } = await worldOf()
  await expect(client.request('tasks/get', { taskId: job_id })).rejects.toMatchObject({ code: -32_602 })
  expect(await start(client, job_id)).toMatchObject({ resultType: 'task', taskId: job_id, status: 'working', ttlMs: null })
  const judge = await PlayedJudge.take(gw.store, job_id)
  await gw.restart()
  const again = await clientOf(gw, (await mint(gw, { role: 'user', username: 'ada' })).token)
  expect(await again.request('tasks/get', { taskId: job_id })).toMatchObject({
    resultType: 'complete',
    status: 'working',
    statusMessage: 'the job is running_test',
  })
  const eve = await clientOf(gw, (await addUser(gw, 'eve')).token)
  for (const method of ['tasks/get', 'tasks/cancel'])
    await expect(eve.request(method, { taskId: job_id })).rejects.toMatchObject({ code: -32_602 })
  await judge.end('failed')
  expect(await again.request('tasks/get', { taskId: job_id })).toMatchObject({
    status: 'completed',
    ttlMs: expect.any(Number),
    result: { structuredContent: { job_id, status: 'failed', ended: true, state: { status: 'failed' } } },
  })
})

test('cancelling the task cancels the job, and is in the audit log', async () => {
  const { gw, job_id, client } = await worldOf()
  await start(client, job_id)
  expect(await client.request('tasks/cancel', { taskId: job_id })).toMatchObject({ resultType: 'complete' })
  expect(await client.request('tasks/get', { taskId: job_id })).toMatchObject({ status: 'cancelled' })
  expect(await gw.store.jobs.byId(job_id)).toMatchObject({ status: 'cancelled' })
  const { structuredContent } = await gw.admin('audit.search', { action: 'job.cancel' })
  expect(JSON.stringify(structuredContent)).toContain(job_id)
})

test('who listens is told when the job ends', async () => {
  const { gw, job_id, client } = await worldOf()
  await start(client, job_id)
  const judge = await PlayedJudge.take(gw.store, job_id)
  const told: unknown[] = []
  const stop = new AbortController()
  const listening = client
    .exchange(
      'subscriptions/listen',
      { notifications: { taskIds: [job_id] } },
      {
        signal: stop.signal,
        timeoutMs: 0,
        onNotification: (method, { status }) => {
          if (method === 'notifications/tasks') told.push(status)
        },
      },
    )
    .catch(() => undefined)
  await expect.poll(() => told.at(-1)).toBe('working')
  await judge.end()
  await expect.poll(() => told.at(-1)).toBe('completed')
  stop.abort()
  await listening
})

test('a person’s call that waits becomes a stream and is kept alive until there is an answer', async () => {
  const gw = kept(await openTestGateway({ limits: { wire: { streamAfterMs: 20, keepAliveMs: 20 } } }))
  const ada = await addUser(gw, 'ada')
  const job_id = await addJob(gw.store, ada.id)
  const judge = await PlayedJudge.take(gw.store, job_id)
  const waiting = await modernPost(gw, ada.token, { name: 'job.wait', arguments: { job_id } })
  // The headers are here, and the job is not over.
  expect(waiting.headers.get('content-type')).toBe('text/event-stream')
  const reader = waiting.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const more = async () => (text += (await reader?.read())?.value ?? '')
  while (text.split(':\n\n').length < 4) await more()
  await judge.end()
  while (!text.includes('"ended":true')) await more()
  expect(text).toMatch(/^(?::\n\n)+data: /)
})

function modernPost(
  gw: TestGateway,
  token: string,
  params: { readonly name: string; readonly arguments: object },
): Promise<Response> {
  const version = '2026-07-28'
  const _meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} }
  return postJson(
    gw.gateway.mcp,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta } },
    {
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': params.name,
    },
  )
}

test('without the declaration job.start answers as ever', async () => {
  const { gw, ada, job_id } = await worldOf()
  const plain = await connectClient(httpTransport({ url: gw.gateway.mcp, token: ada.token }), {
    clientInfo: { name: 'test', version: '1' },
  })
  kept({ [Symbol.asyncDispose]: () => plain.close() })
  expect(await plain.callToolRaw('job.start', { job_id })).toMatchObject({ structuredContent: { job_id, status: 'queued' } })
})

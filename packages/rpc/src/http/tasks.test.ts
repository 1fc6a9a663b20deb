import type { JsonObject } from '@parley/protocol'
import { TASKS_CAPABILITY } from '@parley/task'
import { expect, test } from 'vitest'
import { readEvents } from '../fixture/event-reader.ts'
import { modern, openSession, post, postModern, rpc } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { connectClient } from '../client/client.ts'
import { webSocketTransport } from '../client/link/web-socket-transport.ts'
import type { Service } from '../service.ts'

/** The probe, whose `hold` says that it is held, in words. */
function heldProbe() {
  const probe = openProbe()
  const service: Service = {
    ...probe.service,
    capabilities: { ...probe.service.capabilities, ...TASKS_CAPABILITY },
    call: (method, params, call) => {
      if (params['name'] === 'hold' || params['name'] === 'ask') call.held('waits for a person')
      return probe.service.call(method, params, call)
    },
  }
  return { ...probe, service }
}

const CAPABILITIES: JsonObject = { ...TASKS_CAPABILITY, elicitation: {} }

async function startTask(mcp: string, name = 'hold'): Promise<JsonObject> {
  const { messages } = await postModern(mcp, 1, 'tools/call', { name, arguments: {} }, CAPABILITIES)
  return messages[0]?.['result'] as JsonObject
}
async function about(mcp: string, method: string, params: JsonObject, token = 'me'): Promise<JsonObject | undefined> {
  const { body, headers } = modern(2, method, params, CAPABILITIES)
  return (await post(mcp, body, { ...headers, authorization: `Bearer ${token}` })).messages[0]
}

test('a held call of a client that declares tasks is one at once, and outlives its request', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service)
  const { taskId, ...task } = await startTask(open.mcp)
  expect(task).toMatchObject({
    resultType: 'task',
    status: 'working',
    statusMessage: 'waits for a person',
    createdAt: expect.any(String),
    ttlMs: expect.any(Number),
    pollIntervalMs: expect.any(Number),
  })
  expect(await about(open.mcp, 'tasks/get', { taskId })).toMatchObject({
    result: { resultType: 'complete', taskId, status: 'working' },
  })
  probe.release()
  await expect
    .poll(() => about(open.mcp, 'tasks/get', { taskId }))
    .toMatchObject({
      result: { status: 'completed', result: { resultType: 'complete', content: [{ text: 'released' }] } },
    })
  expect(probe.cancelled).toEqual([])
})

test('a task that was made on a socket is found over HTTP when the socket is gone', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service)
  const client = await connectClient(webSocketTransport({ url: open.ws, token: 'me' }), {
    clientInfo: { name: 'test', version: '1' },
    era: 'modern',
    capabilities: CAPABILITIES,
  })
  const { taskId, resultType } = await client.request('tools/call', { name: 'hold', arguments: {} })
  expect(resultType).toBe('task')
  await client.close()
  await until(() => open.server.links() === 0)
  expect(await about(open.mcp, 'tasks/get', { taskId })).toMatchObject({ result: { status: 'working' } })
  probe.release()
  await expect.poll(() => about(open.mcp, 'tasks/get', { taskId })).toMatchObject({ result: { status: 'completed' } })
})

test('to another token a task does not exist, and nobody cancels or answers for its owner', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service)
  const { taskId } = await startTask(open.mcp)
  for (const [method, params] of [
    ['tasks/get', { taskId }],
    ['tasks/cancel', { taskId }],
    ['tasks/update', { taskId, inputResponses: {} }],
  ] as const)
    expect(await about(open.mcp, method, params, 'other')).toMatchObject({ error: { code: -32_602 } })
  expect(probe.cancelled).toEqual([])
  expect(await about(open.mcp, 'tasks/cancel', { taskId })).toMatchObject({ result: { resultType: 'complete' } })
  await until(() => probe.cancelled.length === 1)
  expect(await about(open.mcp, 'tasks/get', { taskId })).toMatchObject({ result: { status: 'cancelled' } })
})

test('a token that is cut off takes its tasks with it', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service)
  const { taskId } = await startTask(open.mcp)
  open.server.cut(({ key }) => key === 'Bearer me', 'revoked')
  expect(probe.cancelled).toEqual(['Error: revoked'])
  expect(await about(open.mcp, 'tasks/get', { taskId })).toMatchObject({ error: { code: -32_602 } })
})

test('a task asks its client, which answers with an update, and says how it stands to who listens', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service)
  const { taskId } = await startTask(open.mcp, 'ask')
  const { body, headers } = modern(
    'news',
    'subscriptions/listen',
    { notifications: { taskIds: [taskId ?? null, 'task_none'] } },
    CAPABILITIES,
  )
  const stream = await readEvents(open.mcp, { ...headers, authorization: 'Bearer me' }, body)
  await until(() => stream.events.length === 2)
  const name = { action: 'accept', content: { name: 'Ada' } }
  expect(await about(open.mcp, 'tasks/update', { taskId, inputResponses: { name } })).toMatchObject({
    result: { resultType: 'complete' },
  })
  await until(() => JSON.stringify(stream.events.at(-1)?.message).includes('completed'))
  const subscription = { 'io.modelcontextprotocol/subscriptionId': 'news' }
  const [acknowledged, first, ...later] = stream.events.map(({ message }) => message)
  expect(acknowledged).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { taskIds: [taskId] } },
  })
  expect(first).toMatchObject({
    method: 'notifications/tasks',
    params: { _meta: subscription, taskId, status: 'input_required', inputRequests: { name: { method: 'elicitation/create' } } },
  })
  expect(later.at(-1)).toMatchObject({
    method: 'notifications/tasks',
    params: { _meta: subscription, taskId, status: 'completed', result: { content: [{ text: expect.stringContaining('Ada') }] } },
  })
  stream.stop()
})

test('without the declaration, or at a server without tasks, there are none', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service)
  const undeclared = await postModern(open.mcp, 1, 'tasks/get', { taskId: 'task_x' })
  expect(undeclared).toMatchObject({
    status: 400,
    messages: [{ error: { code: -32_021, data: { requiredCapabilities: TASKS_CAPABILITY } } }],
  })
  const listening = await postModern(open.mcp, 1, 'subscriptions/listen', { notifications: { taskIds: ['task_x'] } })
  expect(listening.messages).toMatchObject([{ error: { code: -32_021 } }])
  const { reply } = await openSession(open.mcp)
  expect(reply.messages[0]).not.toHaveProperty('result.capabilities.extensions')
  const plain = openProbe()
  await using other = await openTestServer(plain.service)
  expect((await postModern(other.mcp, 1, 'tasks/get', { taskId: 'task_x' }, CAPABILITIES)).messages).toMatchObject([
    { error: { code: -32_601 } },
  ])
})

test('where there is no room for another task the call goes on as a call', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits: { tasksPerCaller: 1 } })
  await startTask(open.mcp)
  const second = startTask(open.mcp)
  await until(() => probe.holding() === 2)
  probe.release()
  probe.release()
  expect(await second).toMatchObject({ resultType: 'complete', content: [{ text: 'released' }] })
})

test.each(['legacy', 'modern'] as const)('a held call of a %s client is a stream at once and kept alive', async (era) => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits: { streamAfterMs: 600_000, keepAliveMs: 20, stillHeldMs: 20 } })
  const callOf = async (id: number, _meta: JsonObject) => {
    const params = { name: 'hold', arguments: {}, _meta }
    if (era === 'legacy') return { headers: (await openSession(open.mcp)).headers, body: rpc(id, 'tools/call', params) }
    const { body, headers } = modern(id, 'tools/call', params)
    const all = {
      ...(body['params'] as JsonObject),
      _meta: { ...((body['params'] as JsonObject)['_meta'] as JsonObject), ..._meta },
    }
    return { headers: { ...headers, authorization: 'Bearer me' }, body: { ...body, params: all } }
  }
  // Resolves with the headers, long before the call ends.
  const quiet = await callOf(1, {})
  const silent = await readEvents(open.mcp, quiet.headers, quiet.body)
  await until(() => silent.comments() >= 2)
  const asked = await callOf(2, { progressToken: 'p' })
  const stream = await readEvents(open.mcp, asked.headers, asked.body)
  const progress = () =>
    stream.events.flatMap(({ message }) =>
      message?.['method'] === 'notifications/progress' ? [message['params'] as JsonObject] : [],
    )
  await until(() => progress().length >= 3)
  expect(progress()[0]).toMatchObject({ progressToken: 'p', message: 'waits for a person' })
  const steps = progress().map((each) => Number(each['progress']))
  expect(steps).toEqual(steps.toSorted((left, right) => left - right))
  expect(new Set(steps).size).toBe(steps.length)
  expect(steps.at(-1)).toBeLessThan(1)
  probe.release()
  probe.release()
  await until(() => silent.ended() && stream.ended())
  for (const each of [silent, stream])
    expect(each.events.at(-1)?.message).toMatchObject({ result: { content: [{ text: 'released' }] } })
})

import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { readEvents } from '../fixture/event-reader.ts'
import type { Service } from '../service.ts'
import { modern, post, postModern, rpc } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'

const SERVER = { 'io.modelcontextprotocol/serverInfo': { name: 'probe', version: '1', role: 'user' } }

test('discover says what there is, and only modern versions', async () => {
  await using open = await openTestServer(openProbe().service)
  const { status, messages } = await postModern(open.mcp, 1, 'server/discover')
  expect(status).toBe(200)
  expect(messages).toMatchObject([
    {
      id: 1,
      result: { resultType: 'complete', supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private', _meta: SERVER },
    },
  ])
})

test('a call needs no session and its result says that it is complete', async () => {
  await using open = await openTestServer(openProbe().service)
  const { messages, headers } = await postModern(open.mcp, 'x', 'tools/call', { name: 'echo', arguments: { a: 1 } })
  expect(messages).toEqual([
    { jsonrpc: '2.0', id: 'x', result: { resultType: 'complete', content: [], structuredContent: { a: 1 }, _meta: SERVER } },
  ])
  expect(headers['mcp-session-id']).toBeUndefined()
})

const { body: good, headers: goodHeaders } = modern(1, 'tools/call', { name: 'echo' })
const REFUSED: readonly [string, unknown, Record<string, string>, number, number][] = [
  [
    'a header without the envelope',
    rpc(1, 'tools/list', {}),
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    400,
    -32602,
  ],
  ['initialize with a modern header', rpc(1, 'initialize', {}), { 'mcp-protocol-version': '2026-07-28' }, 400, -32020],
  ['no Mcp-Method', good, { ...goodHeaders, 'mcp-method': '' }, 400, -32020],
  ['another Mcp-Method', good, { ...goodHeaders, 'mcp-method': 'tools/list' }, 400, -32020],
  ['another Mcp-Name', good, { ...goodHeaders, 'mcp-name': 'other' }, 400, -32020],
  ['another version in the header', good, { ...goodHeaders, 'mcp-protocol-version': '2027-01-01' }, 400, -32020],
]
test.each(REFUSED)('%s is refused', async (_words, body, headers, status, code) => {
  await using open = await openTestServer(openProbe().service)
  const reply = await post(open.mcp, body, headers)
  expect(reply).toMatchObject({ status, messages: [{ id: 1, error: { code } }] })
})

test.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'nonsense'])(
  '%s does not exist in the modern era',
  async (method) => {
    await using open = await openTestServer(openProbe().service)
    expect(await postModern(open.mcp, 1, method)).toMatchObject({ status: 404, messages: [{ id: 1, error: { code: -32601 } }] })
  },
)

test('a missing resource is -32602 with its URI', async () => {
  await using open = await openTestServer(openProbe().service)
  const reply = await postModern(open.mcp, 1, 'resources/read', { uri: 'test://x' })
  expect(reply).toMatchObject({ status: 200, messages: [{ error: { code: -32602, data: { uri: 'test://x' } } }] })
})

test('a name that a header cannot carry comes as base64', async () => {
  await using open = await openTestServer(openProbe().service)
  const { body, headers } = modern(1, 'resources/read', { uri: 'test://süß' })
  const encoded = `=?base64?${Buffer.from('test://süß').toString('base64')}?=`
  expect((await post(open.mcp, body, { ...headers, 'mcp-name': encoded })).messages).toMatchObject([{ error: { code: -32602 } }])
  expect((await post(open.mcp, body, { ...headers, 'mcp-name': '=?base64?###?=' })).messages).toMatchObject([
    { error: { code: -32020 } },
  ])
})

test('a question is answered by sending the call again, with state that only we can read', async () => {
  await using open = await openTestServer(openProbe().service)
  const capabilities = { elicitation: {} }
  const [asked] = (await postModern(open.mcp, 1, 'tools/call', { name: 'ask' }, capabilities)).messages
  expect(asked).toMatchObject({
    result: { resultType: 'input_required', inputRequests: { name: { method: 'elicitation/create' } } },
  })
  const requestState = JSON.stringify(asked).match(/"requestState":"([^"]+)"/)?.[1] ?? ''
  expect(Buffer.from(requestState, 'base64url').toString()).not.toContain('step')
  const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } }
  const again = (more: Record<string, string>, token = 'Bearer me') => {
    const { body, headers } = modern(2, 'tools/call', { name: 'ask', inputResponses, requestState, ...more }, capabilities)
    return post(open.mcp, body, { ...headers, authorization: token })
  }
  expect((await again({})).messages).toMatchObject([
    { id: 2, result: { resultType: 'complete', content: [{ text: expect.stringContaining('"step":1') }] } },
  ])
  for (const reply of [
    await again({ requestState: `${requestState}A` }),
    await again({}, 'Bearer thief'),
    await again({ requestState: '' }),
  ]) {
    expect(reply.messages).toMatchObject([{ error: { code: -32602 } }])
  }
})

test('state that has expired is refused', async () => {
  await using open = await openTestServer(openProbe().service, { limits: { requestStateMs: -1 } })
  const [asked] = (await postModern(open.mcp, 1, 'tools/call', { name: 'ask' }, { elicitation: {} })).messages
  const requestState = JSON.stringify(asked).match(/"requestState":"([^"]+)"/)?.[1] ?? ''
  const reply = await postModern(open.mcp, 2, 'tools/call', { name: 'ask', requestState }, { elicitation: {} })
  expect(reply.messages).toMatchObject([{ error: { code: -32602, message: expect.stringContaining('expired') } }])
})

test('closing the stream cancels the call', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service, { limits: { streamAfterMs: 10 } })
  const { body, headers } = modern(1, 'tools/call', { name: 'hold' })
  const stream = await readEvents(open.mcp, { ...headers, authorization: 'Bearer me' }, body)
  stream.stop()
  await until(() => probe.cancelled.length === 1)
  expect(probe.cancelled).toEqual(['Error: the client closed the stream'])
})

test('a listener gets its acknowledgement first, then what it asked for, and a result when we go', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: ['test://a', 'test://forbidden'],
  }
  const { body, headers } = modern(5, 'subscriptions/listen', { notifications })
  const stream = await readEvents(open.mcp, { ...headers, authorization: 'Bearer me' }, body)
  await until(() => stream.events.length === 1)
  probe.change('test://a')
  probe.changeList('tools')
  probe.changeList('prompts')
  await until(() => stream.events.length === 3)
  await open.server.close(1000)
  await until(() => stream.ended())
  const tag = { 'io.modelcontextprotocol/subscriptionId': 5 }
  expect(stream.events.map(({ message }) => message)).toMatchObject([
    {
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: tag, notifications: { toolsListChanged: true, resourceSubscriptions: ['test://a'] } },
    },
    { method: 'notifications/resources/updated', params: { _meta: tag, uri: 'test://a' } },
    { method: 'notifications/tools/list_changed', params: { _meta: tag } },
    { id: 5, result: { resultType: 'complete', _meta: tag } },
  ])
  expect(probe.watchers()).toBe(0)
})

test('a listener that goes away leaves no subscription', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { body, headers } = modern(5, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['test://a'] } })
  const stream = await readEvents(open.mcp, { ...headers, authorization: 'Bearer me' }, body)
  await until(() => probe.watchers() === 1)
  stream.stop()
  await until(() => probe.watchers() === 0)
  expect(open.server.links()).toBe(0)
})

test('a key __proto__ among the answers is an answer, not a prototype with unchecked members', async () => {
  await using open = await openTestServer(openProbe().service)
  const inputResponses: JsonObject = JSON.parse('{"__proto__":{"name":7}}')
  const reply = await postModern(open.mcp, 1, 'tools/call', { name: 'ask', inputResponses }, { elicitation: {} })
  expect(reply.messages).toMatchObject([{ id: 1, result: { resultType: 'input_required' } }])
})

test.each([
  ['42', 200],
  ['42.0', 200],
  ['0x2a', 400],
  ['4.2e1', 400],
])('an argument 42 whose header says %s is %i: a router must read the number as we do', async (sent, status) => {
  const service = { ...openProbe().service, headerParams: () => [{ path: ['n'], header: 'N' }] }
  await using open = await openTestServer(service)
  const { body, headers } = modern(1, 'tools/call', { name: 'echo', arguments: { n: 42 } })
  expect((await post(open.mcp, body, { ...headers, 'mcp-param-n': sent })).status).toBe(status)
})

test('a client that leaves while a listen request is being opened leaves nothing behind', async () => {
  const probe = openProbe()
  const gates: (() => void)[] = []
  const watch: Service['watch'] = async (uri, changed, caller) => {
    const stop = await probe.service.watch?.(uri, changed, caller)
    await new Promise<void>((resolve) => gates.push(resolve))
    return stop ?? (() => undefined)
  }
  await using open = await openTestServer({ ...probe.service, watch }, { limits: { linksPerCaller: 1 } })
  const { body, headers } = modern(1, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['test://a'] } })
  const controller = new AbortController()
  const all = { ...headers, authorization: 'Bearer me', accept: 'application/json, text/event-stream' }
  const first = fetch(open.mcp, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { ...all, 'content-type': 'application/json' },
    signal: controller.signal,
  })
  await until(() => gates.length === 1)
  expect((await post(open.mcp, body, headers)).status).toBe(429)
  controller.abort()
  await expect(first).rejects.toThrow('abort')
  await until(() => open.server.links() === 0)
  gates[0]?.()
  await until(() => probe.watchers() === 0)
})

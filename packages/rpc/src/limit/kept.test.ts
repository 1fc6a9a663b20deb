import { expect, test } from 'vitest'
import { initializeParams, modern, openSession, post, postModern, rpc } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'

const MIB = 1024 * 1024

test('what a session keeps of its client is what is used, however much the client says about itself', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const large = 'x'.repeat(4_000)
  const capabilities = {
    roots: { listChanged: true, more: large },
    sampling: { tools: { more: large }, context: {} },
    elicitation: { form: { applyDefaults: true, more: [large] }, url: large },
    experimental: { [large]: {} },
    extensions: { a: large },
  }
  const clientInfo = { name: 'test', version: '1', title: 'Test', icons: [{ src: large }], [large]: 1 }
  for (let at = 0; at < 8; at += 1) {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo }
    expect((await post(open.mcp, rpc(at, 'initialize', params))).status).toBe(200)
  }
  const kept = {
    info: { name: 'test', version: '1', title: 'Test' },
    capabilities: {
      roots: { listChanged: true },
      sampling: { tools: {}, context: {} },
      elicitation: { form: { applyDefaults: true } },
      extensions: {},
    },
  }
  expect([...probe.links].map(({ client }) => client)).toEqual(Array.from({ length: 8 }, () => kept))
})

test.each(['name', 'version', 'title'])('a client whose %s is longer than anybody reads opens no session', async (field) => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const clientInfo = { name: 'test', version: '1', [field]: 'x'.repeat(1_025) }
  const reply = await post(open.mcp, rpc(1, 'initialize', { ...initializeParams(), clientInfo }))
  expect(reply.messages).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32602,
        message: `clientInfo.${field} must be at most 1024 characters`,
        data: { field: `clientInfo.${field}` },
      },
    },
  ])
  expect(probe.links.size).toBe(0)
})

test.each([
  ['resources/subscribe', 'uri', { uri: `test://${'x'.repeat(2_048)}` }],
  ['resources/read', 'uri', { uri: `test://${'x'.repeat(2_048)}` }],
  ['tools/call', 'name', { name: 'x'.repeat(1_025) }],
  ['tools/list', 'cursor', { cursor: 'x'.repeat(8_193) }],
  ['tools/call', '_meta.progressToken', { name: 'echo', _meta: { progressToken: 'x'.repeat(1_025) } }],
])('%s with a %s that is too long to be kept is refused, and nothing is kept', async (method, field, params) => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  const watchers = probe.watchers()
  const reply = await post(open.mcp, rpc(1, method, params), headers)
  expect(reply.messages).toMatchObject([{ id: 1, error: { code: -32602, data: { field } } }])
  expect(reply.text.length).toBeLessThan(300)
  expect(probe.watchers()).toBe(watchers)
})

test('a modern request is held to the same, and so is what it listens to', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const uri = `test://${'x'.repeat(2_048)}`
  const listened = await postModern(open.mcp, 1, 'subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } })
  expect(listened.messages).toMatchObject([{ id: 1, error: { code: -32602 } }])
  const called = modern(2, 'tools/call', { name: 'echo' })
  const { params } = called.body as { params: { _meta: object } }
  const body = { ...called.body, params: { ...params, _meta: { ...params._meta, progressToken: 'x'.repeat(1_025) } } }
  const reply = await post(open.mcp, body, called.headers)
  expect(reply.messages).toMatchObject([{ id: 2, error: { code: -32602, data: { field: '_meta.progressToken' } } }])
  expect(probe.watchers()).toBe(0)
})

test('whoever says something wrong at length is not told all of it again', async () => {
  await using open = await openTestServer(openProbe().service)
  const long = 'x'.repeat(MIB)
  const { body, headers } = modern(1, 'tools/call', { name: 'echo' })
  const version = {
    ...body,
    params: { _meta: { 'io.modelcontextprotocol/protocolVersion': long, 'io.modelcontextprotocol/clientCapabilities': {} } },
  }
  expect((await post(open.mcp, version, headers)).text.length).toBeLessThan(3_000)
  const answers = await postModern(open.mcp, 2, 'tools/call', { name: 'ask', inputResponses: { [long]: 1 } })
  expect(answers.messages).toMatchObject([{ id: 2, error: { code: -32602 } }])
  expect(answers.text.length).toBeLessThan(1_000)
})

test('why a client cancels is kept in its own words only where they are few', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  for (const reason of ['enough', 'x'.repeat(MIB)]) {
    const call = post(open.mcp, rpc(7, 'tools/call', { name: 'hold' }), headers)
    await until(() => probe.holding() > probe.cancelled.length)
    await post(open.mcp, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, reason } }, headers)
    await call
  }
  expect(probe.cancelled).toEqual(['CallCancelled: enough', 'CallCancelled: cancelled by the client'])
})

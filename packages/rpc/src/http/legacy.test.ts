import { expect, test } from 'vitest'
import { initializeParams, openSession, post, rpc, send } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { readEvents } from '../fixture/event-reader.ts'

const echo = (id: number) => rpc(id, 'tools/call', { name: 'echo', arguments: { id } })

test.each([
  ['2024-11-05', '2024-11-05'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  ['2026-07-28', '2025-11-25'],
  ['1999-01-01', '2025-11-25'],
  ['nonsense', '2025-11-25'],
])('a client that asks for %s gets %s', async (asked, given) => {
  await using open = await openTestServer(openProbe().service)
  const { messages } = await post(open.mcp, rpc(1, 'initialize', initializeParams(asked)))
  expect(messages).toMatchObject([{ id: 1, result: { protocolVersion: given, serverInfo: { name: 'probe', role: 'user' } } }])
})

test('a session serves calls, answers ping and ends with DELETE', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  expect((await post(open.mcp, echo(7), headers)).messages).toEqual([
    { jsonrpc: '2.0', id: 7, result: { content: [], structuredContent: { id: 7 } } },
  ])
  expect((await post(open.mcp, rpc('p', 'ping'), headers)).messages).toEqual([{ jsonrpc: '2.0', id: 'p', result: {} }])
  expect((await send(open.mcp, 'DELETE', null, headers)).status).toBe(200)
  expect((await post(open.mcp, echo(8), headers)).status).toBe(404)
  expect({ links: probe.links.size, watchers: probe.watchers() }).toEqual({ links: 0, watchers: 0 })
})

test("a session of another token does not exist, whatever one's own token", async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp)
  const foreign = { ...headers, authorization: 'Bearer somebody-else' }
  expect((await post(open.mcp, echo(1), foreign)).status).toBe(404)
  expect((await send(open.mcp, 'GET', null, foreign)).status).toBe(404)
  expect((await send(open.mcp, 'DELETE', null, foreign)).status).toBe(404)
  expect((await post(open.mcp, echo(1), headers)).status).toBe(200)
})

const REFUSED: readonly [string, unknown, Record<string, string>, number][] = [
  ['no token', echo(1), { authorization: '' }, 401],
  ['a bad token', echo(1), { authorization: 'Bearer bad' }, 401],
  ['no session', echo(1), {}, 400],
  ['an unknown session', echo(1), { 'mcp-session-id': 'nope' }, 404],
  ['a wrong media type', echo(1), { 'content-type': 'text/plain' }, 415],
  ['an Accept without events', echo(1), { accept: 'application/json' }, 406],
  ['what is not JSON', '{"jsonrpc":', {}, 400],
  ['what is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), {}, 400],
  ['an empty body', '', {}, 400],
  ['a bare number', '7', {}, 400],
  ['an empty batch', [], {}, 400],
  ['a foreign Origin', echo(1), { origin: 'http://evil.example' }, 403],
  ['a foreign Host', echo(1), { host: 'evil.example' }, 403],
  ['initialize within a session', rpc(1, 'initialize', initializeParams()), { 'mcp-session-id': 'x' }, 400],
]
test.each(REFUSED)('%s is refused with a clear error', async (_words, body, headers, status) => {
  await using open = await openTestServer(openProbe().service)
  const reply = await post(open.mcp, body, headers)
  expect(reply.status).toBe(status)
  expect(reply.messages).toMatchObject([{ error: { message: expect.stringMatching(/\w{3,}/) } }])
})

test('401 carries a challenge, and what is wrong with the token', async () => {
  await using open = await openTestServer(openProbe().service)
  const reply = await post(open.mcp, echo(1), { authorization: 'Bearer bad' })
  const fault = 'error="invalid_token", error_description="this token is not known"'
  expect(reply.headers['www-authenticate']).toBe(`Bearer realm="parley", ${fault}`)
  const missing = await post(open.mcp, echo(1), { authorization: '' })
  expect(missing.headers['www-authenticate']).toBe('Bearer realm="parley"')
  expect(reply.messages).toEqual([{ error: { code: 'unknown_token', message: 'this token is not known' } }])
})

test('a protocol version header may differ from the negotiated one, but must be one we know', async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp, '2025-11-25')
  expect((await post(open.mcp, echo(1), { ...headers, 'mcp-protocol-version': '2025-03-26' })).status).toBe(200)
  expect((await post(open.mcp, echo(1), { ...headers, 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
})

test('batches are served where the revision has them and refused elsewhere', async () => {
  await using open = await openTestServer(openProbe().service)
  const batch = [
    echo(1),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    rpc(2, 'nonsense'),
    { jsonrpc: '2.0', id: 3, method: 4 },
  ]
  const old = await openSession(open.mcp, '2025-03-26')
  const reply = await post(open.mcp, batch, old.headers)
  expect(
    reply.messages.map(({ id, error }) => `${JSON.stringify(id)} ${error === undefined}`).toSorted((a, b) => (a < b ? -1 : 1)),
  ).toEqual(['1 true', '2 false', '3 false'])
  expect((await post(open.mcp, [{ jsonrpc: '2.0', method: 'notifications/initialized' }], old.headers)).status).toBe(202)
  const current = await openSession(open.mcp, '2025-06-18')
  expect((await post(open.mcp, batch, current.headers)).status).toBe(400)
})

test('an unexpected failure of ours is an internal error without its details', async () => {
  const seen: unknown[] = []
  await using open = await openTestServer(openProbe().service, { observer: { failed: ({ error }) => seen.push(error) } })
  const { headers } = await openSession(open.mcp)
  const reply = await post(open.mcp, rpc(1, 'tools/call', { name: 'fail' }), headers)
  expect(reply.messages).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }])
  expect(seen).toHaveLength(1)
})

test('a missing resource is -32002 with its URI', async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp)
  const reply = await post(open.mcp, rpc(1, 'resources/read', { uri: 'test://x' }), headers)
  expect(reply.messages).toMatchObject([{ error: { code: -32002, data: { uri: 'test://x' } } }])
})

test('a cancelled request is not answered, and its handler learns of it', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  const pending = post(open.mcp, rpc(9, 'tools/call', { name: 'hold' }), headers)
  await until(() => probe.holding() === 1)
  await post(open.mcp, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9, reason: 'enough' } }, headers)
  expect(await pending).toMatchObject({ status: 200, text: '' })
  expect(probe.cancelled).toEqual(['CallCancelled: enough'])
})

test('a client that goes away has not cancelled: the call runs on', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  const reader = await readEvents(open.mcp, headers, rpc(9, 'tools/call', { name: 'count', arguments: { to: 1000 } }))
  reader.stop()
  expect(probe.cancelled).toEqual([])
  expect((await post(open.mcp, echo(1), headers)).status).toBe(200)
})

test('a question to the client goes on the stream of its call, and the answer completes it', async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp, '2025-06-18', { elicitation: {} })
  const stream = await readEvents(open.mcp, headers, rpc(1, 'tools/call', { name: 'ask' }))
  await until(() => stream.events.some(({ message }) => message?.['method'] === 'elicitation/create'))
  const id = stream.events.at(-1)?.message?.['id']
  expect(
    (await post(open.mcp, { jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ada' } } }, headers)).status,
  ).toBe(202)
  await until(() => stream.ended())
  expect(stream.events.at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: expect.stringContaining('Ada') }] } })
})

test('a client that cannot be asked is told which capability is missing', async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp)
  const reply = await post(open.mcp, rpc(1, 'tools/call', { name: 'ask' }), headers)
  expect(reply.messages).toMatchObject([
    { error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } } },
  ])
})

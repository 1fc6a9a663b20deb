import { expect, test } from 'vitest'
import { callTool, mint, openTestGateway, postJson, request } from './fixture/test-gateway.ts'
import { TestSession, TestSocket } from './fixture/wires.ts'

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

/** Reads a stream to its end; a stream that is never cut would time the test out. */
const ended = (response: Response): Promise<string> => response.text().catch(() => '')

test('fault 11: a revoked token loses its socket, its session, its streams and every later request', async () => {
  await using gw = await openTestGateway()
  const { token, id } = await mint(gw, { role: 'judge', name: 'j1' })
  const other = await mint(gw, { role: 'judge', name: 'j2' })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  const bystander = await TestSocket.open(gw.gateway.ws, other.token)
  const session = await TestSession.open(gw.gateway.url, token)
  const stream = await session.stream(token)
  const listen = await listening(gw.gateway.url, token)
  expect([stream.status, listen.status]).toEqual([200, 200])

  await gw.admin('token.revoke', { id })
  expect(await socket.closed).toMatchObject({ code: 1008, reason: 'revoked_token' })
  await Promise.all([ended(stream), ended(listen)])
  expect((await session.send(token, LIST)).status).toBe(401)
  expect((await request(gw.gateway.url, token, 'tools/list')).body.error?.code).toBe('revoked_token')
  expect((await bystander.call('tools/list')).result).toBeDefined()
  bystander.socket.close()
  expect(gw.logged.filter((line) => line.includes('connections cut'))).toHaveLength(1)
})

test('a socket that does not answer the closing handshake is not served any more', async () => {
  await using gw = await openTestGateway()
  const { token, id } = await mint(gw, { role: 'judge', name: 'j1' })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  expect((await socket.call('tools/list')).result).toBeDefined()
  socket.socket.pause()
  await gw.admin('token.revoke', { id })
  await until(() => gw.logged.some((line) => line.includes('connections cut')))
  socket.socket.send(JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'tools/call', params: { name: 'account.get' } }))
  socket.socket.resume()
  await socket.closed
  expect(socket.messages.filter((message) => 'id' in message && message.id === 99)).toEqual([])
})

test('an expired token loses its connections', async () => {
  await using gw = await openTestGateway()
  const { token } = await mint(gw, { role: 'judge', name: 'brief', ttl_seconds: 2 })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  const session = await TestSession.open(gw.gateway.url, token)
  const stream = await session.stream(token)
  const listen = await listening(gw.gateway.url, token)
  expect((await socket.call('tools/list')).result).toBeDefined()
  expect(await socket.closed).toMatchObject({ code: 1008, reason: 'expired_token' })
  await Promise.all([ended(stream), ended(listen)])
  expect((await request(gw.gateway.url, token, 'tools/list')).body.error?.code).toBe('expired_token')
})

test('signing out ends that sign-in alone', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  const first = await signIn(gw, 'ada')
  const second = await signIn(gw, 'ada')
  const socket = await TestSocket.open(gw.gateway.ws, first)
  const kept = await TestSocket.open(gw.gateway.ws, second)
  const response = await postJson(`${gw.gateway.url}/api/auth/logout`, {}, { authorization: `Bearer ${first}` })
  expect(response.status).toBe(200)
  expect(await socket.closed).toMatchObject({ reason: 'revoked_token' })
  expect((await request(gw.gateway.url, first, 'tools/list')).body.error?.code).toBe('revoked_token')
  expect((await kept.call('tools/list')).result).toBeDefined()
  kept.socket.close()
})

test('disabling an account ends its sign-ins and tokens; enabling brings none of them back', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  const jwt = await signIn(gw, 'ada')
  const { token } = await mint(gw, { role: 'user', username: 'ada' })
  const sockets = [await TestSocket.open(gw.gateway.ws, jwt), await TestSocket.open(gw.gateway.ws, token)]
  await gw.admin('user.disable', { username: 'ada' })
  for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 1008 })
  await gw.admin('user.enable', { username: 'ada' })
  for (const text of [jwt, token])
    expect((await request(gw.gateway.url, text, 'tools/list')).body.error?.code).toBe('revoked_token')
})

test("setting one's password ends every sign-in, this one too, and personal tokens unless they are to be kept", async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada', password: 'the first password' })
  const jwt = await signIn(gw, 'ada')
  const { token } = await mint(gw, { role: 'user', username: 'ada' })
  const wrong = await callTool(gw.gateway.url, jwt, 'account.passwd', {
    current_password: 'a guess',
    new_password: 'the second password',
  })
  expect(wrong).toMatchObject({
    isError: true,
    _meta: { 'parley/error': { code: 'invalid_argument', field: 'current_password' } },
  })
  const right = await callTool(gw.gateway.url, jwt, 'account.passwd', {
    current_password: 'the first password',
    new_password: 'the second password',
    keep_tokens: true,
  })
  expect(right.isError).toBeUndefined()
  await until(async () => (await request(gw.gateway.url, jwt, 'tools/list')).status === 401)
  expect((await request(gw.gateway.url, token, 'tools/list')).status).toBe(200)
  const socket = await TestSocket.open(gw.gateway.ws, token)
  const { structuredContent } = await gw.admin('user.link', { username: 'ada' })
  await callTool(gw.gateway.url, token, 'account.passwd', {
    current_password: 'the second password',
    new_password: 'the third password',
  })
  expect(await socket.closed).toMatchObject({ code: 1008, reason: 'revoked_token' })
  expect((await request(gw.gateway.url, token, 'tools/list')).body.error?.code).toBe('revoked_token')
  const link = String(structuredContent?.['url'])
  expect((await postJson(`${gw.gateway.url}/api/auth/link`, { token: link.slice(link.indexOf('=') + 1) })).status).toBe(401)
})

test("an admin who sets somebody's password ends that person's tokens unless they are to be kept", async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  const { token } = await mint(gw, { role: 'user', username: 'ada' })
  await gw.admin('user.passwd', { username: 'ada', password: 'the first password', keep_tokens: true })
  expect((await request(gw.gateway.url, token, 'tools/list')).status).toBe(200)
  await gw.admin('user.passwd', { username: 'ada', password: 'the second password' })
  await until(async () => (await request(gw.gateway.url, token, 'tools/list')).status === 401)
})

test('a change of the account reaches whoever subscribed to it, in both eras', async () => {
  await using gw = await openTestGateway()
  const socket = await TestSocket.open(gw.gateway.ws, gw.adminToken)
  const init = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  await socket.call('initialize', init)
  await socket.call('resources/subscribe', { uri: 'resource://tokens/list' })
  const listen = await listening(gw.gateway.url, gw.adminToken, ['resource://users/list', 'resource://no/such'])
  const events = listen.body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  let text = ''
  const read = async (part: string) => {
    while (!text.includes(part)) text += (await events?.next())?.value ?? ''
  }
  await read('acknowledged')
  expect(text).toContain('"resourceSubscriptions":["resource://users/list"]')
  await gw.admin('user.add', { username: 'ada' })
  await read('notifications/resources/updated')
  await mint(gw, { role: 'judge', name: 'j1' })
  await until(() =>
    socket.messages.some((message) => JSON.stringify(message).includes('resource://tokens/list') && 'method' in message),
  )
  const { result } = await socket.call('resources/read', { uri: 'resource://tokens/list' })
  expect(JSON.stringify(result)).toContain('j1')
  socket.socket.close()
  await events?.return?.()
})

async function signIn(gw: Awaited<ReturnType<typeof openTestGateway>>, username: string): Promise<string> {
  const { structuredContent } = await gw.admin('user.link', { username })
  const url = String(structuredContent?.['url'])
  const response = await postJson(`${gw.gateway.url}/api/auth/link`, { token: url.slice(url.indexOf('=') + 1) })
  return ((await response.json()) as { access_token: string }).access_token
}

function listening(url: string, token: string, uris = ['resource://account']): Promise<Response> {
  return postJson(
    `${url}/mcp`,
    {
      jsonrpc: '2.0',
      id: 5,
      method: 'subscriptions/listen',
      params: {
        notifications: { resourceSubscriptions: uris },
        _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
      },
    },
    {
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
  )
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 10))
}

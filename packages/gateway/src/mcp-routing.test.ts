import { randomBytes } from 'node:crypto'
import type { Service } from '@parley/rpc'
import { expect, test } from 'vitest'
import { SignJWT } from 'jose'
import { type RpcReply, type TestGateway, callTool, listIn, mint, openTestGateway, request } from './fixture/test-gateway.ts'
import { TestHost } from './fixture/test-host.ts'
import { TestSession, TestSocket, refusedUpgrade } from './fixture/wires.ts'
import { deriveKeys } from './keys.ts'

const AGENT_TOOLS = [
  'agent.abort',
  'agent.create',
  'agent.delete',
  'agent.fork',
  'agent.get',
  'agent.list',
  'agent.prompt',
  'agent.prompts',
  'agent.read_log',
  'agent.run',
  'agent.token',
  'agent.update',
  'agent.wait',
  'approval.decide',
  'approval.decide_many',
  'approval.get',
  'approval.list',
  'approval.resolve',
]
const CHAT_TOOLS = ['chat.mark_read', 'chat.post', 'chat.read_since']
const POLICY_TOOLS = [
  'policy.activate',
  'policy.disallow',
  'policy.get',
  'policy.history',
  'policy.list_proposals',
  'policy.propose',
  'policy.replay',
  'policy.retire',
  'policy.set',
  'policy.test',
]
const MOUNT_TOOLS = ['mount.attach', 'mount.detach', 'mount.list', 'mount.sign_in']
const BLOB_TOOLS = ['blob.abort', 'blob.begin', 'blob.commit', 'blob.write']
const JOB_TOOLS = [
  'job.cancel',
  'job.create',
  'job.delete',
  'job.get_artifacts',
  'job.get_input',
  'job.get_state',
  'job.get_test_preview',
  'job.get_tests',
  'job.list',
  'job.read_input',
  'job.read_log',
  'job.retry',
  'job.start',
  'job.subscribe',
  'job.unsubscribe',
  'job.wait',
]
const USAGE_TOOLS = ['usage.events', 'usage.summary']
/** An agent finds its compositor instead. */
const TOOLS_BY_ROLE = {
  admin: [
    'account.get',
    'account.passwd',
    ...AGENT_TOOLS,
    'audit.export',
    'audit.search',
    'audit.verify',
    ...BLOB_TOOLS,
    'channel.delete',
    'channel.list',
    'channel.models',
    'channel.set',
    ...CHAT_TOOLS,
    'executor.drain',
    'executor.list',
    'grant.list',
    'grant.set',
    'host.drain',
    'host.list',
    ...JOB_TOOLS,
    'judge.drain',
    'judge.list',
    'models.list',
    ...MOUNT_TOOLS,
    ...POLICY_TOOLS,
    'pricing.delete',
    'pricing.list',
    'pricing.set',
    'token.create',
    'token.list',
    'token.revoke',
    ...USAGE_TOOLS,
    'user.add',
    'user.delete',
    'user.demote',
    'user.disable',
    'user.enable',
    'user.link',
    'user.list',
    'user.passwd',
    'user.promote',
    'user.set_identity',
    'user.set_quota',
  ],
  user: [
    'account.get',
    'account.passwd',
    ...AGENT_TOOLS,
    'audit.verify',
    ...BLOB_TOOLS,
    ...CHAT_TOOLS,
    ...JOB_TOOLS,
    'models.list',
    ...MOUNT_TOOLS,
    ...POLICY_TOOLS,
    ...USAGE_TOOLS,
  ],
  judge: [
    'account.get',
    'judge.claim_next',
    'judge.heartbeat',
    'judge.input.list',
    'judge.input.read_chunk',
    'judge.job.append_agent_status',
    'judge.job.append_case',
    'judge.job.append_terminal',
    'judge.job.append_transcript',
    'judge.job.get_state',
    'judge.job.patch_state',
    'judge.job.put_artifacts',
    'judge.job.read_transcript',
    'judge.prepare_generate',
    'judge.release_claim',
    'judge.usage.ingest',
  ],
  host: [
    'account.get',
    'host.agent_get',
    'host.agent_listen',
    'host.agent_report',
    'host.agents_known',
    'host.append_calls',
    'host.append_transcript',
    'host.approval_step',
    'host.approvals',
    'host.ask',
    'host.call_begin',
    'host.call_end',
    'host.call_get',
    'host.calls',
    'host.chat_post',
    'host.chat_read',
    'host.claim_next',
    'host.end_prompt',
    'host.mount_renewed',
    'host.news',
    'host.next_prompt',
    'host.policy',
    'host.prepare_turn',
    'host.propose',
    'host.read_transcript',
    'host.release',
    'host.renew',
    'host.tell_news',
    'host.withdraw',
    'host.yield',
    'worker.heartbeat',
  ],
  executor: ['account.get', 'worker.heartbeat'],
}

test('each role sees its own tools and resources, in one order, and its role in the server info', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  const tokens = {
    admin: gw.adminToken,
    user: (await mint(gw, { role: 'user', username: 'ada' })).token,
    judge: (await mint(gw, { role: 'judge', name: 'j1' })).token,
    host: (await mint(gw, { role: 'host', name: 'h1' })).token,
    executor: (await mint(gw, { role: 'executor', name: 'e1' })).token,
  }
  const seen: Record<string, unknown> = {}
  for (const [role, token] of Object.entries(tokens)) {
    const { body } = await request(gw.gateway.url, token, 'tools/list')
    seen[role] = listIn<{ name: string }>(body.result, 'tools').map(({ name }) => name)
  }
  expect(seen).toEqual(TOOLS_BY_ROLE)

  const infos: Record<string, unknown> = {}
  for (const [role, token] of Object.entries(tokens)) {
    const socket = await TestSocket.open(gw.gateway.ws, token)
    const { result } = await socket.call('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    })
    infos[role] = result?.['serverInfo']
    socket.socket.close()
  }
  expect(infos).toEqual({
    admin: { name: 'parley', version: '0.0.0-test', role: 'user', admin: true },
    user: { name: 'parley', version: '0.0.0-test', role: 'user' },
    judge: { name: 'parley', version: '0.0.0-test', role: 'judge' },
    host: { name: 'parley', version: '0.0.0-test', role: 'host' },
    executor: { name: 'parley', version: '0.0.0-test', role: 'executor' },
  })

  const discovered = await request(gw.gateway.url, tokens.judge, 'server/discover')
  expect(discovered.body.result?.['_meta']).toMatchObject({ 'io.modelcontextprotocol/serverInfo': { role: 'judge' } })
  const listed = await request(gw.gateway.url, tokens.judge, 'resources/list')
  expect(listIn<{ uri: string }>(listed.body.result, 'resources').map(({ uri }) => uri)).toEqual(['resource://account'])
})

/** A compositor’s stand-in: says which tool reached it. */
const COMPOSITOR: Service = {
  info: { name: 'stand-in', version: '1' },
  capabilities: { tools: {}, resources: {} },
  call: async (method, params) => {
    if (method === 'tools/list') return { tools: [{ name: 'files_read', inputSchema: { type: 'object' } }] }
    if (method === 'resources/list') return { resources: [] }
    return { content: [{ type: 'text', text: `the compositor heard ${JSON.stringify(params['name'])}` }] }
  },
}
/** One tool of each kind of caller. */
const ONE_OF_EACH = ['user.add', 'agent.create', 'judge.claim_next', 'host.claim_next', 'worker.heartbeat', 'files_read']

async function ask(gw: TestGateway, path: string, token: string, [method, params = {}]: [string, object?]): Promise<RpcReply> {
  if (path === '/mcp') return (await request(gw.gateway.url, token, method, params)).body
  const opened = await TestSocket.open(gw.gateway.ws, token)
  const reply = await opened.call(method, params)
  opened.socket.close()
  return reply
}

test.for(['/mcp', '/api/mcp/ws'])(
  'fault 10: at %s a token finds the tools of its role and no others, and an agent’s its compositor',
  async (path) => {
    await using gw = await openTestGateway()
    await using host = await TestHost.open(gw, 'of-agents')
    host.serve = () => COMPOSITOR
    await gw.admin('user.add', { username: 'ada' })
    const { agent_id } = (await gw.admin('agent.create')).structuredContent ?? {}
    const tokens = {
      admin: gw.adminToken,
      user: (await mint(gw, { role: 'user', username: 'ada' })).token,
      judge: (await mint(gw, { role: 'judge', name: 'j1' })).token,
      host: host.token,
      executor: (await mint(gw, { role: 'executor', name: 'e1' })).token,
      agent: String((await gw.admin('agent.token', { agent_id })).structuredContent?.['token']),
    }
    const held = host.claim()
    for (const [role, token] of Object.entries(tokens)) {
      const own: readonly string[] = role === 'agent' ? ['files_read'] : TOOLS_BY_ROLE[role as keyof typeof TOOLS_BY_ROLE]
      const { result } = await ask(gw, path, token, ['tools/list'])
      expect({ role, tools: listIn<{ name: string }>(result, 'tools').map(({ name }) => name) }).toEqual({ role, tools: own })
      for (const name of ONE_OF_EACH.filter((each) => !own.includes(each))) {
        const reply = await ask(gw, path, token, ['tools/call', { name, arguments: {} }])
        if (role === 'agent') expect(reply.result).toMatchObject({ content: [{ text: `the compositor heard "${name}"` }] })
        else expect({ role, name, error: reply.error }).toMatchObject({ role, error: { message: `unknown tool: ${name}` } })
      }
    }
    await held
    expect(listIn((await gw.admin('agent.list')).structuredContent, 'items')).toHaveLength(1)
  },
)

test("another role's tool and resource are as unknown as one that does not exist", async () => {
  await using gw = await openTestGateway()
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  const foreign = await request(gw.gateway.url, token, 'tools/call', {
    name: 'token.create',
    arguments: { role: 'judge', name: 'x' },
  })
  expect(foreign.body.error).toMatchObject({ code: -32602, message: 'unknown tool: token.create' })
  const missing = await request(gw.gateway.url, token, 'tools/call', { name: 'no.such', arguments: {} })
  expect(missing.body.error).toMatchObject({ code: -32602, message: 'unknown tool: no.such' })

  const read = await request(gw.gateway.url, token, 'resources/read', { uri: 'resource://users/list' })
  expect(read.body.error).toMatchObject({ code: -32602, data: { uri: 'resource://users/list' } })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  expect((await socket.call('resources/read', { uri: 'resource://users/list' })).error).toMatchObject({ code: -32002 })
  expect((await socket.call('resources/subscribe', { uri: 'resource://users/list' })).error?.code).toBe(-32002)
  expect((await socket.call('prompts/list')).error?.code).toBe(-32601)
  socket.socket.close()

  const { structuredContent } = await gw.admin('audit.search', { action: 'tools/call', outcome: 'denied' })
  expect(structuredContent?.['items']).toMatchObject([
    { actor: 'j1', role: 'judge', target: 'no.such', code: 'unknown_tool' },
    { actor: 'j1', role: 'judge', target: 'token.create', code: 'unknown_tool' },
  ])
})

test('a 401 says what is wrong with the token, and asks for one', async () => {
  await using gw = await openTestGateway()
  const revoked = await mint(gw, { role: 'judge', name: 'gone' })
  await gw.admin('token.revoke', { id: revoked.id })
  const jwt = (key: Uint8Array, expires: number) =>
    new SignJWT()
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('parley')
      .setAudience('parley')
      .setSubject(`usr_${'0'.repeat(26)}`)
      .setJti('x')
      .setExpirationTime(expires)
      .sign(key)
  const key = deriveKeys(new Uint8Array(32).fill(7)).jwt
  const cases: [header: string | undefined, code: string][] = [
    [undefined, 'missing_authorization'],
    ['Basic YTpi', 'malformed_authorization'],
    ['Bearer', 'malformed_authorization'],
    ['Bearer a b', 'malformed_authorization'],
    ['Bearer nonsense', 'unknown_token'],
    [`Bearer jdg_${randomBytes(32).toString('base64url')}`, 'unknown_token'],
    [`Bearer ${revoked.token}`, 'revoked_token'],
    [`Bearer ${await jwt(key, 1)}`, 'expired_token'],
    [`Bearer ${await jwt(randomBytes(32), 1)}`, 'unknown_token'],
    [`Bearer ${await jwt(key, 4e9)}`, 'unknown_token'],
    ['Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.', 'unknown_token'],
  ]
  for (const [authorization, code] of cases) {
    const response = await fetch(gw.gateway.mcp, {
      method: 'POST',
      headers: authorization === undefined ? {} : { authorization },
      body: '{}',
    })
    expect({ authorization, status: response.status, body: await response.json() }).toMatchObject({
      status: 401,
      body: { error: { code } },
    })
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
  }
  expect(await refusedUpgrade(gw.gateway.ws, undefined)).toMatchObject({
    status: 401,
    body: { error: { code: 'missing_authorization' } },
  })
  expect(await refusedUpgrade(gw.gateway.ws, revoked.token, 'query')).toMatchObject({
    status: 401,
    body: { error: { code: 'revoked_token' } },
  })
})

test('fault 11: a session of one token is not there for another, not even of the same user', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  const first = await mint(gw, { role: 'user', username: 'ada' })
  const second = await mint(gw, { role: 'user', username: 'ada' })
  const session = await TestSession.open(gw.gateway.url, first.token)
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  expect((await session.send(first.token, list)).status).toBe(200)
  expect((await session.send(second.token, list)).status).toBe(404)
  expect((await session.stream(second.token)).status).toBe(404)
})

test('the WebSocket takes a token from the header, the query and the subprotocols; the query can be switched off', async () => {
  await using gw = await openTestGateway()
  const judge = await mint(gw, { role: 'judge', name: 'j1' })
  for (const token of [judge.token, gw.adminToken])
    for (const placement of ['header', 'query', 'subprotocol'] as const) {
      const socket = await TestSocket.open(gw.gateway.ws, token, placement)
      expect(socket.socket.protocol).toBe(placement === 'subprotocol' ? 'mcp' : '')
      expect((await socket.call('tools/call', { name: 'account.get' })).result).toMatchObject({
        structuredContent: { role: token === judge.token ? 'judge' : 'user' },
      })
      socket.socket.close()
    }
  const { ws } = await gw.restart({ queryToken: false })
  expect(await refusedUpgrade(ws, judge.token, 'query')).toMatchObject({
    status: 401,
    body: { error: { code: 'missing_authorization' } },
  })
})

test('the fixed judge token makes a judge, and a short or unusable one is refused', async () => {
  const judgeToken = 'fixed-judge-token-of-32-characters-or-more'
  await using gw = await openTestGateway({ judgeToken })
  expect((await callTool(gw.gateway.url, judgeToken, 'account.get')).structuredContent).toEqual({
    role: 'judge',
    admin: false,
    user_id: null,
    username: null,
    name: 'judge',
    token_id: null,
    scopes: null,
    expires_at: null,
  })
  await expect(gw.restart({ judgeToken: 'short' })).rejects.toMatchObject({ code: 'judge_token_invalid' })
  await expect(gw.restart({ judgeToken: 'with spaces and more than 32 characters!' })).rejects.toMatchObject({
    code: 'judge_token_invalid',
  })
  await expect(gw.restart({ executorToken: 'short' })).rejects.toMatchObject({ code: 'executor_token_invalid' })
  await expect(gw.restart({ judgeToken, hostToken: judgeToken })).rejects.toMatchObject({
    code: 'host_token_invalid',
    message: 'PARLEY_HOST_TOKEN must differ from those of the other workers',
  })
  const executorToken = 'fixed-executor-token-of-32-characters'
  const { url } = await gw.restart({ judgeToken, executorToken })
  expect((await callTool(url, executorToken, 'account.get')).structuredContent).toMatchObject({
    role: 'executor',
    name: 'executor',
  })
})

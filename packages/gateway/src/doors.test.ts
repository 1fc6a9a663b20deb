import { type Socket, connect } from 'node:net'
import { expect, test } from 'vitest'
import { until } from './fixture/job-socket.ts'
import { ModelBench } from './fixture/model-bench.ts'
import { type TestGateway, callTool, listIn, mint, openTestGateway, postJson, request } from './fixture/test-gateway.ts'
import { addUser } from './fixture/test-job.ts'
import { TestJudge, addJob } from './fixture/test-judge.ts'
import { TestSession, TestSocket, refusedUpgrade } from './fixture/wires.ts'

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }

/** A POST whose body the test sends later. */
class LatePost {
  readonly #socket: Socket
  readonly #body: string
  text = ''

  constructor(url: string, path: string, token: string, body: object, headers: Record<string, string> = {}) {
    this.#body = JSON.stringify(body)
    const { port, host } = new URL(url)
    const all = {
      host,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(this.#body)),
      ...headers,
    }
    this.#socket = connect(Number(port), '127.0.0.1')
    this.#socket.on('data', (chunk: Buffer) => void (this.text += chunk.toString()))
    this.#socket.on('error', () => undefined)
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${this.#body.slice(0, 1)}`)
  }

  async finish(): Promise<string> {
    this.#socket.write(this.#body.slice(1))
    await until(() => this.text.includes('\r\n\r\n'))
    this.#socket.destroy()
    return this.text
  }
}

/** `token.create` as an admin's call whose body is late, once the gateway has read its headers and let it in. */
async function lateMint(gw: TestGateway, token: string): Promise<LatePost> {
  const params = { name: 'token.create', arguments: { role: 'judge', name: 'stolen' }, _meta: META }
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'token.create',
  }
  const post = new LatePost(gw.gateway.url, '/mcp', token, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
  // One that comes after it is answered after it was let in: both wait for the same look at the store, or for none.
  expect((await request(gw.gateway.url, token, 'tools/list')).status).toBe(200)
  expect((await request(gw.gateway.url, token, 'tools/list')).status).toBe(200)
  return post
}

const judgeTokens = async (gw: TestGateway): Promise<string[]> =>
  listIn<{ name: string }>((await gw.admin('token.list')).structuredContent, 'items').map(({ name }) => name)

test.each([
  ['its token is revoked', (gw: TestGateway, id: string) => gw.admin('token.revoke', { id })],
  ['its user is disabled', (gw: TestGateway) => gw.admin('user.disable', { username: 'eve' })],
  ['its user is deleted', (gw: TestGateway) => gw.admin('user.delete', { username: 'eve' })],
  ['its user is no admin any more', (gw: TestGateway) => gw.admin('user.demote', { username: 'eve' })],
  ['its user gets a new password', (gw: TestGateway) => gw.admin('user.passwd', { username: 'eve', password: 'a new password' })],
])('a call whose body comes after %s is a 401, and nothing is done', async (_what, end) => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'eve', admin: true })
  const { token, id } = await mint(gw, { role: 'user', username: 'eve' })
  const post = await lateMint(gw, token)
  expect((await end(gw, id)).isError).toBeUndefined()
  expect(await post.finish()).toMatch(/^HTTP\/1.1 401 /)
  expect(await judgeTokens(gw)).not.toContain('stolen')
})

test('a request for a model whose body comes after its job was cancelled does not reach the upstream', async () => {
  await using bench = await ModelBench.open()
  const { api_key: key, model } = bench.prepared
  const post = new LatePost(bench.gw.gateway.url, bench.path, key, { model, input: 'hello', stream: true })
  expect((await bench.ask({}, { path: '/v1/no-such' })).status).toBe(404)
  await bench.gw.admin('job.cancel', { job_id: bench.jobId })
  expect(await post.finish()).toMatch(/^HTTP\/1.1 401 /)
  expect(bench.upstream.requests).toHaveLength(0)
})

test('one account with many tokens and sign-ins does not lock out others, an admin or a judge', async () => {
  const wire = { linksPerCaller: 4, links: 8, linksKept: 3 }
  await using gw = await openTestGateway({ limits: { wire } })
  await gw.admin('user.add', { username: 'eve', password: 'a long password' })
  const tokens: string[] = []
  for (let index = 0; index < 8; index += 1) {
    const signedIn = await postJson(`${gw.gateway.url}/api/auth/login`, { username: 'eve', password: 'a long password' })
    tokens.push(((await signedIn.json()) as { access_token: string }).access_token)
  }
  for (const token of tokens) await TestSession.open(gw.gateway.url, token).catch(() => undefined)
  expect(gw.gateway.sessions()).toBe(4)
  expect((await refusedUpgrade(gw.gateway.ws, tokens[7])).status).toBe(429)
  const bob = await addUser(gw, 'bob')
  const judge = await mint(gw, { role: 'judge', name: 'j1' })
  const sockets = []
  for (const token of [bob.token, gw.adminToken, judge.token]) sockets.push(await TestSocket.open(gw.gateway.ws, token))
  for (const { socket } of sockets) socket.close()
})

test('calls of all tokens of one person are paid from one purse', async () => {
  await using gw = await openTestGateway({ limits: { calls: { perSecond: 0.001, burst: 6 } } })
  const eve = await addUser(gw, 'eve')
  const second = await mint(gw, { role: 'user', username: 'eve' })
  for (const token of [eve.token, second.token, eve.token, second.token, eve.token, second.token])
    expect((await request(gw.gateway.url, token, 'tools/list')).status).toBe(200)
  for (const token of [eve.token, second.token]) expect((await request(gw.gateway.url, token, 'tools/list')).status).toBe(429)
})

test('what somebody reads or watches as a resource is in the audit log, and what they tried to', async () => {
  await using gw = await openTestGateway()
  const [ada, eve] = [await addUser(gw, 'ada'), await addUser(gw, 'eve')]
  const id = await addJob(gw.store, { ownerId: ada.id })
  const uri = `resource://jobs/${id}/state`
  const { url } = gw.gateway
  expect((await request(url, ada.token, 'resources/read', { uri })).body.result).toBeDefined()
  expect((await request(url, gw.adminToken, 'resources/read', { uri })).body.result).toBeDefined()
  expect((await request(url, eve.token, 'resources/read', { uri })).body.error).toBeDefined()
  expect((await request(url, eve.token, 'resources/read', { uri: 'resource://no/such' })).body.error).toBeDefined()
  const socket = await TestSocket.open(gw.gateway.ws, gw.adminToken)
  expect((await socket.call('resources/subscribe', { uri })).result).toEqual({})
  socket.socket.close()
  const found = async (action: string) => {
    const { structuredContent } = await gw.admin('audit.search', { action })
    const lines = listIn<Record<string, unknown>>(structuredContent, 'items').toReversed()
    return lines.map(({ actor, target, outcome, code }) => [actor, target, outcome, code])
  }
  expect(await found('resources/read')).toEqual([
    ['ada', uri, 'ok', null],
    ['admin', uri, 'ok', null],
    ['eve', uri, 'denied', 'not_found'],
    ['eve', 'resource://no/such', 'denied', 'not_found'],
  ])
  expect(await found('resources/subscribe')).toEqual([['admin', uri, 'ok', null]])
})

test('subscribing and pinging are paid like any call', async () => {
  await using gw = await openTestGateway({ limits: { calls: { perSecond: 0.001, burst: 3 } } })
  const eve = await addUser(gw, 'eve')
  const socket = await TestSocket.open(gw.gateway.ws, eve.token)
  const uri = 'resource://account'
  expect((await socket.call('ping')).result).toEqual({})
  expect((await socket.call('resources/subscribe', { uri })).result).toEqual({})
  expect((await socket.call('resources/unsubscribe', { uri })).result).toEqual({})
  expect((await socket.call('resources/subscribe', { uri })).error?.code).toBe(-32970)
  socket.socket.terminate()
  expect((await request(gw.gateway.url, eve.token, 'tools/list')).status).toBe(429)
})

test('jobs of a person who is disabled are cancelled with that reason, and the judge of one is told', async () => {
  await using gw = await openTestGateway()
  const ada = await addUser(gw, 'ada')
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  const running = await addJob(gw.store, { ownerId: ada.id })
  const judge = await TestJudge.open(gw.gateway.ws, token)
  await judge.claim()
  const queued = await addJob(gw.store, { ownerId: ada.id })
  expect((await gw.admin('user.disable', { username: 'ada' })).structuredContent).toMatchObject({ cancelled_jobs: 2 })
  for (const job_id of [running, queued])
    expect((await callTool(gw.gateway.url, gw.adminToken, 'job.get_state', { job_id })).structuredContent).toMatchObject({
      status: 'cancelled',
      error: { code: 'owner_disabled' },
    })
  expect(await judge.told('judge_control')).toMatchObject({ job_id: running, action: 'cancel' })
  judge.close()
})

test('a 401 names the realm at every door, and what is wrong with a token only to who holds one', async () => {
  await using gw = await openTestGateway()
  const { token, id } = await mint(gw, { role: 'judge', name: 'j1' })
  await gw.admin('token.revoke', { id })
  const challenge = async (path: string, authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization }
    const response = await fetch(`${gw.gateway.url}${path}`, { headers: { accept: 'text/event-stream', ...headers } })
    return `${response.status} ${response.headers.get('www-authenticate')}`
  }
  for (const path of ['/mcp', '/api/auth/me', '/v1/models']) expect(await challenge(path)).toBe('401 Bearer realm="parley"')
  const wrong = (words: string) => `401 Bearer realm="parley", error="invalid_token", error_description="${words}"`
  for (const path of ['/mcp', '/api/auth/me']) {
    expect(await challenge(path, 'Bearer nobody')).toBe(wrong('this token is not known here; sign in again or ask for a new one'))
    expect(await challenge(path, `Bearer ${token}`)).toBe(wrong('this token was revoked; sign in again or ask for a new one'))
  }
  expect(await challenge('/v1/models', 'Bearer x')).toContain('realm="parley", error="invalid_token"')
  const login = await postJson(`${gw.gateway.url}/api/auth/login`, { username: 'admin', password: 'wrong' })
  expect([login.status, login.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="parley"'])
})

test('what is on its way to models is bounded for the owner of the jobs', async () => {
  await using bench = await ModelBench.open({ gateway: { limits: { wire: { bodyBytesPerCaller: 50_000 } } } })
  const answer = await bench.ask({ input: 'x'.repeat(200_000) })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2'])
  expect(((await answer.json()) as { error: { code: string } }).error.code).toBe('rate_limited')
  expect(bench.upstream.requests).toHaveLength(0)
})

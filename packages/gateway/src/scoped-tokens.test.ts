import { connectClient, httpTransport } from '@parley/rpc'
import { TASKS_CAPABILITY } from '@parley/task'
import { expect, test } from 'vitest'
import { keeping } from './fixture/keeping.ts'
import { addJob, addUser } from './fixture/test-job.ts'
import { type TestGateway, callTool, mint, openTestGateway, request } from './fixture/test-gateway.ts'
import { TestSession, TestSocket } from './fixture/wires.ts'

const kept = keeping()
const CLIENT = { name: 'test', version: '1' }

async function worldOf() {
  const gw = kept(await openTestGateway())
  const ada = await addUser(gw, 'ada')
  await gw.admin('user.add', { username: 'root', admin: true })
  const tokenOf = async (username: string, ...scopes: string[]) => (await mint(gw, { role: 'user', username, scopes })).token
  const as = (token: string) => (name: string, args?: object) => callTool(gw.gateway.url, token, name, args)
  return { gw, ada, tokenOf, as }
}
const errorOf = async (reply: ReturnType<TestGateway['admin']>) => (await reply)._meta?.['parley/error']

test('what a token leaves out is refused in a session, on a socket and without either, and all go on', async () => {
  const { gw, tokenOf } = await worldOf()
  const token = await tokenOf('ada', 'jobs')
  const session = await TestSession.open(gw.gateway.url, token)
  const socket = await TestSocket.open(gw.gateway.ws, token)
  await socket.call('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT })
  let id = 0
  const inSession = async (method: string, params: object) => {
    id += 1
    const answered = await session.send(token, { jsonrpc: '2.0', id, method, params })
    return (await answered.json()) as Awaited<ReturnType<typeof socket.call>>
  }
  const stateless = async (method: string, params: object) => (await request(gw.gateway.url, token, method, params)).body
  const ways = { session: inSession, socket: (method: string, params: object) => socket.call(method, params), stateless }
  for (const [way, call] of Object.entries(ways)) {
    const refused = await call('tools/call', { name: 'approval.list', arguments: {} })
    expect({ way, result: refused.result }).toMatchObject({
      result: {
        isError: true,
        content: [{ text: 'forbidden: approval.list needs the scope approvals or read; this token has jobs' }],
        _meta: {
          'parley/error': {
            code: 'forbidden',
            hint: 'a token keeps its scopes; parley token create --role user --user ada --scope approvals makes another',
          },
        },
      },
    })
    const unread = await call('resources/read', { uri: 'resource://approvals/pending' })
    expect({ way, error: unread.error }).toMatchObject({
      error: {
        code: way === 'stateless' ? -32602 : -32002,
        message: expect.stringContaining('needs the scope approvals or read'),
      },
    })
    const done = await call('tools/call', { name: 'job.list', arguments: {} })
    expect({ way, result: done.result }).toMatchObject({ result: { structuredContent: { items: [] } } })
  }
  expect((await socket.call('resources/subscribe', { uri: 'resource://approvals/pending' })).error).toMatchObject({
    code: -32002,
    message: expect.stringContaining('this token has jobs'),
  })
  expect((await socket.call('resources/subscribe', { uri: 'resource://jobs/list' })).error).toBeUndefined()
  socket.socket.close()
  const { structuredContent } = await gw.admin('audit.search', { action: 'approval.list', outcome: 'denied' })
  expect(structuredContent?.['items']).toHaveLength(3)
  expect(structuredContent?.['items']).toMatchObject([{ actor: 'ada', role: 'user', code: 'forbidden' }, {}, {}])
})

test('who only reads follows a job, on a socket and as a task, and does not end it; who has jobs does; who has neither finds none', async () => {
  const { gw, ada, tokenOf } = await worldOf()
  const job_id = await addJob(gw.store, ada.id)
  const clientWith = async (...scopes: string[]) => {
    const client = await connectClient(httpTransport({ url: gw.gateway.mcp, token: await tokenOf('ada', ...scopes) }), {
      clientInfo: CLIENT,
      era: 'modern',
      capabilities: TASKS_CAPABILITY,
    })
    kept({ [Symbol.asyncDispose]: () => client.close() })
    return client
  }
  const [worker, reader, decider] = [await clientWith('jobs'), await clientWith('read'), await clientWith('approvals')]
  expect(await worker.request('tools/call', { name: 'job.start', arguments: { job_id } })).toMatchObject({ resultType: 'task' })
  expect(await reader.request('tasks/get', { taskId: job_id })).toMatchObject({ status: 'working' })
  await expect(reader.request('tasks/cancel', { taskId: job_id })).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining('needs the scope jobs; this token has read'),
  })
  await expect(decider.request('tasks/get', { taskId: job_id })).rejects.toMatchObject({ code: expect.any(Number) })
  const socket = await TestSocket.open(gw.gateway.ws, await tokenOf('ada', 'read'))
  expect(
    (await socket.call('tools/call', { name: 'job.subscribe', arguments: { job_id, streams: ['state'] } })).result,
  ).not.toHaveProperty('isError')
  await worker.request('tasks/cancel', { taskId: job_id })
  expect(await reader.request('tasks/get', { taskId: job_id })).toMatchObject({ status: 'cancelled' })
  const told = expect.objectContaining({ method: 'job_state', params: expect.objectContaining({ job_id }) })
  await expect.poll(() => socket.messages).toContainEqual(told)
  socket.socket.close()
})

test('an admin’s token reaches other people’s things with admin, sees them with read, and is for its own with any other', async () => {
  const { gw, ada, tokenOf, as } = await worldOf()
  const job_id = await addJob(gw.store, ada.id)
  const jobs = as(await tokenOf('root', 'jobs'))
  expect((await jobs('job.list')).structuredContent).toMatchObject({ items: [] })
  expect(await errorOf(jobs('job.cancel', { job_id }))).toMatchObject({ code: 'not_found' })
  expect((await jobs('account.get')).structuredContent).toMatchObject({ admin: false, scopes: ['jobs'] })
  const sees = as(await tokenOf('root', 'jobs', 'read'))
  expect((await sees('job.list')).structuredContent).toMatchObject({ items: [{ job_id }] })
  expect(await errorOf(sees('job.cancel', { job_id }))).toMatchObject({ code: 'not_found' })
  expect((await as(await tokenOf('root', 'read'))('user.list')).structuredContent).toMatchObject({ items: [{}, {}, {}] })
  const rules = { layer: 'installation', text: '[[rule]]\nname = "all"\ndecision = "allow"\n' }
  expect(await errorOf(as(await tokenOf('root', 'approvals', 'read'))('policy.set', rules))).toMatchObject({
    code: 'forbidden',
    hint: expect.stringContaining('the scope admin'),
  })
  expect(await errorOf(as(await tokenOf('root', 'approvals', 'admin'))('policy.set', rules))).toBeUndefined()
  expect(await errorOf(as(await tokenOf('root', 'jobs', 'admin'))('job.cancel', { job_id }))).toBeUndefined()
})

test('a token that may not decide gets no agent out of a policy by another name', async () => {
  const { tokenOf, as } = await worldOf()
  const agents = as(await tokenOf('ada', 'agents'))
  const { agent_id } = (await agents('agent.create', { name: 'held' })).structuredContent ?? {}
  expect(await errorOf(agents('agent.update', { agent_id, name: 'free' }))).toMatchObject({ code: 'forbidden', field: 'name' })
  expect((await agents('agent.update', { agent_id, instructions: 'Be brief.' })).structuredContent).toMatchObject({
    name: 'held',
  })
  const both = as(await tokenOf('ada', 'agents', 'approvals'))
  expect((await both('agent.update', { agent_id, name: 'free' })).structuredContent).toMatchObject({ name: 'free' })
})

test('scopes go with a user’s token alone, and admin with an admin’s; there is always one', async () => {
  const { gw } = await worldOf()
  const wrong = [
    [{ role: 'judge', name: 'j', scopes: ['jobs'] }, 'scopes do not go with role judge'],
    [{ role: 'user', username: 'ada', scopes: ['admin'] }, 'ada is none'],
    [{ role: 'user', username: 'ada', scopes: [] }, ''],
    [{ role: 'user', username: 'ada', scopes: ['all'] }, ''],
  ] as const
  for (const [args, words] of wrong)
    expect(await errorOf(gw.admin('token.create', args))).toMatchObject({
      code: 'invalid_argument',
      field: expect.stringMatching(/^scopes/),
      message: expect.stringContaining(words),
    })
  await mint(gw, { role: 'user', username: 'ada', scopes: ['read', 'jobs'] })
  const { items } = (await gw.admin('token.list')).structuredContent ?? {}
  expect(items).toMatchObject([{ scopes: ['jobs', 'read'] }, { scopes: null }])
})

test('a token with scopes makes none with more than its own, none for others, none that outlives it, and nobody who could sign in', async () => {
  const { gw, as } = await worldOf()
  const made = await mint(gw, { role: 'user', username: 'root', scopes: ['admin', 'jobs'], ttl_seconds: 600 })
  const call = as(made.token)
  const refused: [args: object, field: string][] = [
    [{ role: 'user', username: 'root' }, 'scopes'],
    [{ role: 'user', username: 'root', scopes: ['jobs', 'approvals'] }, 'scopes'],
    [{ role: 'user', username: 'root', scopes: ['admin'] }, 'scopes'],
    [{ role: 'user', username: 'ada', scopes: ['jobs'] }, 'username'],
    [{ role: 'judge', name: 'j' }, 'role'],
    [{ role: 'host', name: 'h' }, 'role'],
  ]
  for (const [args, field] of refused)
    expect(await errorOf(call('token.create', args))).toMatchObject({
      code: 'forbidden',
      field,
      hint: expect.stringContaining('a sign-in'),
    })
  const narrow = { role: 'user', username: 'root', scopes: ['jobs'] }
  const { structuredContent: less } = await call('token.create', { ...narrow, ttl_seconds: 86_400 })
  const { structuredContent: sooner } = await call('token.create', { ...narrow, ttl_seconds: 60 })
  const { items } = (await gw.admin('token.list')).structuredContent ?? {}
  const maker = (items as { id: string; expires_at: string }[]).find(({ id }) => id === made.id)
  expect(less).toMatchObject({ expires_at: maker?.expires_at })
  expect(Date.parse(String(sooner?.['expires_at']))).toBeLessThan(Date.parse(String(maker?.expires_at)))
  expect((await as(String(less?.['token']))('account.get')).structuredContent).toMatchObject({
    username: 'root',
    scopes: ['jobs'],
  })

  expect(await errorOf(call('user.add', { username: 'eve', password: 'long enough for it' }))).toMatchObject({
    code: 'forbidden',
    field: 'password',
  })
  expect(await errorOf(call('user.add', { username: 'eve', admin: true }))).toMatchObject({ code: 'forbidden', field: 'admin' })
  expect(await errorOf(call('user.add', { username: 'eve' }))).toBeUndefined()
  for (const name of ['user.link', 'user.passwd', 'user.promote', 'user.set_identity', 'account.passwd'])
    expect(await errorOf(call(name, { username: 'eve' }))).toMatchObject({
      message: expect.stringContaining('a token without scopes'),
    })
})

test('a token with scopes ends when its user is no admin any more, as any other does, and comes back without what was an admin’s', async () => {
  const { gw, tokenOf, as } = await worldOf()
  const token = await tokenOf('root', 'admin', 'jobs')
  const socket = await TestSocket.open(gw.gateway.ws, token)
  await socket.call('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT })
  await gw.admin('user.demote', { username: 'root' })
  await socket.closed
  expect((await as(token)('account.get')).structuredContent).toMatchObject({ admin: false, scopes: ['jobs', 'admin'] })
  const { body } = await request(gw.gateway.url, token, 'tools/call', { name: 'user.list', arguments: {} })
  expect(body.error).toMatchObject({ message: 'unknown tool: user.list' })
})

import { READS, TOOLS, type Token, type ToolName, type User, tool } from '@parley/protocol'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type TestGateway, listIn, mint, openTestGateway, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'
import { serveTool } from '../world.ts'

const failureOf = async (gw: TestGateway, name: string, args: object) => (await gw.admin(name, args))._meta?.['parley/error']

test('wrong arguments are named by their field', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  await gw.admin('user.disable', { username: 'ada' })
  const cases: [name: ToolName, args: object, code: string, field: string | undefined][] = [
    ['token.create', {}, 'invalid_argument', 'role'],
    ['token.create', { role: 'admin' }, 'invalid_argument', 'role'],
    ['token.create', { role: 'user' }, 'invalid_argument', 'username'],
    ['token.create', { role: 'user', username: 'nobody' }, 'not_found', 'username'],
    ['token.create', { role: 'user', username: 'ada' }, 'conflict', 'username'],
    ['token.create', { role: 'user', username: 'admin', agent_id: `agt_${'0'.repeat(26)}` }, 'invalid_argument', 'agent_id'],
    ['token.create', { role: 'judge' }, 'invalid_argument', 'name'],
    ['token.create', { role: 'judge', name: 'j', username: 'admin' }, 'invalid_argument', 'username'],
    ['token.create', { role: 'agent', name: 'x' }, 'invalid_argument', 'agent_id'],
    ['token.create', { role: 'judge', name: 'j', ttl_seconds: 0 }, 'invalid_argument', 'ttl_seconds'],
    ['token.create', { role: 'judge', name: 'j', extra: true }, 'invalid_argument', 'extra'],
    ['token.revoke', { id: 'tok_1' }, 'invalid_argument', 'id'],
    ['token.revoke', { id: `tok_${'0'.repeat(26)}` }, 'not_found', 'id'],
    ['token.list', { cursor: 'nonsense' }, 'invalid_argument', 'cursor'],
    ['user.list', { cursor: 'NOT A NAME' }, 'invalid_argument', 'cursor'],
    ['user.list', { limit: 501 }, 'invalid_argument', 'limit'],
    ['user.add', { username: 'Ada!' }, 'invalid_argument', 'username'],
    ['user.add', { username: 'admin' }, 'already_exists', undefined],
    ['user.add', { username: 'bob', password: 'short' }, 'invalid_argument', 'password'],
    ['user.passwd', { username: 'nobody', password: 'long enough for it' }, 'not_found', 'username'],
    ['user.link', { username: 'ada' }, 'conflict', undefined],
    ['user.disable', { username: 'admin' }, 'conflict', undefined],
    ['audit.search', { since: 'yesterday' }, 'invalid_argument', 'since'],
  ]
  for (const [name, args, code, field] of cases) {
    const failure = await failureOf(gw, name, args)
    expect({ name, args, failure }).toMatchObject({ failure: { code, ...(field === undefined ? {} : { field }) } })
  }
})

test('what a tool answers fits its own output schema, and the text says the same', async () => {
  await using gw = await openTestGateway()
  const { structuredContent: added } = await gw.admin('user.add', { username: 'ada', admin: true })
  const made = await mint(gw, { role: 'user', username: 'ada', ttl_seconds: 60 })
  const calls: [ToolName, object][] = [
    ['account.get', {}],
    ['user.list', {}],
    ['token.list', {}],
    ['token.revoke', { id: made.id }],
    ['user.link', { username: 'ada' }],
    ['user.disable', { username: 'ada' }],
    ['user.enable', { username: 'ada' }],
    ['audit.search', {}],
    ['audit.export', {}],
  ]
  expect(TOOLS['user.add'].output.parse(added)).toEqual(added)
  for (const [name, args] of calls) {
    const { structuredContent, content } = await gw.admin(name, args)
    expect({ name, value: TOOLS[name].output.parse(structuredContent) }).toEqual({ name, value: structuredContent })
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent)
  }
})

test('lists page on without a gap or a repeat', async () => {
  await using gw = await openTestGateway()
  for (let index = 0; index < 5; index += 1) {
    await gw.admin('user.add', { username: `u${index}` })
    await mint(gw, { role: 'judge', name: `j${index}` })
  }
  const all = async (name: string, key: string): Promise<string[]> => {
    const found: string[] = []
    let cursor: string | null | undefined
    do {
      const { structuredContent } = await gw.admin(name, { limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      found.push(...listIn<Record<string, string>>(structuredContent, 'items').map((item) => String(item[key])))
      cursor = structuredContent?.['next_cursor'] as string | null
    } while (cursor !== null && found.length < 100)
    return found
  }
  expect(await all('user.list', 'username')).toEqual(['admin', 'u0', 'u1', 'u2', 'u3', 'u4'])
  // Newest first; of those made in one millisecond, any order, but each once.
  expect((await all('token.list', 'name')).toSorted()).toEqual(['j0', 'j1', 'j2', 'j3', 'j4'])
  expect((await request(gw.gateway.url, gw.adminToken, 'tools/list', { cursor: 'page-7' })).body.error?.code).toBe(-32602)
})

test('two admins who disable each other at once: one stays', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada', admin: true })
  const { token } = await mint(gw, { role: 'user', username: 'ada' })
  const sockets = [await TestSocket.open(gw.gateway.ws, gw.adminToken), await TestSocket.open(gw.gateway.ws, token)]
  const names = ['ada', 'admin']
  await Promise.race(
    sockets.map((socket, index) => socket.call('tools/call', { name: 'user.disable', arguments: { username: names[index] } })),
  )
  await Promise.race(sockets.map((socket) => socket.closed))
  const active = (await gw.store.users.list({ limit: 10 })).filter((user) => user.admin && !user.disabled)
  expect(active).toHaveLength(1)
  for (const { socket } of sockets) socket.close()
})

test('tools can be added, run synchronously or not, and a fault in one is told to the log alone', async () => {
  const spec = <Name extends string>(name: Name) =>
    tool({
      name,
      roles: ['user'],
      doc: 'A tool of this test.',
      input: z.strictObject({ text: z.string() }),
      output: z.object({ text: z.string() }),
      annotations: READS,
    })
  const tools = [
    serveTool(spec('echo'), ({ text }) => ({ text })),
    serveTool(spec('echo.later'), async ({ text }) => ({ text })),
    serveTool(spec('broken'), () => {
      throw new Error('marker of the fault')
    }),
  ]
  await using gw = await openTestGateway({ tools })
  expect((await gw.admin('echo', { text: 'é"\n\u{1f600}' })).structuredContent).toEqual({ text: 'é"\n\u{1f600}' })
  expect((await gw.admin('echo.later', { text: 'x' })).structuredContent).toEqual({ text: 'x' })
  const failed = await gw.admin('broken', { text: 'x' })
  expect(failed).toMatchObject({ isError: true, _meta: { 'parley/error': { code: 'internal' } } })
  expect(JSON.stringify(failed)).not.toContain('marker')
  expect(gw.logged.join('')).toContain('marker of the fault')
  await expect(gw.restart({ tools: [...tools, ...tools] })).rejects.toMatchObject({ code: 'duplicate_tool' })
})

test('a token that calls too often is slowed on every wire, and others are not', async () => {
  await using gw = await openTestGateway({ limits: { calls: { perSecond: 0.01, burst: 5 } } })
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  const outcomes: unknown[] = []
  for (let index = 0; index < 6; index += 1) {
    const { result } = await socket.call('tools/call', { name: 'account.get' })
    outcomes.push(result?.['isError'] === true ? result['_meta'] : 'ok')
  }
  expect(outcomes.slice(0, 5)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
  expect(outcomes[5]).toMatchObject({
    'parley/error': { code: 'rate_limited', hint: expect.stringMatching(/^try again in \d+ s$/) },
  })
  expect((await socket.call('tools/list')).error?.code).toBe(-32970)
  const limited = await request(gw.gateway.url, token, 'tools/list')
  expect({ status: limited.status, code: limited.body.error?.code }).toEqual({ status: 429, code: 'rate_limited' })
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(1)
  expect(await failureOf(gw, 'account.get', {})).toBeUndefined()
  socket.socket.close()
})

test("an account's last sign-in is kept, and a token's last use", async () => {
  await using gw = await openTestGateway()
  const { token, id } = await mint(gw, { role: 'judge', name: 'j1' })
  await request(gw.gateway.url, token, 'tools/list')
  await gw.restart()
  const { structuredContent: users } = await gw.admin('user.list')
  expect(listIn<User>(users, 'items')[0]?.last_sign_in_at).not.toBeNull()
  const { structuredContent: tokens } = await gw.admin('token.list')
  expect(listIn<Token>(tokens, 'items').find((item) => item.id === id)?.last_used_at).not.toBeNull()
})

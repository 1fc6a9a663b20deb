import { AGENT_LIMITS, Preset } from '@parley/protocol'
import { expect, test } from 'vitest'
import { type TestGateway, callTool, listIn, mint, openTestGateway, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

/** What somebody else may see and do. */
async function personAt(gw: TestGateway, username: string) {
  await gw.admin('user.add', { username })
  const { token } = await mint(gw, { role: 'user', username })
  return (tool: string, args: object = {}) => callTool(gw.gateway.url, token, tool, args)
}

const errorOf = (reply: { _meta?: Record<string, unknown> }) => reply._meta?.['parley/error']

test('faults 14 and 15: an agent is made from a preset, changed, found by its owner and admins alone, and gone when it is deleted', async () => {
  const presets = async () =>
    new Map([
      ['default', Preset.parse({})],
      ['writer', Preset.parse({ instructions: 'Write.', model: 'small', mounts: [{ name: 'web', server: WEB }] })],
    ])
  await using gw = await openTestGateway({ presets })
  const ada = await personAt(gw, 'ada')
  const eve = await personAt(gw, 'eve')
  const made = (await ada('agent.create', { preset: 'writer', name: 'scribe', model: 'large' })).structuredContent
  expect(made).toMatchObject({
    name: 'scribe',
    kind: 'local',
    owner: 'ada',
    preset: 'writer',
    status: 'asleep',
    host: null,
    instructions: 'Write.',
    model: 'large',
    mounts: 1,
  })
  const { agent_id } = made as { agent_id: string }
  expect((await eve('agent.list')).structuredContent).toEqual({ items: [], next_cursor: null })
  expect((await gw.admin('agent.list')).structuredContent).toMatchObject({ items: [{ agent_id }] })
  for (const [tool, more] of [
    ['agent.get', {}],
    ['agent.update', { name: 'x' }],
    ['agent.delete', {}],
    ['agent.token', {}],
    ['mount.list', {}],
    ['mount.detach', { name: 'web' }],
    ['mount.attach', { name: 'own', server: WEB }],
  ] as const)
    expect({ tool, error: errorOf(await eve(tool, { agent_id, ...more })) }).toMatchObject({
      tool,
      error: { code: 'not_found', field: 'agent_id' },
    })
  expect((await ada('agent.update', { agent_id, name: 'poet', instructions: '' })).structuredContent).toMatchObject({
    name: 'poet',
    instructions: '',
    model: 'large',
  })
  expect((await ada('agent.delete', { agent_id })).structuredContent).toEqual({ agent_id, deleted: true })
  expect(errorOf(await ada('agent.get', { agent_id }))).toMatchObject({ code: 'not_found' })
  expect((await gw.admin('agent.list')).structuredContent).toEqual({ items: [], next_cursor: null })
})

const WEB = { kind: 'http', url: 'https://example.com/mcp', headers: [{ name: 'X-Key', value: 'hunter2' }] }

const NO_WRITES = `[[rule]]
name = "no-writes"
tool = "write_*"
decision = "deny_continue"
reason = "this one only reads"
`

test('a policy of a preset holds an agent from the start, and one that is wrong makes none', async () => {
  const example = (decision: string) =>
    `${NO_WRITES}\n[[example]]\ndecision = "${decision}"\ncall = { mount = "web", tool = "write_page" }\n`
  const presets = async () =>
    new Map([
      ['reader', Preset.parse({ policy: example('deny_continue') })],
      ['broken', Preset.parse({ policy: '[[rule]]\ndecision = "perhaps"' })],
      ['failing', Preset.parse({ policy: example('allow') })],
    ])
  await using gw = await openTestGateway({ presets })
  const ada = await personAt(gw, 'ada')
  const { agent_id } = (await ada('agent.create', { preset: 'reader' })).structuredContent as { agent_id: string }
  expect((await ada('policy.get', { agent_id })).structuredContent).toMatchObject({
    policy: { version: 1, status: 'active', note: 'from the preset reader', created_by: 'ada', text: example('deny_continue') },
  })
  const tried = await ada('policy.test', { agent_id, call: { mount: 'web', name: 'write_page' } })
  expect(tried.structuredContent).toMatchObject({ decision: 'deny_continue', rule: 'no-writes', layer: 'agent' })
  for (const [preset, why] of [
    ['broken', /^preset: the policy of presets\/broken\.toml: .*decision/],
    [
      'failing',
      /^preset: the policy of presets\/failing\.toml: 1 of its examples is .*: example 1 wants allow and is deny_continue by the rule no-writes$/,
    ],
  ] as const)
    expect(errorOf(await ada('agent.create', { preset }))).toMatchObject({
      code: 'invalid_argument',
      field: 'preset',
      message: expect.stringMatching(why),
    })
  expect((await ada('agent.list')).structuredContent).toMatchObject({ items: [{ agent_id }] })
})

test('an unknown preset is answered with those there are, a name that is taken and one too many with words', async () => {
  await using gw = await openTestGateway()
  expect(errorOf(await gw.admin('agent.create', { preset: 'none' }))).toMatchObject({
    code: 'not_found',
    field: 'preset',
    hint: 'there are: default',
  })
  expect((await gw.admin('agent.create')).structuredContent).toMatchObject({ name: 'default' })
  expect((await gw.admin('agent.create')).structuredContent).toMatchObject({ name: 'default-2' })
  expect(errorOf(await gw.admin('agent.create', { name: 'default' }))).toMatchObject({ code: 'already_exists' })
  for (let at = 2; at < AGENT_LIMITS.perPerson; at += 1) await gw.admin('agent.create')
  expect(errorOf(await gw.admin('agent.create'))).toMatchObject({ code: 'quota_exceeded' })
})

test('a mount is masked wherever it is shown, replaced by its name, and refused where that was not granted', async () => {
  await using gw = await openTestGateway()
  const ada = await personAt(gw, 'ada')
  const { agent_id } = (await ada('agent.create')).structuredContent as { agent_id: string }
  const attached = (await ada('mount.attach', { agent_id, name: 'web', server: WEB })).structuredContent
  expect(attached).toMatchObject({ name: 'web', version: 2, state: null, server: { kind: 'http' } })
  const again = (await ada('mount.attach', { agent_id, name: 'web', server: { ...WEB, url: 'https://example.org/' } }))
    .structuredContent
  expect(again).toMatchObject({ version: 3, server: { url: 'https://example.org/' } })
  const secret = { ...WEB, url: 'https://example.org/?hunter2&key=hunter2#hunter2' }
  const shown = (await ada('mount.attach', { agent_id, name: 'web', server: secret })).structuredContent
  expect(JSON.stringify(shown)).not.toContain('hunter2')
  expect(decodeURI(String(Reflect.get(Object(shown?.['server']), 'url')))).toBe('https://example.org/?••••&key=••••#••••')
  const program = { kind: 'stdio', command: 'server', env: [{ name: 'KEY', value: 'hunter2' }], place: { kind: 'host' } }
  expect(errorOf(await ada('mount.attach', { agent_id, name: 'files', server: program }))).toMatchObject({
    code: 'forbidden',
    field: 'server.place',
    message: expect.stringContaining('(parley grant set USER --unboxed on)'),
  })
  await gw.admin('grant.set', { username: 'ada', unboxed: true })
  expect((await gw.admin('grant.list')).structuredContent).toMatchObject({ items: [{ username: 'ada', unboxed: true }] })
  await ada('mount.attach', { agent_id, name: 'files', server: program })
  const listed = await ada('mount.list', { agent_id })
  expect(listIn<{ name: string }>(listed.structuredContent, 'items').map(({ name }) => name)).toEqual(['files', 'web'])
  expect(JSON.stringify(listed)).not.toContain('hunter2')
  expect(gw.logged.join('')).not.toContain('hunter2')
  for (const [name, field] of [
    ['resources', 'name'],
    ['a_b', 'name'],
    ['A', 'name'],
  ] as const)
    expect(errorOf(await ada('mount.attach', { agent_id, name, server: WEB }))).toMatchObject({ field })
  expect((await ada('mount.detach', { agent_id, name: 'web' })).structuredContent).toMatchObject({ detached: true })
  expect((await ada('mount.detach', { agent_id, name: 'web' })).structuredContent).toMatchObject({ detached: false })
})

test('grants are an admin’s to give', async () => {
  await using gw = await openTestGateway()
  const ada = await personAt(gw, 'ada')
  await expect(ada('grant.set', { username: 'ada', unboxed: true })).rejects.toThrow('unknown tool')
  expect(errorOf(await gw.admin('grant.set', { username: 'nobody', unboxed: true }))).toMatchObject({ field: 'username' })
  expect(errorOf(await gw.admin('grant.set', { username: 'ada', folders: ['x'] }))).toMatchObject({ field: 'folders.0' })
})

test('a token of an agent has an end, can be rotated, and ends with the agent within a second', async () => {
  await using gw = await openTestGateway({ limits: { wakeMs: 1 } })
  const { agent_id } = (await gw.admin('agent.create')).structuredContent as { agent_id: string }
  const tokenOf = async (more: object = {}) =>
    (await gw.admin('agent.token', { agent_id, ...more })).structuredContent as { token: string; revoked: number }
  const first = await tokenOf()
  const status = async (token: string) => (await request(gw.gateway.url, token, 'tools/list')).status
  // Nobody can take it, and everybody is told so who is let in.
  expect(await status(first.token)).toBe(503)
  const second = await tokenOf({ rotate: true, ttl_seconds: 60 })
  expect(second.revoked).toBe(1)
  await expect.poll(() => status(first.token)).toBe(401)
  expect(await status(second.token)).toBe(503)
  await gw.admin('agent.delete', { agent_id })
  await expect.poll(() => status(second.token)).toBe(401)
})

test('fault 13: who watches their agents is told when one comes, changes and goes, and nobody else is', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  await gw.admin('user.add', { username: 'eve' })
  const sockets = await Promise.all(
    ['ada', 'eve'].map(async (username) => {
      const { token } = await mint(gw, { role: 'user', username })
      const socket = await TestSocket.open(gw.gateway.ws, token)
      const clientInfo = { name: 'test', version: '1' }
      await socket.call('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
      await socket.call('resources/subscribe', { uri: 'resource://agents/list' })
      return socket
    }),
  )
  const [ada, eve] = sockets
  const told = (socket: TestSocket | undefined) =>
    socket?.messages.filter(({ method }) => method === 'notifications/resources/updated').length
  const { result } = (await ada?.call('tools/call', { name: 'agent.create', arguments: {} })) ?? {}
  await expect.poll(() => told(ada)).toBeGreaterThan(0)
  const { agent_id } = JSON.parse(JSON.stringify(result?.['structuredContent'] ?? {}))
  const uri = `resource://agents/${agent_id}/state`
  expect((await eve?.call('resources/subscribe', { uri }))?.error).toMatchObject({ code: -32002 })
  await ada?.call('resources/subscribe', { uri })
  const before = told(ada) ?? 0
  await ada?.call('tools/call', { name: 'agent.update', arguments: { agent_id, instructions: 'x' } })
  await expect.poll(() => told(ada)).toBeGreaterThan(before)
  expect(told(eve)).toBe(0)
  for (const socket of sockets) {
    socket.socket.close()
    await socket.closed
  }
})

test('a token for agents forks none, since a rule that names one does not hold its fork; one that decides does', async () => {
  await using gw = await openTestGateway()
  const made = (await gw.admin('agent.create', { kind: 'local', model: 'm' })).structuredContent
  const forkBy = async (...scopes: string[]) => {
    const { token } = await mint(gw, { role: 'user', username: 'admin', scopes })
    return callTool(gw.gateway.url, token, 'agent.fork', { agent_id: made?.['agent_id'] })
  }
  expect(errorOf(await forkBy('agents', 'admin'))).toMatchObject({
    code: 'forbidden',
    field: 'agent_id',
    message: expect.stringContaining('needs approvals beside agents'),
  })
  expect((await forkBy('agents', 'approvals')).structuredContent).toMatchObject({ kind: 'local' })
})

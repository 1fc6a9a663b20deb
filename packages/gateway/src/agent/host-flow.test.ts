import { AgentClaim } from '@parley/protocol'
import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { CLAIM_STAYS, callersOf, sensibleArguments } from '../fixture/every-tool.ts'
import { type TestGateway, type ToolReply, callTool, openTestGateway } from '../fixture/test-gateway.ts'

const kept = keeping()

async function agentAt(gw: TestGateway): Promise<string> {
  return String((await gw.admin('agent.create')).structuredContent?.['agent_id'])
}
const errorOf = ({ _meta }: ToolReply) => _meta?.['parley/error']
const wake = (gw: TestGateway, id: string) => gw.store.agents.wake(id as Parameters<typeof gw.store.agents.wake>[0])
const stateOf = async (gw: TestGateway, agent_id: string) => (await gw.admin('agent.get', { agent_id })).structuredContent

test('an agent that is to be awake is held by the host that asks, and sleeps when that lets go of it', async () => {
  const gw = kept(await openTestGateway({ gate: 'allow' }))
  const host = kept(await TestHost.open(gw))
  const agent_id = await agentAt(gw)
  expect(await host.call('host.claim_next', { wait_ms: 0 })).toMatchObject({ claim: null })
  const waiting = host.claim()
  await wake(gw, agent_id)
  const claim = await waiting
  expect(claim.agent_id).toBe(agent_id)
  expect(await stateOf(gw, agent_id)).toMatchObject({ status: 'awake', host: 'h1' })
  await gw.admin('mount.attach', { agent_id, name: 'web', server: { kind: 'http', url: 'https://u:pw@example.com/' } })
  await expect.poll(() => host.told('host_control')).toEqual([{ ...claim, action: 'update' }])
  expect(await host.call('host.agent_get', claim)).toMatchObject({
    owner: 'admin',
    gate: 'allow',
    private_http: false,
    mounts: [{ name: 'web', refused: null, server: { url: 'https://u:pw@example.com/' } }],
    subscriptions: [],
    calls_offset: 0,
  })
  const mounts = [{ name: 'web', state: 'failed', tools: 0, restarts: 3, error: 'it is away' }]
  await host.call('host.agent_report', { ...claim, mounts })
  expect((await gw.admin('mount.list', { agent_id })).structuredContent).toMatchObject({ items: [{ state: mounts[0] }] })
  // What a host says itself is not told it again.
  expect(host.told('host_control')).toHaveLength(1)
  await host.call('host.release', { ...claim, asleep: true })
  expect(await stateOf(gw, agent_id)).toMatchObject({ status: 'asleep', host: null })
  expect((await gw.admin('mount.list', { agent_id })).structuredContent).toMatchObject({ items: [{ state: null }] })
})

test('what an agent listens to and what it called is kept under its claim, and nothing is taken from who lost it', async () => {
  const gw = kept(await openTestGateway())
  const [first, second] = [kept(await TestHost.open(gw, 'h1')), kept(await TestHost.open(gw, 'h2'))]
  const agent_id = await agentAt(gw)
  await wake(gw, agent_id)
  const claim = await first.claim()
  await first.call('host.agent_listen', { ...claim, uri: 'test://a', listens: true })
  const line = JSON.stringify({ step: 'decided', name: 'x' })
  const append = (host: TestHost, under: object, offset: number, lines = [line]) =>
    host.call('host.append_calls', { ...under, offset, lines })
  expect(await append(first, claim, 0)).toEqual({ ok: true, next_offset: line.length + 1 })
  expect(await append(first, claim, 0)).toEqual({ ok: true, next_offset: line.length + 1 })
  expect(await append(first, claim, 7)).toMatchObject({ ok: false, code: 'offset_mismatch', current_offset: line.length + 1 })
  await first.call('host.release', claim)
  const next = await second.claim()
  expect(next.claim_id).not.toBe(claim.claim_id)
  for (const [tool, more] of [
    ['host.agent_get', {}],
    ['host.agent_report', { mounts: [] }],
    ['host.agent_listen', { uri: 'test://b', listens: true }],
    ['host.append_calls', { offset: line.length + 1, lines: [line] }],
  ] as const)
    await expect(first.call(tool, { ...claim, ...more })).rejects.toThrow('lease_lost')
  expect(await first.call('host.renew', { claims: [claim] })).toMatchObject({ lost: [agent_id] })
  expect(await second.call('host.renew', { claims: [next] })).toMatchObject({ lost: [] })
  expect(await second.call('host.agent_get', next)).toMatchObject({ subscriptions: ['test://a'], calls_offset: line.length + 1 })
})

test(
  'what one host holds is nobody else’s: not to read, to write, to let go of, or to be told of',
  { timeout: 120_000 },
  async () => {
    const gw = kept(await openTestGateway({ limits: CLAIM_STAYS }))
    const callers = kept(await callersOf(gw))
    const other = kept(await TestHost.open(gw, 'h2'))
    const all = await sensibleArguments(gw, callers.judge)
    const claim = AgentClaim.parse(all['host.agent_get'])
    // From now on the one that holds it is told what changes.
    await callers.call('host.agent_get', { ...claim })
    const under = Object.entries(all).filter(([name, args]) => name.startsWith('host.') && args['claim_id'] === claim.claim_id)
    expect(under.length).toBeGreaterThan(20)
    for (const [name, args] of under)
      expect({ name, error: errorOf(await other.reply(name, args)) }).toMatchObject({ name, error: { code: 'lease_lost' } })
    expect(await other.call('host.renew', { claims: [claim] })).toMatchObject({ lost: [claim.agent_id] })
    expect(await other.call('host.release', { ...claim, asleep: true })).toMatchObject({ released: true })
    expect(await stateOf(gw, claim.agent_id)).toMatchObject({ status: 'awake', host: 'h1' })
    await gw.admin('agent.update', { agent_id: claim.agent_id, instructions: 'Other ones.' })
    await expect.poll(() => callers.host.told('host_control')).toContainEqual({ ...claim, action: 'update' })
    expect(other.told('host_control')).toEqual([])
    // Without a connection nobody knows who asks, whatever the token is.
    const { token } = callers.host
    for (const [name, args] of under)
      expect({ name, error: errorOf(await callTool(gw.gateway.url, token, name, args)) }).toMatchObject({
        name,
        error: { code: 'no_session' },
      })
  },
)

test('a host that comes back on another connection goes on with what it holds', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  await wake(gw, await agentAt(gw))
  const claim = await host.claim()
  await host.reconnect()
  expect(await host.call('host.renew', { claims: [claim] })).toMatchObject({ lost: [] })
  expect(await host.call('host.agent_get', claim)).toMatchObject({ agent_id: claim.agent_id })
})

test('a host that is told to drain gets nothing, and its name tells what it holds', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  await gw.admin('host.drain', { name: 'h1' })
  await expect.poll(() => host.told('worker_control')).toEqual([{ name: 'h1', drain: true }])
  await wake(gw, await agentAt(gw))
  expect(await host.call('host.claim_next', { wait_ms: 0 })).toMatchObject({ claim: null })
  expect((await gw.admin('host.list')).structuredContent).toMatchObject({ items: [{ name: 'h1', state: 'draining' }] })
  await gw.admin('host.drain', { name: 'h1', drain: false })
  await host.claim()
  expect((await gw.admin('host.drain', { name: 'nobody' })).isError).toBe(true)
})

test('a deleted agent is let go of at once, and what was granted and is not any more is told', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  await gw.admin('grant.set', { username: 'admin', unboxed: true })
  const agent_id = await agentAt(gw)
  await gw.admin('mount.attach', {
    agent_id,
    name: 'files',
    server: { kind: 'stdio', command: 'server', place: { kind: 'host' } },
  })
  await wake(gw, agent_id)
  const claim = await host.claim()
  expect(await host.call('host.agent_get', claim)).toMatchObject({ mounts: [{ refused: null }] })
  await gw.admin('grant.set', { username: 'admin', unboxed: false })
  await expect.poll(() => host.told('host_control')).toEqual([{ ...claim, action: 'update' }])
  expect(await host.call('host.agent_get', claim)).toMatchObject({ mounts: [{ refused: expect.stringContaining('granted') }] })
  await gw.admin('agent.delete', { agent_id })
  await expect.poll(() => host.told('host_control').at(-1)).toEqual({ ...claim, action: 'release' })
  await expect(host.call('host.agent_get', claim)).rejects.toThrow('lease_lost')
  await host.call('host.release', claim)
})

test('only a host that said that it is here may ask, and nobody else at all', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  const { structuredContent } = await gw.admin('token.create', { role: 'host', name: 'h2' })
  const answer = await gw.admin('host.list')
  expect(answer.isError).toBeUndefined()
  const { request } = await import('../fixture/test-gateway.ts')
  const alone = await request(gw.gateway.url, String(structuredContent?.['token']), 'tools/call', {
    name: 'host.claim_next',
    arguments: { wait_ms: 0 },
  })
  expect(JSON.stringify(alone.body)).toContain('no_session')
  await expect(gw.admin('host.claim_next')).rejects.toThrow('unknown tool')
  await expect(host.call('agent.list', {})).rejects.toThrow('unknown tool')
})

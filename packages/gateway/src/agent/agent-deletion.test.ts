import { AgentId, makeId } from '@parley/protocol'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, openTestGateway, request } from '../fixture/test-gateway.ts'

const kept = keeping()

async function agentAt(gw: TestGateway): Promise<{ readonly agent_id: AgentId; readonly token: string }> {
  const agent_id = AgentId.parse((await gw.admin('agent.create')).structuredContent?.['agent_id'])
  return { agent_id, token: String((await gw.admin('agent.token', { agent_id })).structuredContent?.['token']) }
}

test('an agent that is held goes when its host has ended what runs for it, and its token at once', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  host.lets = false
  const { agent_id, token } = await agentAt(gw)
  await gw.store.agents.wake(agent_id)
  const claim = await host.claim()
  const deleting = gw.admin('agent.delete', { agent_id })
  await expect.poll(async () => (await request(gw.gateway.url, token, 'tools/list')).status).toBe(401)
  await expect.poll(() => host.told('host_control')).toEqual([{ ...claim, action: 'release' }])
  expect(await gw.store.agents.byId(agent_id)).toMatchObject({ status: 'deleting' })
  await host.call('host.release', { ...claim, asleep: true })
  expect((await deleting).structuredContent).toEqual({ agent_id, deleted: true })
  expect(await gw.store.agents.byId(agent_id)).toBeUndefined()
})

test('a host that says nothing is not waited for without end', { timeout: 120_000 }, async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  host.lets = false
  const { agent_id } = await agentAt(gw)
  await gw.store.agents.wake(agent_id)
  const claim = await host.claim()
  expect((await gw.admin('agent.delete', { agent_id })).structuredContent).toEqual({ agent_id, deleted: true })
  // Whatever it says later is too late, and it is told so.
  expect(await host.call('host.renew', { claims: [claim] })).toMatchObject({ lost: [agent_id] })
})

test('a host learns which agents there still are, and nobody else does', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  const [there, marked] = [(await agentAt(gw)).agent_id, (await agentAt(gw)).agent_id]
  await gw.store.agents.markDeleting(marked)
  const never = makeId(AgentId, 'agt', randomBytes)
  const answer = await host.call('host.agents_known', { agent_ids: [never, marked, there] })
  expect(answer).toEqual({ installation: expect.stringMatching(/^[0-9a-f]{32}$/), known: [there] })
  await expect(host.call('host.agents_known', { agent_ids: Array.from({ length: 65 }, () => there) })).rejects.toThrow('invalid')
  await expect(gw.admin('host.agents_known', { agent_ids: [there] })).rejects.toThrow('unknown tool')
})

test('what was marked and not removed, and the agents of somebody who was deleted, go by themselves', async () => {
  const gw = kept(await openTestGateway({ limits: { quietMs: 10 } }))
  const { agent_id: left } = await agentAt(gw)
  await gw.store.agents.markDeleting(left)
  await gw.admin('user.add', { username: 'ada' })
  const { structuredContent: ada } = await gw.admin('token.create', { role: 'user', username: 'ada' })
  const made = await request(gw.gateway.url, String(ada?.['token']), 'tools/call', { name: 'agent.create', arguments: {} })
  expect(JSON.stringify(made.body)).toContain('agt_')
  await gw.admin('user.delete', { username: 'ada' })
  await expect.poll(async () => (await gw.store.agents.list({ limit: 10 })).length).toBe(0)
})

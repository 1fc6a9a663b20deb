import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, callTool, listIn, mint, openTestGateway } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

const kept = keeping()

type Answer = Record<string, unknown>
const contentOf = async (reply: ReturnType<TestGateway['admin']>): Promise<Answer> => (await reply).structuredContent ?? {}
const errorOf = async (reply: ReturnType<TestGateway['admin']>) => (await reply)._meta?.['parley/error']
const itemsOf = (answer: Answer): Answer[] => answer['items'] as Answer[]

const WRITE = {
  kind: 'tool',
  mount: 'files',
  mount_version: 1,
  name: 'write',
  arguments_json: '{"path":"a","api_key":"sk-hunter2-hunter2-hunter2"}',
  caller: 'tok_1',
  reason: 'asked',
  policy: '',
  rule: null,
  layer: null,
  askers: ['default'],
  approvers: [],
}

const PENDING = 'resource://approvals/pending'

/** A host that holds one agent. */
async function heldAt(gw: TestGateway) {
  const host = kept(await TestHost.open(gw))
  const agent_id = String((await contentOf(gw.admin('agent.create', { name: 'mine' })))['agent_id'])
  await gw.store.agents.wake(agent_id as Parameters<typeof gw.store.agents.wake>[0])
  const claim = await host.claim()
  return { host, agent_id, claim }
}

async function worldOf() {
  const gw = kept(await openTestGateway({ gate: 'ask' }))
  const { host, agent_id, claim } = await heldAt(gw)
  const ask = (more: object = {}) => host.call('host.ask', { ...claim, ...WRITE, ...more })
  const step = (approval_id: unknown, name: string) => host.call('host.approval_step', { ...claim, approval_id, step: name })
  return { gw, host, claim, ask, step, agent_id }
}

test('fault 6: what is asked is listed without its secrets, decided once, sent once, and told to the host that waits', async () => {
  const { gw, host, claim, ask, step, agent_id } = await worldOf()
  const { approval_id, ...asked } = await ask()
  expect(asked).toMatchObject({ status: 'pending', adopted: false, decision: null })
  const [shown] = itemsOf(await contentOf(gw.admin('approval.list')))
  expect(shown).toMatchObject({ approval_id, agent: 'mine', owner: 'admin', mount: 'files', name: 'write', status: 'pending' })
  expect(String(shown?.['preview'])).toContain('"path": "a"')
  expect(JSON.stringify(shown)).not.toContain('hunter2')
  expect(shown).toMatchObject({ masked: true, cut: false })
  expect(await contentOf(gw.admin('approval.get', { approval_id }))).toMatchObject({ arguments_json: WRITE.arguments_json })
  const waiting = host.call('host.approvals', { ...claim, approval_ids: [approval_id], wait_ms: 30_000 })
  expect(await step(approval_id, 'dispatch')).toEqual({ ok: false, status: 'pending' })
  expect(
    await errorOf(gw.admin('approval.decide', { approval_id, decision: 'approve', preview_sha256: '0'.repeat(64) })),
  ).toMatchObject({ code: 'conflict', field: 'preview_sha256' })
  const said = { approval_id, decision: 'approve', reason: 'fine', preview_sha256: shown?.['preview_sha256'] }
  expect(await contentOf(gw.admin('approval.decide', said))).toMatchObject({ status: 'approved', decided: { by: 'admin' } })
  expect(await waiting).toMatchObject({
    items: [{ approval_id, status: 'approved', decision: 'approve', by: 'admin', reason: 'fine' }],
  })
  expect(await contentOf(gw.admin('approval.decide', said))).toMatchObject({ status: 'approved' })
  expect(await errorOf(gw.admin('approval.decide', { approval_id, decision: 'deny_abort' }))).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('admin has said approve'),
  })
  expect(await step(approval_id, 'dispatch')).toEqual({ ok: true, status: 'dispatched' })
  expect(await step(approval_id, 'dispatch')).toEqual({ ok: false, status: 'dispatched' })
  expect(await step(approval_id, 'returned')).toEqual({ ok: true, status: 'returned' })
  expect(itemsOf(await contentOf(gw.admin('approval.list')))).toEqual([])
  expect(itemsOf(await contentOf(gw.admin('approval.list', { agent_id, statuses: ['returned'] })))).toHaveLength(1)
})

test('several are decided at once, each told by itself', async () => {
  const { gw, ask } = await worldOf()
  const ids = [(await ask())['approval_id'], (await ask({ name: 'other' }))['approval_id']]
  await gw.admin('approval.decide', { approval_id: ids[1], decision: 'deny_continue' })
  const none = `apr_${'0'.repeat(26)}`
  const many = await contentOf(gw.admin('approval.decide_many', { approval_ids: [...ids, none], decision: 'approve' }))
  expect(itemsOf(many)).toMatchObject([
    { approval_id: ids[0], status: 'approved', error: null },
    { approval_id: ids[1], status: null, error: expect.stringContaining('conflict: too late') },
    { approval_id: none, status: null, error: expect.stringContaining('not_found') },
  ])
})

test('what a host that is gone had sent is unknown, and only a person says what became of it', async () => {
  const { gw, host, claim, ask, step } = await worldOf()
  const { approval_id } = await ask()
  await gw.admin('approval.decide', { approval_id, decision: 'approve' })
  await step(approval_id, 'dispatch')
  expect(await errorOf(gw.admin('approval.resolve', { approval_id, outcome: 'done' }))).toMatchObject({ code: 'conflict' })
  await host.call('host.release', claim)
  await host.claim()
  await expect(step(approval_id, 'returned')).rejects.toThrow('lease_lost')
  expect(await contentOf(gw.admin('approval.get', { approval_id }))).toMatchObject({ status: 'unknown' })
  expect(await contentOf(gw.admin('approval.resolve', { approval_id, outcome: 'not_done' }))).toMatchObject({ status: 'failed' })
})

test('an agent with a call that may have been made is deleted only by who says that this is meant', async () => {
  const { gw, host, claim, ask, step, agent_id } = await worldOf()
  const { approval_id } = await ask()
  await gw.admin('approval.decide', { approval_id, decision: 'approve' })
  await step(approval_id, 'dispatch')
  const refused = (state: string) => ({
    code: 'conflict',
    field: 'forget_unknown',
    message: expect.stringContaining(`${String(approval_id)} (${state})`),
  })
  expect(await errorOf(gw.admin('agent.delete', { agent_id }))).toMatchObject(refused('under way'))
  await host.call('host.release', claim)
  await host.claim()
  expect(await errorOf(gw.admin('agent.delete', { agent_id }))).toMatchObject(refused('unknown'))
  expect(await contentOf(gw.admin('agent.get', { agent_id }))).toMatchObject({ agent_id })
  expect(await contentOf(gw.admin('agent.delete', { agent_id, forget_unknown: true }))).toEqual({ agent_id, deleted: true })
})

test('an agent is deleted at once when somebody has said what became of its calls', async () => {
  const { gw, host, claim, ask, step, agent_id } = await worldOf()
  const { approval_id } = await ask()
  await gw.admin('approval.decide', { approval_id, decision: 'approve' })
  await step(approval_id, 'dispatch')
  await host.call('host.release', claim)
  await host.claim()
  await gw.admin('approval.resolve', { approval_id, outcome: 'done' })
  expect(await contentOf(gw.admin('agent.delete', { agent_id }))).toEqual({ agent_id, deleted: true })
})

test('nobody sees, decides or waits for what is somebody else’s', async () => {
  const { gw, ask } = await worldOf()
  const { approval_id } = await ask()
  await gw.admin('user.add', { username: 'eve' })
  const { token } = await mint(gw, { role: 'user', username: 'eve' })
  const eve = (tool: string, args: object = {}) => callTool(gw.gateway.url, token, tool, args)
  expect(itemsOf(await contentOf(eve('approval.list')))).toEqual([])
  for (const [tool, more] of [
    ['approval.get', {}],
    ['approval.decide', { decision: 'approve' }],
    ['approval.resolve', { outcome: 'done' }],
  ] as const)
    expect({ tool, error: await errorOf(eve(tool, { approval_id, ...more })) }).toMatchObject({
      tool,
      error: { code: 'not_found', field: 'approval_id' },
    })
  // A host asks for its own agents alone.
  const other = kept(await TestHost.open(gw, 'h2'))
  const { agent_id } = await contentOf(gw.admin('agent.create', { name: 'other' }))
  await gw.store.agents.wake(agent_id as Parameters<typeof gw.store.agents.wake>[0])
  const claim = await other.claim()
  expect(await other.call('host.approvals', { ...claim, approval_ids: [approval_id], wait_ms: 0 })).toEqual({ items: [] })
  expect(await other.call('host.approval_step', { ...claim, approval_id, step: 'dispatch' })).toEqual({ ok: false, status: null })
  expect(await other.call('host.approval_step', { ...claim, approval_id, step: 'withdraw' })).toEqual({ ok: false, status: null })
})

/** A client that has subscribed, and hears. */
async function watcherAt(gw: TestGateway) {
  const socket = await TestSocket.open(gw.gateway.ws, gw.adminToken)
  kept({
    [Symbol.asyncDispose]: async () => {
      socket.socket.close()
      await socket.closed
    },
  })
  const clientInfo = { name: 'test', version: '1' }
  await socket.call('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  return {
    subscribe: (uri: string) => socket.call('resources/subscribe', { uri }),
    updated: async (uri: string) => {
      const told = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }
      await expect.poll(() => socket.messages).toContainEqual(told)
    },
    read: async (uri: string): Promise<unknown> => {
      const { result } = await socket.call('resources/read', { uri })
      const [content] = listIn<{ text: string }>(result, 'contents')
      return JSON.parse(content?.text ?? '')
    },
  }
}

test('fault 13: whoever watches what waits is told of agents that came later, too', async () => {
  const gw = kept(await openTestGateway({ gate: 'ask' }))
  const { subscribe, updated, read } = await watcherAt(gw)
  await subscribe(PENDING)
  const { host, claim, agent_id } = await heldAt(gw)
  const ofAgent = `resource://agents/${agent_id}/approvals`
  await subscribe(ofAgent)
  const { approval_id } = await host.call('host.ask', { ...claim, ...WRITE })
  await updated(PENDING)
  await updated(ofAgent)
  const waiting = { items: [{ approval_id, agent: 'mine', mount: 'files', name: 'write', status: 'pending' }] }
  expect(await read(PENDING)).toMatchObject(waiting)
  expect(await read(ofAgent)).toMatchObject(waiting)
})

test('fault 14: what waits says when it was asked, whoever reads it and however often', async () => {
  const { gw, ask } = await worldOf()
  await ask()
  const { read } = await watcherAt(gw)
  const first = await read(PENDING)
  expect(first).toMatchObject({ items: [{ created_at: expect.any(String), expires_at: expect.any(String) }] })
  expect(await read(PENDING)).toEqual(first)
})

test('whoever watches the policies of an agent is told when one above its own changes', async () => {
  const { gw, agent_id } = await worldOf()
  const { subscribe, updated, read } = await watcherAt(gw)
  const uri = `resource://agents/${agent_id}/policy`
  await subscribe(uri)
  const text = '[[rule]]\nname = "all"\ndecision = "ask"\n'
  const { version, review } = await contentOf(gw.admin('policy.set', { layer: 'installation', text }))
  const { digest } = review as { digest: string }
  await gw.admin('policy.activate', { layer: 'installation', version, digest })
  await updated(uri)
  expect(await read(uri)).toMatchObject({ active: 'installation:1' })
})

test('what cannot be asked is refused with its field', async () => {
  const { ask } = await worldOf()
  await expect(ask({ arguments_json: '{' })).rejects.toThrow('invalid_argument')
  await expect(ask({ arguments_json: '9007199254740993' })).rejects.toThrow('invalid_argument')
  await expect(ask({ kind: 'proposal' })).rejects.toThrow('invalid_argument')
})

import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'

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

/** A gateway, and a host that holds one agent. */
async function worldOf() {
  const gw = kept(await openTestGateway({ gate: 'ask' }))
  const host = kept(await TestHost.open(gw))
  const agent_id = String((await contentOf(gw.admin('agent.create', { name: 'mine' })))['agent_id'])
  await gw.store.agents.wake(agent_id as Parameters<typeof gw.store.agents.wake>[0])
  const claim = await host.claim()
  const ask = (more: object = {}) => host.call('host.ask', { ...claim, ...WRITE, ...more })
  const step = (approval_id: unknown, name: string) => host.call('host.approval_step', { ...claim, approval_id, step: name })
  return { gw, host, claim, ask, step, agent_id }
}

test('what is asked is listed without its secrets, decided once, sent once, and told to the host that waits', async () => {
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

test('whoever watches what waits is told when something comes, and what cannot be asked is refused with its field', async () => {
  const { ask } = await worldOf()
  await expect(ask({ arguments_json: '{' })).rejects.toThrow('invalid_argument')
  await expect(ask({ arguments_json: '9007199254740993' })).rejects.toThrow('invalid_argument')
  await expect(ask({ kind: 'proposal' })).rejects.toThrow('invalid_argument')
})

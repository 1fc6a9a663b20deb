import { randomBytes } from 'node:crypto'
import { dialFrames, type FrameLink } from '@parley/rpc/frame'
import { expect, onTestFinished, test } from 'vitest'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'
import { type TestClaim, TestHost } from '../fixture/test-host.ts'
import { TestSocket } from '../fixture/wires.ts'

const tunnel = (gw: TestGateway, query: string, more: Parameters<typeof dialFrames>[0] | object): Promise<FrameLink> =>
  dialFrames({ url: `${gw.gateway.url.replace('http', 'ws')}/api/tunnel${query}`, ...more })

/** An executor that dials back whenever it is asked to. */
async function executorAt(gw: TestGateway, name: string): Promise<void> {
  const { token } = await mint(gw, { role: 'executor', name })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  onTestFinished(async () => {
    socket.socket.close()
    await socket.closed
  })
  socket.socket.on('message', (data: Buffer) => {
    const { method, params } = JSON.parse(data.toString('utf8'))
    if (method !== 'open') return
    void tunnel(gw, '', { token, headers: { 'parley-ticket': params.ticket } }).then((link) => {
      link.open({ text: (text) => link.send(`${name} heard ${text}`), fault: () => undefined, ended: () => undefined })
    })
  })
  const facts = { version: '1', os: 'linux', arch: 'x64', cores: 1 }
  const load = { sessions: 0, running: 0, processes: [] }
  await socket.call('tools/call', {
    name: 'worker.heartbeat',
    arguments: { instance: randomBytes(16).toString('hex'), slots: 2, facts, load },
  })
}

/** Ann's agent, held by a host, and two executors. */
async function installation() {
  const gw = await openTestGateway()
  onTestFinished(() => gw[Symbol.asyncDispose]())
  await gw.admin('user.add', { username: 'ann' })
  const { token } = await mint(gw, { role: 'user', username: 'ann' })
  const made = await callTool(gw.gateway.url, token, 'agent.create', { name: 'hers' })
  const id = String(made.structuredContent?.['agent_id'])
  await executorAt(gw, 'box')
  await executorAt(gw, 'other')
  const host = await TestHost.open(gw)
  onTestFinished(() => host[Symbol.asyncDispose]())
  const grant = (executors: readonly string[]) => gw.admin('grant.set', { username: 'ann', executors })
  const ask = (claim: Partial<TestClaim>, executor = 'box', as = host.token): Promise<FrameLink> =>
    tunnel(gw, `?${new URLSearchParams({ executor, ...claim })}`, { token: as })
  const claimed = async (): Promise<TestClaim> => {
    await gw.store.agents.wake(id as Parameters<typeof gw.store.agents.wake>[0])
    return host.claim()
  }
  return { gw, id, host, grant, ask, claimed, annToken: token }
}

test('a host reaches an executor for an agent that it holds, where the owner was granted that one; both are written down', async () => {
  const { gw, id, grant, ask, claimed } = await installation()
  const claim = await claimed()
  await expect(ask(claim)).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('must be granted to its owner'),
  })
  await grant(['box'])
  const link = await ask(claim)
  const heard = Promise.withResolvers<string>()
  link.open({ text: heard.resolve, fault: () => undefined, ended: () => undefined })
  link.send('hello')
  expect(await heard.promise).toBe('box heard hello')
  link.close()
  await expect(ask(claim, 'other')).rejects.toMatchObject({ status: 403 })
  const lines = await gw.admin('audit.search', { action: 'tunnel.open' })
  const line = (outcome: string, executor: string) =>
    expect.objectContaining({ actor: 'h1', role: 'host', outcome, target: `${executor} for ${id}` })
  expect(lines.structuredContent?.['items']).toEqual([line('denied', 'other'), line('ok', 'box'), line('denied', 'box')])
})

test('without a claim that holds, a host reaches nothing; nobody but a host may show one', async () => {
  const { gw, id, host, grant, ask, claimed, annToken } = await installation()
  await grant(['*'])
  const claim = await claimed()
  for (const wrong of [{}, { agent_id: id }, { ...claim, agent_id: 'agt_x' }, { ...claim, claim_id: '-1' }])
    await expect(ask(wrong)).rejects.toMatchObject({ status: 400 })
  await expect(ask({ ...claim, claim_id: String(Number(claim.claim_id) + 1) })).rejects.toMatchObject({ status: 403 })
  await expect(ask(claim, 'box', annToken)).rejects.toMatchObject({ status: 403 })
  const other = await TestHost.open(gw, 'h2')
  onTestFinished(() => other[Symbol.asyncDispose]())
  await expect(ask(claim, 'box', other.token)).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('does not hold'),
  })
  await expect(ask(claim, 'nobody')).rejects.toMatchObject({ status: 404 })
  await host.call('host.release', { ...claim, asleep: true })
  await expect(ask(claim)).rejects.toMatchObject({ status: 403, message: expect.stringContaining('does not hold') })
  const again = await claimed()
  await gw.admin('agent.delete', { agent_id: id })
  await expect(ask(again)).rejects.toMatchObject({ status: 403, message: expect.stringContaining('does not hold') })
})

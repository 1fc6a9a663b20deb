import { callsLog } from '@parley/store'
import { ENGINES, type TestEngine, execute, startEngine } from '@parley/store/testing'
import { AgentId } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'
import { TestHost } from '../fixture/test-host.ts'

const kept = keeping()

describe.each(ENGINES)('audit.verify on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  /** An agent of somebody's, and what a host wrote of its calls. */
  async function agentWith(gw: TestGateway, at: TestHost, batches: readonly string[][], token = gw.adminToken) {
    const { structuredContent } = await callTool(gw.gateway.url, token, 'agent.create')
    const id = AgentId.parse(structuredContent?.['agent_id'])
    await gw.store.agents.wake(id)
    const claim = await at.claim()
    let offset = 0
    for (const lines of batches) offset = Number((await at.call('host.append_calls', { ...claim, offset, lines }))['next_offset'])
    return { id, claim, offset }
  }
  const opened = async (now?: () => number) => {
    const url = await host.migratedUrl()
    const gw = kept(await openTestGateway({}, url, now))
    return { url, gw, at: kept(await TestHost.open(gw)) }
  }
  const found = async (answer: ReturnType<TestGateway['admin']>) => (await answer).structuredContent

  test('an admin proves the logs of all, an owner those of their own, and a fault is named with its agent', async () => {
    const { url, gw, at } = await opened()
    await gw.admin('user.add', { username: 'ann' })
    const { token } = await mint(gw, { role: 'user', username: 'ann' })
    const hers = await agentWith(gw, at, [['{"n":1}', '{"n":2}'], ['{"n":3}']], token)
    const own = await agentWith(gw, at, [['{"n":4}']])
    const whole = { agents: 2, lines: 4, not_chained: 0, since: expect.any(String), faults: [], next_cursor: null }
    expect(await found(gw.admin('audit.verify'))).toEqual(whole)
    expect(await found(gw.admin('audit.verify', { agent_id: hers.id }))).toEqual({ ...whole, agents: 1, lines: 3 })
    const asAnn = (args: object = {}) => callTool(gw.gateway.url, token, 'audit.verify', args)
    expect((await asAnn()).structuredContent).toEqual({ ...whole, agents: 1, lines: 3 })
    expect((await asAnn({ agent_id: own.id }))._meta).toMatchObject({ 'parley/error': { code: 'not_found' } })
    expect((await gw.admin('audit.verify', { cursor: 'x' }))._meta).toMatchObject({
      'parley/error': { code: 'invalid_argument' },
    })

    const log = `(SELECT id FROM logs WHERE name = '${callsLog(hers.id)}')`
    await execute(url, `UPDATE log_entries SET bytes = $1 WHERE seq = 1 AND log_id = ${log}`, [Buffer.from('{"n":9}\n')])
    const fault = {
      agent_id: hers.id,
      offset: 16,
      kind: 'changed',
      message: expect.stringContaining('not the one'),
      agent: 'default',
    }
    expect(await found(gw.admin('audit.verify'))).toEqual({ ...whole, lines: 3, faults: [fault] })
    await gw.admin('agent.delete', { agent_id: hers.id })
    expect(await gw.store.logs.chained(callsLog(hers.id))).toBeUndefined()
    expect(await found(gw.admin('audit.verify'))).toEqual({ ...whole, agents: 1, lines: 1 })
  })

  test('a long log is walked along in pieces', async () => {
    const { gw, at } = await opened()
    const line = JSON.stringify({ text: 'x'.repeat(60_000) })
    const lines = Array.from({ length: 20 }, () => line)
    await agentWith(
      gw,
      at,
      Array.from({ length: 8 }, () => lines),
    )
    await agentWith(gw, at, [['{}']])
    const all = { agents: 0, lines: 0 }
    let pieces = 0
    for (let cursor: object = {}; ; pieces += 1) {
      const piece = await found(gw.admin('audit.verify', cursor))
      expect(piece?.['faults']).toEqual([])
      all.agents += Number(piece?.['agents'])
      all.lines += Number(piece?.['lines'])
      if (piece?.['next_cursor'] === null) break
      cursor = { cursor: piece?.['next_cursor'] }
    }
    expect(all).toEqual({ agents: 2, lines: 161 })
    expect(pieces).toBeGreaterThan(0)
  })

  test('a log of calls that is full goes on: the agent still calls, and who reads from what is gone is told where it begins', async () => {
    const { url, gw, at } = await opened()
    const { id, claim, offset } = await agentWith(gw, at, [['{"n":1}'], ['{"n":2}']])
    await execute(url, 'UPDATE logs SET max_bytes = $1 WHERE name = $2', [offset, callsLog(id)])
    const next = await at.call('host.append_calls', { ...claim, offset, lines: ['{"n":3}'] })
    expect(next).toEqual({ ok: true, next_offset: offset + 8 })
    const read = (more: object = {}) => gw.admin('agent.read_log', { agent_id: id, log: 'calls', ...more })
    const { start, lines } = (await found(read())) ?? {}
    expect(start).toBeGreaterThan(0)
    expect(JSON.stringify(lines)).toContain('{\\"n\\":3}')
    expect(await found(read({ offset: start }))).toMatchObject({ offset: start, lines, end: offset + 8 })
    for (const gone of [0, Number(start) - 8])
      expect((await read({ offset: gone }))._meta).toMatchObject({
        'parley/error': {
          code: 'not_found',
          field: 'offset',
          message: expect.stringContaining(`begins at ${Number(start)} now`),
        },
      })
    expect(await found(gw.admin('audit.verify'))).toMatchObject({ agents: 1, faults: [] })
  })

  test('what is older than 90 days is let go of, and the rest stays proved', async () => {
    let daysAgo = 100
    const { gw, at } = await opened(() => Date.now() - daysAgo * 86_400_000)
    const { id, offset } = await agentWith(gw, at, [['{"n":1}']])
    daysAgo = 40
    // Its lease has run out meanwhile.
    await at.call('host.append_calls', { ...(await at.claim()), offset, lines: ['{"n":2}'] })
    daysAgo = 0
    await gw.restart()
    await expect.poll(() => gw.store.logs.start(callsLog(id))).toEqual({ seq: 1, offset })
    expect(await found(gw.admin('audit.verify'))).toMatchObject({ agents: 1, lines: 1, not_chained: 0, faults: [] })
  })
})

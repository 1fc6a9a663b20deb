import { CallId } from '@parley/protocol'
import { expect, test } from 'vitest'
import { keeping } from '../../fixture/keeping.ts'
import { TestHost } from '../../fixture/test-host.ts'
import { type TestGateway, openTestGateway } from '../../fixture/test-gateway.ts'
import { TestSocket } from '../../fixture/wires.ts'

const kept = keeping()

const contentOf = async (reply: ReturnType<TestGateway['admin']>) => (await reply).structuredContent ?? {}
const idOf = (digit: number) => CallId.parse(`cal_${`${digit}`.repeat(26)}`)
const RETURNED = { state: 'returned', result: '{"content":[]}', is_cut: false, is_error: false, message: '' } as const

async function heldAgent() {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  const created = await contentOf(gw.admin('agent.create', { kind: 'local', model: 'small', name: 'helper' }))
  const agent_id = String(created['agent_id'])
  await gw.admin('agent.prompt', { agent_id, text: 'wake' })
  return { gw, host, agent_id, claim: await host.claim() }
}

const begun = (digit: number) => ({ call_id: idOf(digit), tool: 'kit_echo', arguments_json: '{"text":"x"}' })

test('a background call is a resource of its agent: who watches it is told when it ends, and reads what came of it', async () => {
  const { gw, host, agent_id, claim } = await heldAgent()
  const uri = `resource://agents/${agent_id}/calls/${idOf(1)}`
  const { call } = await host.call('host.call_begin', { ...claim, ...begun(1) })
  expect(call).toMatchObject({ call_id: idOf(1), uri, tool: 'kit_echo', state: 'running', ended_at: null })
  const socket = await TestSocket.open(gw.gateway.ws, gw.adminToken)
  await socket.call('resources/subscribe', { uri })
  await host.call('host.call_end', { ...claim, call_id: idOf(1), end: RETURNED })
  await expect.poll(() => socket.messages).toContainEqual(expect.objectContaining({ params: { uri } }))
  const read = async () => {
    const { result } = await socket.call('resources/read', { uri })
    return JSON.parse((result as { contents: { text: string }[] }).contents[0]?.text ?? '')
  }
  expect(await read()).toMatchObject({ state: 'returned', result: RETURNED.result, ended_at: expect.any(String) })
  expect(await host.call('host.call_get', { ...claim, call_id: idOf(1) })).toMatchObject({ result: RETURNED.result })
  expect(await host.call('host.calls', claim)).toMatchObject({ items: [{ call_id: idOf(1) }] })
  socket.socket.close()
})

test('a host that takes an agent over finds what was left as unknown, and the old one says nothing more', async () => {
  const { host, claim } = await heldAgent()
  await host.call('host.call_begin', { ...claim, ...begun(1) })
  await host.call('host.release', claim)
  const next = await host.claim()
  expect(await host.call('host.call_get', { ...next, call_id: idOf(1) })).toMatchObject({
    call: { state: 'unknown', message: expect.stringContaining('may have taken effect') },
    result: null,
  })
  await expect(host.call('host.call_end', { ...claim, call_id: idOf(1), end: RETURNED })).rejects.toThrow('lease_lost')
  await expect(host.call('host.call_end', { ...next, call_id: idOf(1), end: RETURNED })).rejects.toThrow('conflict')
})

test('one too many, one that is not there and one of somebody else are refused in words', async () => {
  const { gw, host, agent_id, claim } = await heldAgent()
  for (let digit = 0; digit < 10; digit++) await host.call('host.call_begin', { ...claim, ...begun(digit) })
  for (const letter of 'abcdef') {
    const call_id = CallId.parse(`cal_${letter.repeat(26)}`)
    await host.call('host.call_begin', { ...claim, ...begun(1), call_id })
  }
  const late = CallId.parse(`cal_${'z'.repeat(26)}`)
  await expect(host.call('host.call_begin', { ...claim, ...begun(1), call_id: late })).rejects.toThrow('quota_exceeded')
  await expect(host.call('host.call_get', { ...claim, call_id: late })).rejects.toThrow('not_found')
  await gw.admin('user.add', { username: 'bob' })
  const { token } = await contentOf(gw.admin('token.create', { role: 'user', username: 'bob', name: 'b' }))
  const socket = await TestSocket.open(gw.gateway.ws, String(token))
  for (const call of [idOf(1), late, 'nothing'])
    expect(await socket.call('resources/read', { uri: `resource://agents/${agent_id}/calls/${call}` })).toMatchObject({
      error: { message: 'there is no such resource' },
    })
  socket.socket.close()
})

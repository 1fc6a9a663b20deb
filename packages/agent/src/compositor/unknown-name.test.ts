import { expect, test } from 'vitest'
import { gateOf, recorderOf } from './fixture/gate-probe.ts'
import { ProbeServer, tool } from './fixture/probe-server.ts'
import { openTestCompositor, textOf } from './fixture/test-compositor.ts'

const UNKNOWN = { code: -32602, message: 'Unknown tool: m_nope', data: { field: 'name' } }

test('what a server does not list is unknown at once: nobody is asked about it, and nothing is sent or written down', async () => {
  const { asked, gate } = gateOf(() => ({ kind: 'allow' }))
  const { events, recorder } = recorderOf()
  await using world = await openTestCompositor({ gate, recorder })
  const probe = new ProbeServer()
  world.mount(probe, { name: 'm', tools: { renamed: { echo: 'say' } } })
  const client = await world.client({ era: 'legacy' })
  await expect(client.callToolRaw('m_nope', {})).rejects.toMatchObject(UNKNOWN)
  await expect(client.request('prompts/get', { name: 'm_nope' })).rejects.toMatchObject({ message: 'Unknown prompt: m_nope' })
  expect(asked).toEqual([])
  expect(events).toEqual([])
  expect(probe.heard.filter((each) => !each.endsWith('/list'))).toEqual([])
  expect(textOf(await client.callToolRaw('m_say', {}))).toBe('echo {}')
})

test('a server that got another tool without telling is asked anew before the tool is refused', async () => {
  await using world = await openTestCompositor()
  const probe = new ProbeServer()
  world.mount(probe, { name: 'm' })
  const client = await world.client({ era: 'legacy' })
  await expect(client.callToolRaw('m_nope', {})).rejects.toMatchObject(UNKNOWN)
  probe.tools = [...probe.tools, tool('nope')]
  expect(textOf(await client.callToolRaw('m_nope', {}))).toBe('nope {}')
  expect(probe.count('tools/list')).toBe(2)
})

test.each([
  ['cannot be read', (probe: ProbeServer) => (probe.answers['tools/list'] = () => ({ tools: 'none' }))],
  ['is read in part', (probe: ProbeServer) => (probe.pageItems = 1)],
])('where a list %s, nobody knows what is not there: the call is made', async (_why, prepare) => {
  await using world = await openTestCompositor({ limits: { listPages: 1 } })
  const probe = new ProbeServer()
  prepare(probe)
  world.mount(probe, { name: 'm' })
  const client = await world.client({ era: 'legacy' })
  expect(textOf(await client.callToolRaw('m_nope', {}))).toBe('nope {}')
})

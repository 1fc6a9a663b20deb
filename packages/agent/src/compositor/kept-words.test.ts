import { ByteRoom, RpcError } from '@parley/protocol'
import { expect, test } from 'vitest'
import { openTestCompositor, readOwn, toolsOf } from './fixture/test-compositor.ts'
import { ProbeServer } from './fixture/probe-server.ts'

const LONG = 'x'.repeat(300_000)

test('of the words of a server as much is kept as has a bound, and what is told of mounts stays readable', async () => {
  await using world = await openTestCompositor()
  const probe = new ProbeServer()
  probe.info = { name: LONG, version: LONG }
  probe.instructions = LONG
  for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])
    probe.answers[method] = () => {
      throw new RpcError('internal_error', LONG)
    }
  world.mount(probe, { name: 'm' })
  const client = await world.client()
  expect(await toolsOf(client)).toEqual([])
  await client.request('prompts/list')
  await client.request('resources/list')
  const state = await readOwn(client, 'compositor://m/state')
  expect(state).toMatchObject({ state: 'active', server: { name: expect.stringMatching(/^x{256}…$/) } })
  expect(JSON.stringify(state).length).toBeLessThan(20_000)
})

test('why a mount cannot be reached is kept in part', async () => {
  await using world = await openTestCompositor()
  const probe = new ProbeServer()
  probe.refusal = LONG
  world.mount(probe, { name: 'm', eager: true })
  await expect.poll(() => world.compositor.mounts()[0]?.last_error).toMatch(/^x{4096}…$/)
})

test('a name that is too long to be shown is told in part', async () => {
  await using world = await openTestCompositor()
  const probe = new ProbeServer()
  probe.tools = [{ name: LONG, inputSchema: { type: 'object' } }]
  world.mount(probe, { name: 'm' })
  const client = await world.client()
  expect(await toolsOf(client)).toEqual([])
  expect(await readOwn(client, 'compositor://m/state')).toMatchObject({
    left_out: [{ name: expect.stringMatching(/^x{256}…$/) }],
  })
})

const wide = (): ProbeServer => {
  const probe = new ProbeServer()
  probe.tools = [{ name: 'wide', inputSchema: { type: 'object' }, description: 'y'.repeat(10_000) }]
  return probe
}

test('a mount whose list takes more than a mount may fails with words, and the others are listed', async () => {
  await using world = await openTestCompositor({ limits: { listBytesPerMount: 5_000 } })
  world.mount(wide(), { name: 'wide' })
  world.mount(new ProbeServer(), { name: 'm' })
  expect(await toolsOf(await world.client())).toEqual(['m_echo', 'm_ask', 'm_hang'])
  expect(world.compositor.mounts()[0]?.problems).toEqual([
    'tools/list failed: it takes more than the 5000 bytes that listBytesPerMount allows',
  ])
})

test('the lists of all mounts of an agent have one room, and a mount that goes gives back what it had', async () => {
  await using world = await openTestCompositor({ limits: { listBytes: 15_000 } })
  world.mount(wide(), { name: 'one' })
  const client = await world.client()
  expect(await toolsOf(client)).toEqual(['one_wide'])
  world.mount(wide(), { name: 'two' })
  expect(await toolsOf(client)).toEqual(['one_wide'])
  expect(world.compositor.mounts()[1]?.problems[0]).toContain('beside what other mounts list')
  await world.compositor.detach('one')
  expect(await toolsOf(client)).toEqual(['two_wide'])
})

test('agents that share a room keep no more together than it has, and one that is let go of gives back what it had', async () => {
  const room = new ByteRoom({ bytes: 15_000, bytesPerOwner: 15_000 })
  const keptShare = () => room.share('ann')
  {
    await using first = await openTestCompositor({ keptShare })
    first.mount(wide(), { name: 'm' })
    expect(await toolsOf(await first.client())).toEqual(['m_wide'])
    await using second = await openTestCompositor({ keptShare })
    second.mount(wide(), { name: 'm' })
    expect(await toolsOf(await second.client())).toEqual([])
  }
  expect(room.share('bob').hold(15_000)).toBe(true)
})

import { type Client, httpTransport } from '@parley/rpc'
import { openSdk1Http, spawnServer } from '@parley/rpc/testing'
import { describe, expect, test } from 'vitest'
import { ProbeServer, tool } from './fixture/probe-server.ts'
import { openTestCompositor, readOwn, textOf, toolsOf } from './fixture/test-compositor.ts'

const never = () => new Promise<never>(() => {})
const stateOf = (world: Awaited<ReturnType<typeof openTestCompositor>>, name: string) =>
  world.compositor.mounts().find((mount) => mount.name === name)

/** From now on it is written down which lists are told as changed. */
async function listening(client: Client, told: string[]): Promise<void> {
  client.watchLists((kind) => told.push(kind))
  await client.listTools()
}

describe('a mount that is slow or dead delays nobody', () => {
  test('a call that takes longer than its mount may is cancelled there, whatever it tells of its progress', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    const cancelled = Promise.withResolvers<void>()
    probe.answers['hang'] = async (_params, call) => {
      let done = 0
      const working = setInterval(() => call.progress((done += 1)), 5)
      await new Promise<void>((resolve) => call.cancellation.addEventListener('abort', () => resolve(), { once: true }))
      clearInterval(working)
      cancelled.resolve()
      return { content: [] }
    }
    world.mount(probe, { name: 'm', callTimeoutMs: 500 })
    const client = await world.client()
    let progress = 0
    await expect(client.callToolRaw('m_hang', {}, { onProgress: () => (progress += 1) })).rejects.toThrow(
      'mount m: the call took longer than 500 ms, the most that its option call_timeout_ms allows',
    )
    expect(progress).toBeGreaterThan(0)
    await cancelled.promise
    expect(textOf(await client.callToolRaw('m_echo', {}))).toBe('echo {}')
  })

  test('fault 26: one that hangs is left out of a list in time, its state says so, and its list is told when it comes', async () => {
    await using world = await openTestCompositor({ limits: { listMs: 30 } })
    const [slow, quick] = [new ProbeServer(), new ProbeServer()]
    const late = Promise.withResolvers<void>()
    slow.answers['tools/list'] = () => late.promise.then(() => ({ tools: [tool('late')] }))
    world.mount(slow, { name: 'slow' })
    world.mount(quick, { name: 'quick' })
    const client = await world.client({ era: 'legacy' })
    const told: string[] = []
    await listening(client, told)
    expect(await toolsOf(client)).toEqual(['quick_echo', 'quick_ask', 'quick_hang'])
    expect(await readOwn(client, 'compositor://slow/state')).toMatchObject({
      state: 'active',
      problems: ['tools/list was not answered within 30 ms'],
    })
    told.length = 0
    late.resolve()
    await expect.poll(() => told).toContain('tools')
    expect(await toolsOf(client)).toEqual(['slow_late', 'quick_echo', 'quick_ask', 'quick_hang'])
    expect(stateOf(world, 'slow')?.problems).toEqual([])
    expect(slow.count('tools/list')).toBe(1)
  })

  test('one that cannot be started is tried without end, and says why; it is shown when it is there', async () => {
    await using world = await openTestCompositor()
    const [dead, alive] = [new ProbeServer(), new ProbeServer()]
    dead.refusal = 'no such program'
    world.mount(dead, { name: 'dead', eager: true })
    world.mount(alive, { name: 'alive' })
    const client = await world.client({ era: 'legacy' })
    const told: string[] = []
    await listening(client, told)
    await expect.poll(() => dead.connects).toBeGreaterThan(4)
    expect(await toolsOf(client)).toEqual(['alive_echo', 'alive_ask', 'alive_hang'])
    expect(stateOf(world, 'dead')).toMatchObject({ last_error: 'no such program', tools: [] })
    await expect(client.callToolRaw('dead_echo', {})).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^mount dead is not there .*: no such program$/),
    })
    told.length = 0
    dead.refusal = undefined
    await expect.poll(() => stateOf(world, 'dead')?.state).toBe('active')
    await expect.poll(() => told).toContain('tools')
    expect(await toolsOf(client)).toContain('dead_echo')
  })

  test('one whose connection never comes is given up in time', async () => {
    await using world = await openTestCompositor({ limits: { startMs: 30, listMs: 10 } })
    world.mount(never, { name: 'never' })
    const client = await world.client()
    expect(await toolsOf(client)).toEqual([])
    await expect.poll(() => stateOf(world, 'never')?.last_error).toBe('no connection within 30 ms')
    await expect(client.callToolRaw('never_x', {})).rejects.toMatchObject({ code: -32603 })
  })

  test('a mount starts when it is first needed', async () => {
    await using world = await openTestCompositor()
    const [lazy, eager] = [new ProbeServer(), new ProbeServer()]
    world.mount(lazy, { name: 'lazy' })
    world.mount(eager, { name: 'eager', eager: true })
    await expect.poll(() => eager.connects).toBe(1)
    expect([lazy.connects, stateOf(world, 'lazy')?.state]).toEqual([0, 'pending'])
    const client = await world.client()
    await client.callToolRaw('lazy_echo', {})
    expect(lazy.connects).toBe(1)
  })

  test('lists are asked for once, and again when the server tells of a change', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    for (let times = 0; times < 3; times++) await client.listTools()
    expect(probe.count('tools/list')).toBe(1)
    probe.changed('tools')
    await expect.poll(async () => (await client.listTools(), probe.count('tools/list'))).toBe(2)
  })

  test('the list of a server that tells of no change is asked for again after a while', async () => {
    let time = 0
    await using world = await openTestCompositor({ now: () => time, limits: { untoldListMs: 100 } })
    const probe = new ProbeServer()
    probe.capabilities = { tools: {} }
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    await client.listTools()
    await client.listTools()
    expect(probe.count('tools/list')).toBe(1)
    time = 200
    await client.listTools()
    expect(probe.count('tools/list')).toBe(2)
  })
})

describe('a mount that dies', () => {
  test('a call under way at its death fails, may or may not have run, and is never sent again', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    const call = client.callToolRaw('m_hang', {})
    await expect.poll(() => probe.count('tools/call hang')).toBe(1)
    probe.die()
    await expect(call).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^mount m: .*may or may not have run/),
    })
    await expect.poll(() => client.callToolRaw('m_echo', {}).then(textOf, String)).toBe('echo {}')
    expect(probe.count('tools/call hang')).toBe(1)
    expect(stateOf(world, 'm')).toMatchObject({ state: 'active', restarts: 1, last_error: expect.stringContaining('killed') })
  })

  test.each(['legacy', 'modern'] as const)(
    'fault 17: it is started again, asked for all subscriptions of a %s client, and lists and resources are told',
    async (era) => {
      await using world = await openTestCompositor()
      const probe = new ProbeServer()
      world.mount(probe, { name: 'm', era })
      const client = await world.client({ era })
      const told: string[] = []
      await listening(client, told)
      let updates = 0
      await client.subscribe('test://m/doc', () => updates++)
      // The server is asked with its own URI.
      expect([...probe.watched.keys()]).toEqual(['test://doc'])
      told.length = 0
      probe.die()
      await expect.poll(() => updates).toBe(1)
      await expect.poll(() => told.toSorted()).toEqual(expect.arrayContaining(['prompts', 'resources', 'tools']))
      expect([...probe.watched.keys()]).toEqual(['test://doc'])
      probe.touch('test://doc')
      await expect.poll(() => updates).toBe(2)
    },
  )

  test('a process that is killed is started again, and nothing that was sent to it is repeated', async () => {
    const spawned: ReturnType<typeof spawnServer>[] = []
    await using world = await openTestCompositor()
    const spawn = () => {
      const server = spawnServer('sdk1-stdio-main.ts')
      spawned.push(server)
      return server.transport
    }
    world.mount(spawn, { name: 'm' })
    try {
      const client = await world.client()
      expect(textOf(await client.callToolRaw('m_act', { mark: 'before' }))).toBe('1')
      const call = client.callToolRaw('m_hang', { mark: 'x' })
      await client.callToolRaw('m_echo', { text: 'the call before is on its way' })
      spawned[0]?.child.kill('SIGKILL')
      await expect(call).rejects.toMatchObject({ message: expect.stringContaining('may or may not have run') })
      await expect.poll(() => client.callToolRaw('m_cancelled', {}).then(textOf, String)).toBe('')
      expect(textOf(await client.callToolRaw('m_act', { mark: 'after' }))).toBe('1')
      expect(spawned).toHaveLength(2)
    } finally {
      for (const server of spawned) await server[Symbol.asyncDispose]()
    }
  })

  test('its last list is shown while it is away', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    await client.listTools()
    probe.refusal = 'not now'
    probe.die()
    await expect.poll(() => stateOf(world, 'm')?.last_error).toBe('not now')
    expect(await toolsOf(client)).toEqual(['m_echo', 'm_ask', 'm_hang'])
  })

  test('detaching ends its calls and leaves nothing behind; what is attached anew under its name is another mount', async () => {
    await using world = await openTestCompositor()
    const [first, second] = [new ProbeServer(), new ProbeServer()]
    world.mount(first, { name: 'm' })
    const client = await world.client({ era: 'modern', capabilities: { elicitation: {} } })
    const asked = await client.exchange('tools/call', { name: 'm_ask', arguments: {} })
    expect(asked.result).toMatchObject({ resultType: 'input_required' })
    const call = client.callToolRaw('m_hang', {})
    await expect.poll(() => first.count('tools/call hang')).toBe(1)
    expect(await world.compositor.detach('m')).toBe(true)
    expect(await world.compositor.detach('m')).toBe(false)
    await expect(call).rejects.toMatchObject({ message: expect.stringContaining('may or may not have run') })
    await expect(client.callToolRaw('m_echo', {})).rejects.toMatchObject({ message: 'Unknown tool: m_echo' })
    world.mount(second, { name: 'm' })
    const retry = {
      name: 'm_ask',
      arguments: {},
      requestState: asked.result.requestState,
      inputResponses: { who: { action: 'accept' } },
    }
    await expect(client.exchange('tools/call', retry)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('is gone'),
    })
    expect(second.count('tools/call ask')).toBe(0)
  })

  test('a session that its server forgot is opened anew unseen, and a call that may have run is not repeated', async () => {
    await using server = await openSdk1Http()
    await using world = await openTestCompositor()
    world.mount(() => httpTransport({ url: server.url }), { name: 'm', era: 'legacy' })
    const client = await world.client()
    let updates = 0
    await client.subscribe('test://m/doc', () => updates++)
    server.forget()
    expect(await client.readResource('test://m/doc')).toMatchObject({ contents: [{ text: 'words' }] })
    expect([server.initialized(), stateOf(world, 'm')?.restarts]).toEqual([2, 0])
    await expect.poll(() => updates).toBeGreaterThan(0)
    expect(textOf(await client.callToolRaw('m_touch', { uri: 'test://doc' }))).toBe('test://doc')
  })

  test('errors of connecting are shown, and nothing else that the port knows', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.refusal = 'exit code 1'
    world.mount(probe, { name: 'm', eager: true })
    await expect.poll(() => stateOf(world, 'm')?.last_error).toBe('exit code 1')
    expect(Object.keys(stateOf(world, 'm') ?? {}).toSorted()).toEqual(
      ['era', 'last_error', 'left_out', 'name', 'plain', 'problems', 'restarts', 'server', 'since', 'state', 'tools'].toSorted(),
    )
  })
})

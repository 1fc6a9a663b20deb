import { describe, expect, test } from 'vitest'
import { ProbeServer, said, tool } from './fixture/probe-server.ts'
import { namesIn, openTestCompositor, readOwn, textOf, toolsOf } from './fixture/test-compositor.ts'

describe('names', () => {
  test('two mounts with the same tools are told apart, and a call reaches the one that it names', async () => {
    await using world = await openTestCompositor()
    const [one, other] = [new ProbeServer(), new ProbeServer()]
    world.mount(one, { name: 'one' })
    world.mount(other, { name: 'other' })
    const client = await world.client()
    expect(await toolsOf(client)).toEqual(['one_echo', 'one_ask', 'one_hang', 'other_echo', 'other_ask', 'other_hang'])
    expect(textOf(await client.callToolRaw('other_echo', { x: 1 }))).toBe('echo {"x":1}')
    expect([one.count('tools/call echo'), other.count('tools/call echo')]).toEqual([0, 1])
  })

  test('fault 3: reserved, wrong, taken and too many names cannot be mounted', async () => {
    await using world = await openTestCompositor({ limits: { mounts: 2 } })
    const attach = (name: string, plain = false) => world.mount(new ProbeServer(), { name, plain })
    for (const name of ['resources', 'loop', 'tools', 'chat', 'policy', 'guard', 'compositor'])
      expect(() => attach(name)).toThrow('which is reserved')
    for (const name of ['', 'A', '1a', 'a_b', 'a/b', 'resources_evil', 'é', 'a'.repeat(65)])
      expect(() => attach(name)).toThrow('must be a-z, 0-9 and -')
    attach('one', true)
    expect(() => attach('one')).toThrow('one is mounted already')
    expect(() => attach('two', true)).toThrow('one is the plain mount')
    attach('two')
    expect(() => attach('three')).toThrow('there are 2 mounts')
  })

  test('resources, templates and prompts are chosen and denied, and what is not shown is not given', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.prompts = [{ name: 'greet' }, { name: 'secret-one' }, { name: 'secret-two' }]
    probe.resources = ['test://doc', 'test://doc/two', 'test://other'].map((uri) => ({ uri, name: uri }))
    world.mount(probe, {
      name: 'm',
      resources: { only: ['test://doc*'], without: ['test://doc/two'] },
      prompts: { without: ['secret-*'] },
    })
    const client = await world.client()
    const shown = async (method: string) => JSON.stringify(await client.request(method, {}))
    expect(await shown('resources/list')).toContain('test://m/doc"')
    expect(await shown('resources/list')).not.toMatch(/two|other/)
    expect(await shown('resources/templates/list')).not.toContain('people')
    expect(await shown('prompts/list')).not.toContain('secret')
    expect(JSON.stringify(await client.readResource('test://m/doc'))).toContain('words of test://doc')
    for (const uri of ['test://m/doc/two', 'test://m/other', 'test://m/people/ada']) {
      await expect(client.readResource(uri)).rejects.toThrow(`Resource not found: ${uri}`)
      await expect(client.subscribe(uri, () => {})).rejects.toThrow(uri)
    }
    await expect(client.request('prompts/get', { name: 'm_secret-one' })).rejects.toThrow('Unknown prompt: m_secret-one')
    expect(probe.heard.filter((each) => /two|other|people|secret/.test(each))).toEqual([])
  })

  test('tools are chosen, denied and renamed, and what is not shown cannot be called', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.tools = ['a', 'b', 'c', 'd', 'constructor', '__proto__', 'has space', 'x'.repeat(127), 'a'].map((name) => tool(name))
    world.mount(probe, {
      name: 'm',
      tools: { only: ['a', 'b', 'c', 'd', 'constructor', 'has space', 'x'.repeat(127)], without: ['c'], renamed: { a: 'd' } },
    })
    const client = await world.client()
    expect(await toolsOf(client)).toEqual(['m_d', 'm_b', 'm_constructor'])
    expect(textOf(await client.callToolRaw('m_d', {}))).toBe('a {}')
    for (const name of ['m_a', 'm_c', 'm___proto__', 'm_other', 'unknown_a', 'a'])
      await expect(client.callToolRaw(name, {})).rejects.toMatchObject({ code: -32602, message: `Unknown tool: ${name}` })
    expect(world.compositor.mounts()[0]?.left_out).toEqual([
      { kind: 'tool', name: 'c', why: 'the mount is not to show it' },
      { kind: 'tool', name: 'd', why: 'another tool is shown under its name' },
      { kind: 'tool', name: '__proto__', why: 'it is not among those that the mount is to show' },
      { kind: 'tool', name: 'has space', why: expect.stringContaining('128 characters') },
      { kind: 'tool', name: 'x'.repeat(127), why: expect.stringContaining('128 characters') },
      { kind: 'tool', name: 'a', why: 'the server has two of its name' },
    ])
  })

  test('prompts, resources and templates are shown under the mount, and so is every URI in an answer', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.resources.push(
      { uri: 'urn:a:b', name: 'urn' },
      { uri: 'nothing', name: 'bad' },
      { uri: 'compositor://state', name: 'evil' },
    )
    probe.templates.push({ uriTemplate: '{+any}', name: 'any' })
    probe.answers.link = () => ({
      content: [
        { type: 'resource_link', uri: 'test://doc', name: 'doc' },
        { type: 'resource', resource: { uri: 'urn:a:b', text: 'test://doc' } },
        { type: 'text', text: 'test://doc' },
      ],
      structuredContent: { uri: 'test://doc' },
    })
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    expect(await client.request('prompts/list')).toMatchObject({ prompts: [{ name: 'm_greet' }] })
    const { resources } = await client.request('resources/list')
    expect(JSON.parse(JSON.stringify(resources)).map((each: { uri: string }) => each.uri)).toEqual([
      'compositor://mounts',
      'compositor://subscriptions',
      'compositor://m/state',
      'test://m/doc',
      'urn:m/a:b',
    ])
    expect(await client.request('resources/templates/list')).toMatchObject({
      resourceTemplates: [{ uriTemplate: 'test://m/people/{who}' }],
    })
    expect(await client.readResource('test://m/doc')).toMatchObject({
      contents: [{ uri: 'test://m/doc', text: 'words of test://doc' }],
    })
    expect(await client.readResource('urn:m/a:b')).toMatchObject({ contents: [{ uri: 'urn:m/a:b' }] })
    expect(await client.request('prompts/get', { name: 'm_greet' })).toMatchObject({
      messages: [{ content: { resource: { uri: 'test://m/doc' } } }],
    })
    expect(await client.callToolRaw('m_link', {})).toMatchObject({
      content: [{ uri: 'test://m/doc' }, { resource: { uri: 'urn:m/a:b', text: 'test://doc' } }, { text: 'test://doc' }],
      structuredContent: { uri: 'test://doc' },
    })
    const completed = await client.request('completion/complete', {
      ref: { type: 'ref/resource', uri: 'test://m/people/{who}' },
      argument: { name: 'who', value: 'A' },
    })
    expect(completed).toMatchObject({ completion: { values: ['{"type":"ref/resource","uri":"test://people/{who}"}'] } })
    await expect(client.readResource('test://other/doc')).rejects.toMatchObject({
      message: 'Resource not found: test://other/doc',
    })
    expect(await readOwn(client, 'compositor://m/state')).toMatchObject({
      state: 'active',
      left_out: [
        { kind: 'resource', name: 'nothing', why: 'it has no scheme' },
        { kind: 'resource', name: 'compositor://state', why: 'the compositor has a resource of its URI' },
        { kind: 'template', name: '{+any}', why: 'its scheme is a variable' },
      ],
    })
  })
})

describe('a plain mount', () => {
  test('is shown as the server has it; own and prefixed names win, and its state says so', async () => {
    await using world = await openTestCompositor()
    const [plain, other] = [new ProbeServer(), new ProbeServer()]
    plain.tools = [tool('echo'), tool('gh_echo'), tool('resources_read'), tool('resources_evil')]
    plain.resources = [
      { uri: 'test://doc', name: 'doc' },
      { uri: 'test://gh/doc', name: 'gh' },
      { uri: 'compositor://mounts', name: 'x' },
    ]
    plain.answers.link = () => ({ content: [{ type: 'resource_link', uri: 'test://doc', name: 'doc' }] })
    world.mount(plain, { name: 'base', plain: true })
    world.mount(other, { name: 'gh' })
    const client = await world.client()
    expect(namesIn(await client.listTools()).slice(5)).toEqual(['echo', 'resources_evil', 'link', 'gh_echo', 'gh_ask', 'gh_hang'])
    await client.callToolRaw('gh_echo', {})
    await client.callToolRaw('resources_evil', {})
    expect([plain.heard.filter((each) => each.startsWith('tools/call')), other.count('tools/call echo')]).toEqual([
      ['tools/call resources_evil'],
      1,
    ])
    expect(await client.readResource('test://doc')).toMatchObject({ contents: [{ uri: 'test://doc' }] })
    expect(await client.callToolRaw('link', {})).toMatchObject({ content: [{ uri: 'test://doc' }] })
    expect(await client.request('prompts/list')).toMatchObject({ prompts: [{ name: 'greet' }, { name: 'gh_greet' }] })
    await client.request('resources/list')
    expect(world.compositor.mounts()[0]?.left_out).toEqual([
      { kind: 'tool', name: 'gh_echo', why: 'its name belongs to the mount gh' },
      { kind: 'tool', name: 'resources_read', why: 'the compositor has a tool of its name' },
      { kind: 'resource', name: 'test://gh/doc', why: 'its URI belongs to the mount gh' },
      { kind: 'resource', name: 'compositor://mounts', why: 'the compositor has a resource of its URI' },
    ])
    await world.compositor.detach('gh')
    expect(await toolsOf(client)).toEqual(['echo', 'gh_echo', 'link'])
  })
})

describe('what clients are told', () => {
  test.each(['legacy', 'modern'] as const)(
    'a %s client hears of mounts that come and go, and of what a server tells',
    async (era) => {
      await using world = await openTestCompositor()
      const client = await world.client({ era })
      const told: string[] = []
      client.watchLists((kind) => told.push(kind))
      const probe = new ProbeServer()
      // Over HTTP it takes a while until the server knows that somebody listens.
      const cameAndWent = async () => {
        await world.compositor.detach('m')
        world.mount(probe, { name: 'm' })
        return new Set(told).size
      }
      await expect.poll(cameAndWent).toBe(3)
      expect(await toolsOf(client)).toContain('m_echo')
      told.length = 0
      probe.tools = [tool('new')]
      probe.changed('tools')
      await expect.poll(() => told).toContain('tools')
      expect(await toolsOf(client)).toEqual(['m_new'])
      await world.compositor.detach('m')
      expect(await toolsOf(client)).toEqual([])
    },
  )

  test('the banner has the instructions of all mounts, as they are when it is asked for, within its bounds', async () => {
    await using world = await openTestCompositor({ limits: { instructionBytesPerMount: 20, instructionBytes: 120 } })
    const [kind, wordy] = [new ProbeServer(), new ProbeServer()]
    kind.instructions = 'be kind'
    wordy.instructions = 'ä'.repeat(100)
    world.mount(kind, { name: 'kind', eager: true })
    world.mount(wordy, { name: 'wordy' })
    await expect.poll(() => world.compositor.instructions).toContain('be kind')
    expect(world.compositor.instructions).not.toContain('wordy')
    const client = await world.client({ era: 'modern' })
    await client.listTools()
    const banner = (await world.client({ era: 'modern' })).server.instructions ?? ''
    expect(banner).toMatch(/^## kind\nTools and prompts that begin with `kind_`\.\n\nbe kind\n\n## wordy\n/)
    expect([banner.endsWith(' […]'), Buffer.byteLength(banner) <= 120]).toEqual([true, true])
    await world.compositor.detach('wordy')
    expect((await world.client({ era: 'legacy' })).server.instructions).toMatch(/be kind$/)
  })

  test('the mounts and the state of each can be read and watched', async () => {
    await using world = await openTestCompositor()
    const client = await world.client({ era: 'modern' })
    let told = 0
    await client.subscribe('compositor://mounts', () => told++)
    world.mount(new ProbeServer(), { name: 'm' })
    await expect.poll(() => told).toBeGreaterThan(0)
    expect(await readOwn(client, 'compositor://mounts')).toMatchObject({
      mounts: [{ name: 'm', state: 'pending', last_error: null }],
    })
    let toldOfState = 0
    await client.subscribe('compositor://m/state', () => toldOfState++)
    await client.listTools()
    await expect.poll(() => toldOfState).toBeGreaterThan(0)
    expect(await readOwn(client, 'compositor://m/state')).toMatchObject({
      state: 'active',
      server: { name: 'probe', version: '1' },
      era: 'modern',
      tools: ['m_echo', 'm_ask', 'm_hang'],
    })
  })
})

describe('bounds', () => {
  test('lists are followed over pages to their bound, and shown in pages', async () => {
    await using world = await openTestCompositor({ limits: { toolsPerMount: 25, pageItems: 7 } })
    const probe = new ProbeServer()
    probe.pageItems = 10
    probe.tools = Array.from({ length: 40 }, (_, index) => tool(`t${index}`))
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    expect(await toolsOf(client)).toEqual(Array.from({ length: 25 }, (_, index) => `m_t${index}`))
    expect(probe.count('tools/list')).toBe(3)
    expect(await readOwn(client, 'compositor://m/state')).toMatchObject({ problems: ['there are more than 25 tools'] })
    await expect(client.request('tools/list', { cursor: 'nonsense' })).rejects.toMatchObject({ code: -32602 })
  })

  test('a result that is too large says how large it is, and so does a resource', async () => {
    await using world = await openTestCompositor({ limits: { resultBytes: 1_000 } })
    const probe = new ProbeServer()
    probe.answers.echo = () => said('ä'.repeat(1_000))
    probe.answers['test://doc'] = () => ({ contents: [{ uri: 'test://doc', text: 'x'.repeat(2_000) }] })
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    const result = await client.callToolRaw('m_echo', {})
    expect(result).toMatchObject({ isError: true })
    expect(textOf(result)).toMatch(/the result has 2\d\d\d bytes, more than the 1000 that resultBytes allows/)
    await expect(client.readResource('test://m/doc')).rejects.toMatchObject({
      message: expect.stringContaining('resources_read'),
    })
  })

  test('calls under way on one mount are bounded, and do not concern the others', async () => {
    await using world = await openTestCompositor({ limits: { callsPerMount: 2 } })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    world.mount(new ProbeServer(), { name: 'other' })
    const client = await world.client()
    const controller = new AbortController()
    const hanging = [1, 2].map(() => client.callToolRaw('m_hang', {}, { signal: controller.signal }))
    await expect.poll(() => probe.count('tools/call hang')).toBe(2)
    await expect(client.callToolRaw('m_echo', {})).rejects.toMatchObject({
      code: -32970,
      message: expect.stringContaining('the most that callsPerMount allows'),
    })
    expect(textOf(await client.callToolRaw('other_echo', {}))).toBe('echo {}')
    controller.abort()
    await Promise.allSettled(hanging)
    await expect.poll(() => client.callToolRaw('m_echo', {}).then(textOf, String)).toBe('echo {}')
  })

  test('watched resources are bounded', async () => {
    await using world = await openTestCompositor({ limits: { subscriptions: 1 } })
    world.mount(new ProbeServer(), { name: 'm' })
    const client = await world.client({ era: 'legacy' })
    const stop = await client.subscribe('test://m/doc', () => {})
    await expect(client.subscribe('test://m/two', () => {})).rejects.toMatchObject({ code: -32970 })
    await stop()
    await client.subscribe('test://m/two', () => {})
  })
})

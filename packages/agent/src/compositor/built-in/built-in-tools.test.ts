import { isJsonObject, type JsonObject } from '@parley/protocol'
import { type Client, InputRequired } from '@parley/rpc'
import { describe, expect, test } from 'vitest'
import { ProbeServer, tool } from '../fixture/probe-server.ts'
import { namesIn, openTestCompositor, readOwn, textOf, toolsOf } from '../fixture/test-compositor.ts'

async function answer(client: Client, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const result = await client.callToolRaw(name, args)
  if (result.isError === true) throw new Error(textOf(result))
  return isJsonObject(result.structuredContent) ? result.structuredContent : {}
}

describe('resources_list and resources_templates', () => {
  test('list what all mounts have or one of them, in pages', async () => {
    await using world = await openTestCompositor({ limits: { toolPageItems: 2 } })
    world.mount(new ProbeServer(), { name: 'one' })
    world.mount(new ProbeServer(), { name: 'two' })
    const client = await world.client()
    const first = await answer(client, 'resources_list', { uri_prefix: 'test://' })
    expect(first).toEqual({
      resources: [
        { mount: 'one', uri: 'test://one/doc', name: 'doc' },
        { mount: 'two', uri: 'test://two/doc', name: 'doc' },
      ],
      next_cursor: null,
    })
    const uris: unknown[] = []
    for (let cursor: JsonObject = {}; ;) {
      const page = await answer(client, 'resources_list', cursor)
      uris.push(...(Array.isArray(page.resources) ? page.resources.map((each) => isJsonObject(each) && each.uri) : []))
      if (typeof page.next_cursor !== 'string') break
      cursor = { cursor: page.next_cursor }
    }
    expect(uris).toEqual([
      'compositor://mounts',
      'compositor://subscriptions',
      'compositor://one/state',
      'compositor://two/state',
      'test://one/doc',
      'test://two/doc',
    ])
    expect(await answer(client, 'resources_list', { mount: 'two' })).toMatchObject({ resources: [{ mount: 'two' }] })
    expect(await answer(client, 'resources_templates', { mount: 'one' })).toEqual({
      templates: [{ mount: 'one', uriTemplate: 'test://one/people/{who}', name: 'people' }],
    })
    await expect(answer(client, 'resources_list', { mount: 'none' })).rejects.toThrow('not_found: there is no mount none')
    await expect(answer(client, 'resources_list', { server: 'x' })).rejects.toThrow('server: is not an argument of this tool')
  })
})

describe('resources_read', () => {
  test('fault 19: windows of one version ask the server once; another version is a clear error', async () => {
    let time = 0
    await using world = await openTestCompositor({ now: () => time, limits: { windowCacheMs: 100 } })
    const probe = new ProbeServer()
    let text = 'é'.repeat(20)
    probe.answers['test://doc'] = () => ({ contents: [{ uri: 'test://doc', text }] })
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    const read = (more: JsonObject) => answer(client, 'resources_read', { uri: 'test://m/doc', max_bytes: 15, ...more })
    const first = await read({})
    expect(first).toMatchObject({ uri: 'test://m/doc', text: 'é'.repeat(7), offset: 0, next_offset: 14, eof: false, total: 40 })
    const { version = null } = first
    text = 'other'
    // What was begun is read to its end.
    expect(await read({ version, offset: 14 })).toMatchObject({ text: 'é'.repeat(7), offset: 14, next_offset: 28 })
    expect(await read({ version, offset: 28 })).toMatchObject({ text: 'é'.repeat(6), next_offset: null, eof: true })
    expect(probe.count('resources/read test://doc')).toBe(1)
    time = 200
    await expect(read({ version, offset: 14 })).rejects.toThrow(/^conflict: version_changed: .*begin anew/)
    expect(await read({})).toMatchObject({ text: 'other', eof: true })
    expect(probe.count('resources/read test://doc')).toBe(3)
  })

  test('reads what is larger than a result may be, in windows up to their bound', async () => {
    await using world = await openTestCompositor({ limits: { resultBytes: 100_000 } })
    const probe = new ProbeServer()
    probe.answers['test://doc'] = () => ({ contents: [{ uri: 'test://doc', text: 'x'.repeat(300_000) }] })
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    expect(await answer(client, 'resources_read', { uri: 'test://m/doc' })).toMatchObject({ total: 300_000, next_offset: 25_000 })
    const wrong = answer(client, 'resources_read', { uri: 'test://m/doc', max_bytes: 1024 * 1024 + 1 })
    await expect(wrong).rejects.toThrow('max_bytes')
  })

  test('what is not there is a failure that says what to do', async () => {
    await using world = await openTestCompositor()
    world.mount(new ProbeServer(), { name: 'm' })
    const client = await world.client()
    await expect(answer(client, 'resources_read', { uri: 'test://none/doc' })).rejects.toThrow(
      /^not_found: Resource not found: test:\/\/none\/doc \(list the resources/,
    )
    expect(await answer(client, 'resources_read', { uri: 'compositor://mounts' })).toMatchObject({ eof: true })
  })

  test.each(['legacy', 'modern'] as const)('a resource that asks a %s client first is read all the same', async (era) => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.answers['test://doc'] = (_params, { answers }) =>
      answers === undefined
        ? new InputRequired({
            who: {
              method: 'elicitation/create',
              params: { message: 'who?', requestedSchema: { type: 'object', properties: {} } },
            },
          })
        : { contents: [{ uri: 'test://doc', text: JSON.stringify(answers.who) }] }
    world.mount(probe, { name: 'm' })
    const client = await world.client({
      era,
      capabilities: { elicitation: {} },
      handlers: { elicit: () => ({ action: 'decline' }) },
    })
    expect(await answer(client, 'resources_read', { uri: 'test://m/doc' })).toMatchObject({ text: '{"action":"decline"}' })
  })
})

describe('resources_subscribe', () => {
  test('fault 17: what the agent watches is kept by the host, listed with its state, and outlives the mount', async () => {
    const kept = new Set<string>(['test://m/before'])
    const updates: [uri: string, version: number][] = []
    await using world = await openTestCompositor({
      subscriptions: {
        caller: { key: 'self' },
        list: () => [...kept],
        add: (uri) => void kept.add(uri),
        remove: (uri) => void kept.delete(uri),
        updated: (uri, version) => updates.push([uri, version]),
      },
    })
    const client = await world.client()
    const index = () => readOwn(client, 'compositor://subscriptions')
    const entry = (uri: string, state: string, more: JsonObject = {}) => ({ mount: 'm', uri, state, last_error: null, ...more })
    expect(await index()).toEqual({
      subscriptions: [{ mount: null, uri: 'test://m/before', state: 'inactive', last_error: null, version: null }],
    })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    // What was kept is watched as soon as its mount is there.
    await expect.poll(() => [...probe.watched.keys()]).toEqual(['test://before'])
    await expect.poll(() => updates.map(([uri]) => uri)).toEqual(['test://m/before'])
    expect(await answer(client, 'resources_subscribe', { uri: 'test://m/doc' })).toMatchObject(entry('test://m/doc', 'active'))
    expect([...kept]).toEqual(['test://m/before', 'test://m/doc'])
    updates.length = 0
    probe.touch('test://doc')
    await expect.poll(() => updates.map(([uri]) => uri)).toEqual(['test://m/doc'])
    probe.touch('test://doc')
    await expect.poll(() => updates.length).toBe(2)
    expect(updates[1]?.[1]).toBeGreaterThan(updates[0]?.[1] ?? 0)

    await world.compositor.detach('m')
    expect(await index()).toMatchObject({
      subscriptions: [
        { uri: 'test://m/before', state: 'inactive' },
        { uri: 'test://m/doc', state: 'inactive', mount: null },
      ],
    })
    const next = new ProbeServer()
    world.mount(next, { name: 'm' })
    await expect.poll(() => [...next.watched.keys()].toSorted()).toEqual(['test://before', 'test://doc'])
    await expect
      .poll(index)
      .toMatchObject({ subscriptions: [entry('test://m/before', 'active'), entry('test://m/doc', 'active')] })

    expect(await answer(client, 'resources_unsubscribe', { uri: 'test://m/doc' })).toEqual({ uri: 'test://m/doc', removed: true })
    expect(await answer(client, 'resources_unsubscribe', { uri: 'test://m/doc' })).toEqual({
      uri: 'test://m/doc',
      removed: false,
    })
    await expect.poll(() => next.watched.get('test://doc')?.size).toBe(0)
    expect([...kept]).toEqual(['test://m/before'])
  })

  test('one that fails stays in the index with its error, and the number of them is bounded', async () => {
    await using world = await openTestCompositor({ limits: { ownSubscriptions: 1 } })
    const probe = new ProbeServer()
    probe.capabilities = { resources: {} }
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    const failed = { uri: 'test://m/doc', state: 'failed', last_error: 'mount m has no subscriptions' }
    expect(await answer(client, 'resources_subscribe', { uri: 'test://m/doc' })).toMatchObject(failed)
    expect(await readOwn(client, 'compositor://subscriptions')).toMatchObject({ subscriptions: [failed] })
    await expect(answer(client, 'resources_subscribe', { uri: 'test://m/two' })).rejects.toThrow('ownSubscriptions')
    await expect(answer(client, 'resources_subscribe', { uri: 'test://none/x' })).rejects.toThrow('not_found')
  })
})

describe('subscriptions of clients', () => {
  test.each(['legacy', 'modern'] as const)(
    'fault 17: a %s subscriber is told with a version, a bystander hears nothing',
    async (era) => {
      await using world = await openTestCompositor()
      const probe = new ProbeServer()
      world.mount(probe, { name: 'm' })
      const heard: string[] = []
      const versions: unknown[] = []
      const onNotification =
        (who: string) =>
        (method: string, { _meta }: JsonObject) => {
          heard.push(`${who} ${method}`)
          if (method.endsWith('updated') && isJsonObject(_meta)) versions.push(_meta['parley/version'])
        }
      const client = await world.client({ era, onNotification: onNotification('subscriber') })
      await world.client({ era: 'legacy', onNotification: onNotification('bystander') }, 'other')
      let updates = 0
      const stop = await client.subscribe('test://m/doc', () => updates++)
      expect(probe.watched.get('test://doc')?.size).toBe(1)
      probe.touch('test://doc')
      await expect.poll(() => updates).toBe(1)
      const versionNow = async (): Promise<number> => {
        const { _meta } = await client.readResource('test://m/doc')
        return isJsonObject(_meta) ? Number(_meta['parley/version']) : 0
      }
      const first = await versionNow()
      probe.touch('test://doc')
      await expect.poll(() => updates).toBe(2)
      expect(await versionNow()).toBeGreaterThan(first)
      // In the modern era they come on the stream that the client listens on for itself.
      if (era === 'legacy') expect(versions).toEqual([first, await versionNow()])
      await stop()
      await expect.poll(() => probe.watched.get('test://doc')?.size).toBe(0)
      expect(heard.filter((each) => each.startsWith('bystander') && each.includes('updated'))).toEqual([])
    },
  )

  test('many watch one resource at its server once', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    const told = [0, 0, 0]
    for (const index of told.keys()) {
      const client = await world.client({ era: index === 0 ? 'legacy' : 'modern' }, `t${index}`)
      await client.subscribe('test://m/doc', () => {
        told[index] = (told[index] ?? 0) + 1
      })
    }
    expect(probe.watched.get('test://doc')?.size).toBe(1)
    probe.touch('test://doc')
    await expect.poll(() => told).toEqual([1, 1, 1])
  })
})

describe('tools_search', () => {
  const probe = () => {
    const server = new ProbeServer()
    server.tools = [
      tool('issue_create', { title: 'Create an issue' }),
      tool('issue_list'),
      tool('wiki', { description: 'about an issue' }),
    ]
    return server
  }

  test('is off unless it is wanted', async () => {
    await using world = await openTestCompositor()
    world.mount(probe(), { name: 'gh' })
    const client = await world.client()
    expect(namesIn(await client.listTools())).not.toContain('tools_search')
    await expect(client.callToolRaw('tools_search', { query: 'x' })).rejects.toMatchObject({
      message: 'Unknown tool: tools_search',
    })
  })

  test('finds by words, and a list may have only what is marked', async () => {
    await using world = await openTestCompositor({ toolSearch: 'instead' })
    world.mount(probe(), { name: 'gh', tools: { marked: ['wiki'], renamed: { wiki: 'pages' } } })
    const client = await world.client()
    expect(await toolsOf(client)).toEqual(['tools_search', 'gh_pages'])
    const found = await answer(client, 'tools_search', { query: 'CREATE issue', limit: 2 })
    expect(found).toMatchObject({ tools: [{ name: 'gh_issue_create', mount: 'gh' }, { name: 'gh_issue_list' }], more: 1 })
    expect(textOf(await client.callToolRaw('gh_issue_list', {}))).toBe('issue_list {}')
    expect(await answer(client, 'tools_search', { query: '???' })).toEqual({ tools: [], more: 0 })
  })

  test('stands beside all tools where that is wanted', async () => {
    await using world = await openTestCompositor({ toolSearch: 'beside' })
    world.mount(probe(), { name: 'gh' })
    expect(await toolsOf(await world.client())).toEqual(['tools_search', 'gh_issue_create', 'gh_issue_list', 'gh_wiki'])
  })
})

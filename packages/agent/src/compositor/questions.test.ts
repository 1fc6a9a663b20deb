import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@parley/protocol'
import { type Client, type ClientOptions, type ClientTransport, InputRequired, memoryPair, memoryTransport } from '@parley/rpc'
import { spawnServer } from '@parley/rpc/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { ProbeServer, said, tool } from './fixture/probe-server.ts'
import { openTestCompositor, textOf } from './fixture/test-compositor.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function onPipe(program: string, ...args: string[]) {
  const spawned: unknown[] = []
  return {
    spawned,
    connect: () => {
      const server = spawnServer(program, ...args)
      spawned.push(server)
      closing.push(() => server[Symbol.asyncDispose]())
      return server.transport
    },
  }
}
const answering = (name: string): Partial<ClientOptions> => ({
  capabilities: { elicitation: {}, sampling: {}, roots: {} },
  handlers: {
    elicit: () => ({ action: 'accept', content: { name } }),
    sample: () => ({ role: 'assistant', content: { type: 'text', text: `so says ${name}` }, model: 'm' }),
    roots: () => ({ roots: [{ uri: `file:///home/${name}` }] }),
  },
})
const ERAS = ['legacy', 'modern'] as const
const PAIRS = ERAS.flatMap((upstream) => ERAS.map((era) => ({ upstream, era })))

describe.each(PAIRS)('a $era client of a $upstream mount', ({ upstream, era }) => {
  const program = upstream === 'legacy' ? 'sdk1-stdio-main.ts' : 'sdk2-stdio-main.ts'

  test('is asked what its call needs, and its answer arrives', async () => {
    await using world = await openTestCompositor()
    world.mount(onPipe(program).connect, { name: 'm', era: upstream })
    const client = await world.client({ era, ...answering('Grace') })
    expect(textOf(await client.callToolRaw('m_ask', {}))).toContain('{"action":"accept","content":{"name":"Grace"}}')
  })

  test('that cannot be asked is refused with words', async () => {
    await using world = await openTestCompositor()
    world.mount(onPipe(program).connect, { name: 'm', era: upstream })
    const client = await world.client({ era })
    const words = await client.callToolRaw('m_ask', {}).then(textOf, String)
    expect(words).toMatch(/cannot be asked|cannot be answered|did not declare|unavailable|do not declare|not support/)
  })

  test('roots are those that the mount is given, never those of the client, unless it is to have them', async () => {
    await using world = await openTestCompositor()
    world.mount(onPipe(program).connect, { name: 'none', era: upstream })
    world.mount(onPipe(program).connect, { name: 'some', era: upstream, roots: [{ uri: 'file:///work', name: 'work' }] })
    world.mount(onPipe(program).connect, { name: 'theirs', era: upstream, roots: 'client' })
    const client = await world.client({ era, ...answering('Grace') })
    // A server of the SDK asks for nothing that was not declared to it.
    expect(await client.callToolRaw('none_roots', {}).then(textOf, String)).not.toContain('Grace')
    expect(textOf(await client.callToolRaw('some_roots', {}))).toBe('{"roots":[{"uri":"file:///work","name":"work"}]}')
    expect(textOf(await client.callToolRaw('theirs_roots', {}))).toBe('{"roots":[{"uri":"file:///home/Grace"}]}')
  })
})

/** A modern server that asks for what nobody allowed it to ask: the official ones do not. */
function rudeServer(): ClientTransport {
  const { client, server } = memoryPair()
  const send = (id: JsonValue | undefined, result: JsonObject): void =>
    server.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
  const inputRequests = { how: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } }
  server.listen(
    (text) => {
      const message = parseJson(text)
      if (!isJsonObject(message)) return
      if (message.method === 'server/discover')
        send(message.id, { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })
      else if (message.method === 'tools/list') send(message.id, { resultType: 'complete', tools: [tool('x')] })
      else send(message.id, { resultType: 'input_required', inputRequests })
    },
    () => {},
  )
  return memoryTransport(client)
}

describe('on one connection for all', () => {
  test.each(ERAS)('a server that asks what it may not is not passed on to a %s client', async (era) => {
    await using world = await openTestCompositor()
    world.mount(rudeServer, { name: 'rude' })
    const client = await world.client({ era, ...answering('Ada') })
    await expect(client.callToolRaw('rude_x', {})).rejects.toThrow("rude may not ask the client's model")
  })

  test.each(ERAS)('sampling of a %s client is asked for only where the mount may', async (era) => {
    await using world = await openTestCompositor()
    world.mount(onPipe('sdk1-stdio-main.ts').connect, { name: 'may', questions: { sampling: true } })
    world.mount(onPipe('sdk1-stdio-main.ts').connect, { name: 'not' })
    const client = await world.client({ era, ...answering('Ada') })
    expect(textOf(await client.callToolRaw('may_sample', {}))).toBe('{"type":"text","text":"so says Ada"}')
    expect(await client.callToolRaw('not_sample', {}).then(textOf, String)).not.toContain('Ada')
  })

  test('50 clients that can be asked share one connection', async () => {
    await using world = await openTestCompositor()
    const pipe = onPipe('sdk1-stdio-main.ts')
    world.mount(pipe.connect, { name: 'm' })
    const clients: Client[] = []
    for (let index = 0; index < 50; index++)
      clients.push(await world.client({ era: index % 2 === 0 ? 'legacy' : 'modern', ...answering(`c${index}`) }, `t${index}`))
    const answers = await Promise.all(clients.map((client, index) => client.callToolRaw('m_echo', { text: `t${index}` })))
    expect(answers.map(textOf)).toEqual(clients.map((_, index) => `t${index}`))
    expect(pipe.spawned).toHaveLength(1)
    // One after the other each is asked for itself.
    for (const [index, client] of clients.entries())
      if (index % 10 < 2) expect(textOf(await client.callToolRaw('m_ask', {}))).toContain(`"c${index}"`)
  })

  test.each(['as they came', 'after others'] as const)('all at once everybody is asked for themselves, %s', async (when) => {
    await using world = await openTestCompositor()
    world.mount(onPipe('sdk1-stdio-main.ts').connect, { name: 'm' })
    const clients: Client[] = []
    for (let index = 0; index < 20; index++)
      clients.push(await world.client({ era: index % 2 === 0 ? 'legacy' : 'modern', ...answering(`c${index}`) }, `t${index}`))
    // What has asked nothing before goes beside it, and does not make it unclear whose a question is.
    if (when === 'after others') await clients[0]?.callToolRaw('m_echo', { text: '' })
    const asked = clients.map(async (client) => textOf(await client.callToolRaw('m_ask', {})))
    const echoed = clients.map(async (client, index) => textOf(await client.callToolRaw('m_echo', { text: `t${index}` })))
    expect(await Promise.all(asked)).toEqual(clients.map((_, index) => expect.stringContaining(`"c${index}"`)))
    expect(await Promise.all(echoed)).toEqual(clients.map((_, index) => `t${index}`))
  })

  test.each([
    ['long enough', 20, 1],
    ['longer', 600_000, 0],
  ] as const)(
    'a call that waited %s for another is sent beside it, and not if it was cancelled before',
    async (_, aloneMs, sent) => {
      await using world = await openTestCompositor({ limits: { aloneMs } })
      const probe = new ProbeServer()
      world.mount(probe, { name: 'm', era: 'legacy' })
      const [first, second] = [await world.client(answering('one'), 'one'), await world.client(answering('two'), 'two')]
      const hanging = first.callToolRaw('m_hang', {}).catch(String)
      await expect.poll(() => probe.count('tools/call hang')).toBe(1)
      const stop = new AbortController()
      const waiting = second.callToolRaw('m_echo', {}, { signal: stop.signal }).then(textOf, () => 'cancelled')
      if (sent === 0) stop.abort()
      expect(await waiting).toBe(sent === 0 ? 'cancelled' : 'echo {}')
      await first.close()
      await hanging
      expect(probe.count('tools/call echo')).toBe(sent)
    },
  )

  test('a question that cannot be traced to one of two clients is refused, and reaches neither', async () => {
    await using world = await openTestCompositor({ limits: { aloneMs: 20 } })
    world.mount(onPipe('sdk1-stdio-main.ts').connect, { name: 'm' })
    const asked: string[] = []
    const client = (name: string, era: 'legacy' | 'modern') =>
      world.client(
        { era, capabilities: { elicitation: {} }, handlers: { elicit: () => (asked.push(name), { action: 'decline' }) } },
        name,
      )
    const both = [await client('one', 'legacy'), await client('two', 'modern')]
    const answers = await Promise.all(
      both.map((each, index) => each.callToolRaw('m_ask_aside', { who: `c${index}`, calls: 2 }).then(textOf, String)),
    )
    for (const answer of answers) expect(answer).toContain('calls of several clients are under way')
    expect(asked).toEqual([])
    // Alone again, it can be told whose it is.
    await both[0]?.callToolRaw('m_ask_aside', { who: 'one', calls: 1 })
    expect(asked).toEqual(['one'])
  })

  test('a parked call runs once, and only its own caller may go on with it', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm', era: 'legacy' })
    const client = await world.client({ era: 'modern', capabilities: { elicitation: {} } })
    const call = { name: 'm_ask', arguments: {} }
    const first = await client.exchange('tools/call', call)
    expect(first.result).toMatchObject({ resultType: 'input_required', inputRequests: { q0: { method: 'elicitation/create' } } })
    const retry = { ...call, requestState: first.result.requestState, inputResponses: { q0: { action: 'decline' } } }
    const stranger = await world.client({ era: 'modern', capabilities: { elicitation: {} } }, 'stranger')
    await expect(stranger.exchange('tools/call', retry)).rejects.toMatchObject({ code: -32602 })
    expect(textOf((await client.exchange('tools/call', retry)).result)).toBe('{"action":"decline"}')
    await expect(client.exchange('tools/call', retry)).rejects.toMatchObject({ code: -32602 })
  })

  test('a modern server that asks for roots and for more gets both, each from whom it is to have it', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.answers.both = (_params, { answers }) => {
      if (answers !== undefined) return said(JSON.stringify(answers))
      return new InputRequired({
        where: { method: 'roots/list' },
        who: { method: 'elicitation/create', params: { message: 'who?', requestedSchema: { type: 'object', properties: {} } } },
      })
    }
    world.mount(probe, { name: 'm', era: 'modern', roots: [{ uri: 'file:///work' }] })
    for (const era of ERAS) {
      const client = await world.client({ era, ...answering('Ada') })
      const answer: unknown = JSON.parse(textOf(await client.callToolRaw('m_both', {})))
      expect(isJsonObject(answer) ? answer : {}).toEqual({
        where: { roots: [{ uri: 'file:///work' }] },
        who: { action: 'accept', content: expect.any(Object) },
      } satisfies JsonObject)
    }
  })
})

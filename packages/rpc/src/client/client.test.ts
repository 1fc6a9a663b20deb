import { RpcError } from '@parley/protocol'
import { afterEach, describe, expect, test } from 'vitest'
import { type Client, type ClientOptions, type ClientTransport, connectClient, httpTransport } from './index.ts'
import { openSdk1Http } from './fixture/sdk1-server.ts'
import { openSdk2Http } from './fixture/sdk2-server.ts'
import { spawnServer } from './fixture/spawn-server.ts'

const FACE: ClientOptions = {
  clientInfo: { name: 'test', version: '1' },
  capabilities: { elicitation: {} },
  handlers: { elicit: () => ({ action: 'accept', content: {} }) },
  // On a busy machine a server takes long to start; one that does not know the question says so at once.
  limits: { reconnectMs: 20, probeTimeoutMs: 60_000 },
}
const textOf = (result: unknown): unknown => JSON.parse(JSON.stringify(result)).content[0].text

const open: AsyncDisposable[] = []
const clients: Client[] = []
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
  await Promise.all(open.splice(0).map((each) => each[Symbol.asyncDispose]()))
})
async function connect(transport: ClientTransport, more: Partial<ClientOptions> = {}): Promise<Client> {
  const client = await connectClient(transport, { ...FACE, ...more })
  clients.push(client)
  return client
}
function opened<Server extends AsyncDisposable>(server: Server): Server {
  open.push(server)
  return server
}
const sdk1Http = async () => opened(await openSdk1Http())
const sdk2Http = async (legacy: 'stateless' | 'reject' = 'reject') => opened(await openSdk2Http(legacy))
const stdio = (program: string, ...args: string[]) => opened(spawnServer(program, ...args))

const SERVERS = [
  { name: 'SDK 1.32 over HTTP', era: 'legacy', start: async () => httpTransport({ url: (await sdk1Http()).url }) },
  { name: 'SDK 1.32 over stdio', era: 'legacy', start: async () => stdio('sdk1-stdio-main.ts').transport },
  { name: 'SDK 2.4 over HTTP', era: 'modern', start: async () => httpTransport({ url: (await sdk2Http()).url }) },
  { name: 'SDK 2.4 over stdio', era: 'modern', start: async () => stdio('sdk2-stdio-main.ts').transport },
] as const

describe.each(SERVERS)('$name', ({ era, start }) => {
  test('is recognised, says who it is, lists and calls', async () => {
    const client = await connect(await start())
    expect([client.era, client.server.info.version]).toEqual(era === 'legacy' ? ['legacy', '1.0.0'] : ['modern', '2.0.0'])
    expect(client.server.instructions).toBe(era === 'legacy' ? 'be kind' : 'be brief')
    expect((await client.listTools()).map(({ name }) => name)).toContain('echo')
    expect(textOf(await client.callToolRaw('echo', { text: 'Grüße 🌍\n' }))).toBe('Grüße 🌍\n')
    expect(await client.readResource('test://doc')).toMatchObject({ contents: [{ text: 'words' }] })
  })

  test('sends progress, and an error comes back with its code', async () => {
    const client = await connect(await start())
    const seen: number[] = []
    await client.callToolRaw('steps', { count: 3 }, { onProgress: ({ progress }) => seen.push(progress) })
    expect(seen).toEqual([1, 2, 3])
    await expect(client.request('resources/read', { uri: 'test://none' })).rejects.toBeInstanceOf(RpcError)
  })

  test('asks, and the answer carries the defaults of the form', async () => {
    const client = await connect(await start())
    const state = era === 'modern' ? ' opaque "ß" state' : ''
    expect(textOf(await client.callToolRaw('ask', {}))).toBe(`{"action":"accept","content":{"name":"Ada"}}${state}`)
  })

  test('many calls at once each get their own answer', async () => {
    const client = await connect(await start())
    const texts = Array.from({ length: 50 }, (_, index) => `call ${index}`)
    expect((await Promise.all(texts.map((text) => client.callToolRaw('echo', { text })))).map(textOf)).toEqual(texts)
    expect(client.pendingRequests).toBe(0)
  })
})

describe('the legacy era', () => {
  test.each([SERVERS[0], SERVERS[1]])('$name: a resource is watched until the last watcher goes', async ({ start }) => {
    const client = await connect(await start())
    let updates = 0
    const unsubscribe = await client.subscribe('test://doc', () => updates++)
    const second = await client.subscribe('test://doc', () => updates++)
    await client.callToolRaw('touch', { uri: 'test://doc' })
    await expect.poll(() => updates).toBe(2)
    await unsubscribe()
    expect(textOf(await client.callToolRaw('touch', { uri: 'test://other' }))).toBe('test://doc')
    await second()
    expect(textOf(await client.callToolRaw('touch', { uri: 'test://other' }))).toBe('')
  })

  test.each([SERVERS[0], SERVERS[1]])('$name: an aborted call is cancelled at the server', async ({ start }) => {
    const client = await connect(await start())
    const controller = new AbortController()
    const call = client.callToolRaw('hang', { mark: 'mine' }, { signal: controller.signal, onNotification: () => {} })
    await client.callToolRaw('echo', { text: 'the call before is on its way' })
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'aborted' })
    await expect.poll(async () => textOf(await client.callToolRaw('cancelled', {}))).toBe('mine')
  })

  test('a call that takes too long is given up and cancelled', async () => {
    const client = await connect(await SERVERS[1].start())
    await expect(client.callToolRaw('hang', { mark: 'late' }, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' })
    await expect.poll(async () => textOf(await client.callToolRaw('cancelled', {}))).toBe('late')
  })

  test('a stream that the server cuts is resumed and the answer arrives', async () => {
    const server = await sdk1Http()
    const client = await connect(httpTransport({ url: server.url }))
    expect(textOf(await client.callToolRaw('cut', {}))).toBe('after the cut')
    expect(server.methods).toContain('GET resumed')
  })

  test('a forgotten session is opened anew; a list is repeated, a call is not', async () => {
    const server = await sdk1Http()
    const client = await connect(httpTransport({ url: server.url }))
    let changes = 0
    await client.subscribe('test://doc', () => changes++)
    server.forget()
    await expect(client.callToolRaw('echo', { text: 'x' })).rejects.toMatchObject({ code: 'session_lost' })
    expect(textOf(await client.callToolRaw('echo', { text: 'y' }))).toBe('y')
    await expect.poll(() => changes).toBe(1)
    server.forget()
    expect((await client.listTools()).length).toBeGreaterThan(0)
    expect(textOf(await client.callToolRaw('touch', { uri: 'test://none' }))).toBe('test://doc')
  })

  test('many calls that find the session gone open one new session', async () => {
    const server = await sdk1Http()
    const client = await connect(httpTransport({ url: server.url }))
    server.forget()
    const before = server.initialized()
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? client.listTools() : client.callToolRaw('echo', { text: 'x' }))),
    )
    expect(results.map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? 'fulfilled' : 'rejected')),
    )
    expect(server.initialized() - before).toBe(1)
  })

  test('closing ends the session', async () => {
    const server = await sdk1Http()
    const client = await connect(httpTransport({ url: server.url }))
    await client.close()
    expect(server.methods.at(-1)).toBe('DELETE')
    await expect(client.request('tools/list')).rejects.toMatchObject({ code: 'closed' })
  })
})

describe('the modern era', () => {
  test('a name beyond ASCII goes encoded', async () => {
    const client = await connect(httpTransport({ url: (await sdk2Http()).url }))
    expect(await client.request('prompts/get', { name: 'grüße' })).toMatchObject({ messages: [{ content: { text: 'grüße' } }] })
  })

  test('resources and lists are watched on one stream, and again after it broke', async () => {
    const server = await sdk2Http()
    const client = await connect(httpTransport({ url: server.url }))
    const seen: string[] = []
    const unsubscribe = await client.subscribe('test://doc', () => seen.push('doc'))
    await client.subscribe('test://second', () => seen.push('second'))
    server.handler.notify.resourceUpdated('test://doc')
    await expect.poll(() => seen).toEqual(['doc'])
    server.cut()
    await expect.poll(() => seen.toSorted()).toEqual(['doc', 'doc', 'second'])
    server.handler.notify.resourceUpdated('test://second')
    await expect.poll(() => seen.filter((name) => name === 'second')).toHaveLength(2)
    await unsubscribe()
    client.watchLists((kind) => seen.push(kind))
    await expect
      .poll(() => {
        server.handler.notify.toolsChanged()
        return seen
      })
      .toContain('tools')
  })

  test('an endpoint that also serves the legacy era is spoken to in the one that was chosen', async () => {
    const { url } = await sdk2Http('stateless')
    expect((await connect(httpTransport({ url }))).era).toBe('modern')
    expect((await connect(httpTransport({ url }), { era: 'legacy' })).era).toBe('legacy')
  })

  test('a pipe to a server that refuses the handshake is modern even when the handshake came first', async () => {
    const client = await connect(stdio('sdk2-stdio-main.ts', 'reject').transport, { limits: { probeTimeoutMs: 1 } })
    expect(client.era).toBe('modern')
  })
})

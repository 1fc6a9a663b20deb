import type { ChildProcess } from 'node:child_process'
import { Client as Sdk1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as Sdk2Client, StreamableHTTPClientTransport as Sdk2Transport } from '@modelcontextprotocol/client'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, test } from 'vitest'
import { openSdk1Http } from '../client/fixture/sdk1-server.ts'
import { openSdk2Http } from '../client/fixture/sdk2-server.ts'
import { spawnServer } from '../client/fixture/spawn-server.ts'
import {
  type Client,
  type ClientOptions,
  type ClientTransport,
  connectClient,
  httpTransport,
  webSocketTransport,
} from '../client/index.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { type RelayOptions, openRelay } from './relay.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const textOf = (result: unknown): string => JSON.parse(JSON.stringify(result)).content[0].text
const children: ChildProcess[] = []
function child(program: string): ClientTransport {
  const spawned = spawnServer(`../../client/fixture/${program}`)
  children.push(spawned.child)
  closing.push(() => spawned[Symbol.asyncDispose]())
  return spawned.transport
}
type Dial = RelayOptions['connect']
const onPipe = async (): Promise<Dial> => async () => child('sdk1-stdio-main.ts')
const UPSTREAMS: readonly { readonly upstream: string; readonly era: 'legacy' | 'modern'; readonly dial: () => Promise<Dial> }[] =
  [
    { upstream: 'SDK 1.32 on a pipe', era: 'legacy', dial: onPipe },
    {
      upstream: 'SDK 1.32 over HTTP',
      era: 'legacy',
      dial: async () => {
        const server = await openSdk1Http()
        closing.push(() => server[Symbol.asyncDispose]())
        return async () => httpTransport({ url: server.url })
      },
    },
    { upstream: 'SDK 2.4 on a pipe', era: 'modern', dial: async () => async () => child('sdk2-stdio-main.ts') },
    {
      upstream: 'SDK 2.4 over HTTP',
      era: 'modern',
      dial: async () => {
        const server = await openSdk2Http('reject')
        closing.push(() => server[Symbol.asyncDispose]())
        return async () => httpTransport({ url: server.url })
      },
    },
  ]

async function relayTo(dial: Dial, more: Partial<RelayOptions> = {}) {
  children.length = 0
  const relay = await openRelay({
    connect: dial,
    clientInfo: { name: 'relay', version: '1' },
    ...more,
    limits: { reconnectMs: 10, ...more.limits },
    // On a busy machine a server takes long to start.
    clientLimits: { probeTimeoutMs: 60_000, ...more.clientLimits },
  })
  const server = await openTestServer(relay)
  closing.push(async () => {
    await server[Symbol.asyncDispose]()
    await relay.close()
  })
  return { relay, ...server }
}
const ASKABLE: Partial<ClientOptions> = {
  capabilities: { elicitation: {} },
  handlers: { elicit: () => ({ action: 'accept', content: { name: 'Grace' } }) },
}
async function clientOf(url: string, more: Partial<ClientOptions> = {}, token = 'me'): Promise<Client> {
  const transport = url.startsWith('ws') ? webSocketTransport({ url, token }) : httpTransport({ url, token })
  const client = await connectClient(transport, { clientInfo: { name: 'test', version: '1' }, ...more })
  closing.push(() => client.close())
  return client
}

describe.each(UPSTREAMS)('$upstream', ({ era: upstreamEra, dial }) => {
  test.each(['legacy', 'modern'] as const)('a %s client lists, calls, reads, hears of progress and of errors', async (era) => {
    const { mcp } = await relayTo(await dial())
    const client = await clientOf(mcp, { era })
    expect(client.server.info).toMatchObject({ name: upstreamEra === 'legacy' ? 'sdk1' : 'sdk2' })
    expect((await client.listTools()).map(({ name }) => name)).toContain('echo')
    expect(textOf(await client.callToolRaw('echo', { text: 'Grüße' }))).toBe('Grüße')
    expect(await client.readResource('test://doc')).toMatchObject({ contents: [{ text: 'words' }] })
    const seen: number[] = []
    await client.callToolRaw('steps', { count: 3 }, { onProgress: ({ progress }) => seen.push(progress) })
    expect(seen).toEqual([1, 2, 3])
    const missing = client.readResource('test://none')
    await expect(missing).rejects.toMatchObject({ name: 'RpcError' })
    if (era === 'modern') await expect(missing).rejects.toMatchObject({ code: -32602 })
  })

  test.each(['legacy', 'modern'] as const)('a %s client is asked and its answer arrives', async (era) => {
    const { mcp } = await relayTo(await dial())
    const client = await clientOf(mcp, { era, ...ASKABLE })
    const answers = await Promise.all([client.callToolRaw('ask', {}), client.callToolRaw('ask', {})])
    for (const answer of answers) expect(textOf(answer)).toContain('{"action":"accept","content":{"name":"Grace"}}')
    if (upstreamEra === 'modern') expect(textOf(answers[0])).toContain('opaque "ß" state')
  })

  test('a WebSocket client is asked too', async () => {
    const { ws } = await relayTo(await dial())
    const client = await clientOf(ws, { era: 'legacy', ...ASKABLE })
    expect(textOf(await client.callToolRaw('ask', {}))).toContain('Grace')
  })

  test('the official client 1.32 calls and is asked', async () => {
    const { mcp } = await relayTo(await dial())
    const client = new Sdk1Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Edsger' } }))
    await client.connect(
      new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers: { authorization: 'Bearer me' } } }),
    )
    closing.push(() => client.close())
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hi' } }))).toBe('hi')
    expect(textOf(await client.callTool({ name: 'ask', arguments: {} }))).toContain('Edsger')
  })

  test('the official client 2.4 calls and is asked, in the modern era', async () => {
    const { mcp } = await relayTo(await dial())
    const client = new Sdk2Client(
      { name: 'sdk', version: '2' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
    )
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Barbara' } }))
    await client.connect(new Sdk2Transport(new URL(mcp), { requestInit: { headers: { authorization: 'Bearer me' } } }))
    closing.push(() => client.close())
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hi' } }))).toBe('hi')
    expect(textOf(await client.callTool({ name: 'ask', arguments: {} }))).toContain('Barbara')
  })
})

describe('a legacy server', () => {
  test.each(['legacy', 'modern'] as const)('a %s client watches a resource, and its watch ends with it', async (era) => {
    const { mcp } = await relayTo(await onPipe())
    const client = await clientOf(mcp, { era })
    const other = await clientOf(mcp, { era: 'legacy' })
    let updates = 0
    const unsubscribe = await client.subscribe('test://doc', () => updates++)
    expect(textOf(await other.callToolRaw('touch', { uri: 'test://doc' }))).toBe('test://doc')
    await expect.poll(() => updates).toBe(1)
    await unsubscribe()
    await expect.poll(async () => textOf(await other.callToolRaw('touch', { uri: 'test://doc' }))).toBe('')
  })

  test.each(['legacy', 'modern'] as const)('a %s client cancels a call', async (era) => {
    const { mcp } = await relayTo(await onPipe())
    const client = await clientOf(mcp, { era })
    const controller = new AbortController()
    const call = client.callToolRaw('hang', { mark: 'mine' }, { signal: controller.signal })
    await client.callToolRaw('echo', { text: 'the call before is on its way' })
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'aborted' })
    await expect.poll(async () => textOf(await client.callToolRaw('cancelled', {}))).toBe('mine')
  })

  test('clients that cannot be asked share one child, each of the others has its own, and no more than allowed', async () => {
    const { mcp, relay } = await relayTo(await onPipe(), { limits: { ownUpstreams: 2 } })
    const plain = await Promise.all(Array.from({ length: 5 }, () => clientOf(mcp, { era: 'legacy' })))
    await Promise.all(plain.map((client) => client.callToolRaw('echo', { text: 'x' })))
    expect([children.length, relay.upstreams()]).toEqual([1, 1])
    const asked = await Promise.all(Array.from({ length: 3 }, () => clientOf(mcp, { era: 'legacy', ...ASKABLE })))
    const results = await Promise.allSettled(asked.map((client) => client.callToolRaw('ask', {})))
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: -32970, message: expect.stringContaining('at most 2 clients') },
    })
    expect(children).toHaveLength(3)
    await Promise.all(asked.map((client) => client.close()))
    await expect.poll(() => relay.upstreams()).toBe(1)
    await expect.poll(() => children.filter(({ exitCode }) => exitCode === null)).toHaveLength(1)
  })

  test('a child that dies fails the call under way, which is not run again; the next call has a new child', async () => {
    const { mcp } = await relayTo(await onPipe())
    const client = await clientOf(mcp, { era: 'legacy' })
    let updates = 0
    await client.subscribe('test://doc', () => updates++)
    const call = client.callToolRaw('hang', { mark: 'x' })
    await client.callToolRaw('echo', { text: 'the call before is on its way' })
    children[0]?.kill('SIGKILL')
    await expect(call).rejects.toMatchObject({ code: -32603, message: expect.stringContaining('may or may not have run') })
    expect(textOf(await client.callToolRaw('echo', { text: 'again' }))).toBe('again')
    expect(children).toHaveLength(2)
    await expect.poll(() => updates).toBe(1)
    expect(textOf(await client.callToolRaw('touch', { uri: 'test://none' }))).toBe('test://doc')
  })

  test('a server that cannot be started any more is a clear error, and it is tried again', async () => {
    const dial = await onPipe()
    let broken = false
    const { mcp } = await relayTo((need) => (broken ? Promise.reject(new Error('no such program')) : dial(need)))
    const client = await clientOf(mcp, { era: 'legacy' })
    broken = true
    children[0]?.kill('SIGKILL')
    await expect.poll(() => client.callToolRaw('echo', { text: 'x' }).then(String, String)).toContain('no such program')
    broken = false
    await expect.poll(() => client.callToolRaw('echo', { text: 'x' }).then(textOf, String)).toBe('x')
  })

  test('log messages reach only the one whose call it can be', async () => {
    const { mcp } = await relayTo(await onPipe())
    const heard: string[] = []
    const listener = (name: string): Partial<ClientOptions> => ({
      era: 'legacy',
      onNotification: (method) => heard.push(`${name} ${method}`),
    })
    const first = await clientOf(mcp, listener('first'), 'one')
    await clientOf(mcp, listener('second'), 'two')
    await first.callToolRaw('steps', { count: 1 })
    await expect.poll(() => heard).toEqual(['first notifications/message'])
  })

  test('a parked call runs once, and only its own caller may go on with it', async () => {
    const { mcp } = await relayTo(await onPipe())
    const client = await clientOf(mcp, { era: 'modern', ...ASKABLE })
    const first = await client.exchange('tools/call', { name: 'ask', arguments: {} })
    expect(first.result).toMatchObject({ resultType: 'input_required', inputRequests: { q0: { method: 'elicitation/create' } } })
    const retry = {
      name: 'ask',
      arguments: {},
      requestState: first.result.requestState,
      inputResponses: { q0: { action: 'decline' } },
    }
    const stranger = await clientOf(mcp, { era: 'modern', ...ASKABLE }, 'stranger')
    await expect(stranger.exchange('tools/call', retry)).rejects.toMatchObject({ code: -32602 })
    expect(textOf((await client.exchange('tools/call', retry)).result)).toBe('{"action":"decline"}')
    await expect(client.exchange('tools/call', retry)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('is over'),
    })
  })

  test('a parked call that nobody comes back for is cancelled upstream, and its child goes', async () => {
    const { mcp, relay } = await relayTo(await onPipe(), { limits: { parkedMs: 1 } })
    const client = await clientOf(mcp, { era: 'modern', ...ASKABLE })
    const { result } = await client.exchange('tools/call', { name: 'ask', arguments: {} })
    const retry = { name: 'ask', arguments: {}, requestState: result.requestState }
    await expect.poll(() => client.exchange('tools/call', retry).then(String, String)).toContain('is over')
    await expect.poll(() => relay.upstreams()).toBe(1)
    await expect.poll(() => children.filter(({ exitCode }) => exitCode === null)).toHaveLength(1)
  })
})

import { type JsonObject, isJsonObject } from '@parley/protocol'
import { afterEach, expect, test } from 'vitest'
import { type Client, connectClient, httpTransport, webSocketTransport } from '../client/index.ts'
import type { Call, Service } from '../service.ts'
import { openSession, post, rpc, send } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { until } from '../fixture/probe-service.ts'
import { rawPost, sendRaw } from '../fixture/raw-request.ts'
import type { RelayLimits } from './relay-limits.ts'
import { openRelay } from './relay.ts'

const MINUTE_MS = 60_000
const ELICITATION = { elicitation: {} }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A legacy server with one tool that answers, one that never does and one that asks first. */
function openService() {
  const hanging = new Set<Call>()
  const service: Service = {
    info: { name: 'server', version: '1' },
    capabilities: { tools: {} },
    call: async (method, params, call: Call) => {
      if (method === 'tools/list') return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
      if (params['name'] === 'hang') {
        hanging.add(call)
        await new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(new Error('cancelled'))))
      }
      if (params['name'] === 'ask')
        await call.ask('elicitation/create', { message: 'sure?', requestedSchema: { type: 'object', properties: {} } })
      return { content: [{ type: 'text', text: 'done' }] }
    },
  }
  return { service, hanging }
}

/** A relay before it, on a clock that the test moves. Every token is a caller of its own. */
async function open(limits: Partial<RelayLimits>) {
  let now = 1_000_000
  const { service, hanging } = openService()
  const upstream = await openTestServer(service, { open: true })
  const relay = await openRelay({
    era: 'legacy',
    clientInfo: { name: 'relay', version: '1' },
    connect: async () => httpTransport({ url: upstream.mcp }),
    limits: { unattendedMs: MINUTE_MS, ...limits },
  })
  const server = await openTestServer(relay, { now: () => now })
  closing.push(async () => {
    await server[Symbol.asyncDispose]()
    await relay.close()
    await upstream[Symbol.asyncDispose]()
  })
  const { mcp, ws } = server
  return {
    mcp,
    ws,
    relay,
    hanging,
    later: (ms: number) => (now += ms),
    /** A session that only sends requests, and has made one. Its client says no word of its end. */
    session: async (token = 'me') => {
      const { headers } = await openSession(mcp, '2025-11-25', ELICITATION, token)
      const call = (name = 'echo') => called(mcp, headers, name)
      return { headers, call, first: await call() }
    },
    /** A client that holds a stream or a socket open. */
    client: async (wire: 'http' | 'websocket', era: 'legacy' | 'modern' = 'legacy', token = 'me'): Promise<Client> => {
      const transport = wire === 'http' ? httpTransport({ url: mcp, token }) : webSocketTransport({ url: ws, token })
      const clientInfo = { name: 'test', version: '1' }
      const client = await connectClient(transport, { clientInfo, era, capabilities: ELICITATION, onAsk: accept })
      closing.push(() => client.close())
      return client
    },
  }
}
const accept = async (): Promise<JsonObject> => ({ action: 'accept', content: {} })

/** How a call ended: `done`, the code of its error, or the status where there is no session. */
async function called(mcp: string, headers: Record<string, string>, name: string): Promise<unknown> {
  const { status, messages } = await post(mcp, rpc(1, 'tools/call', { name, arguments: {} }), headers)
  const error = messages.at(-1)?.['error']
  if (status !== 200) return status
  return isJsonObject(error) ? error['code'] : 'done'
}

const OVERLOADED = -32970
const echo = (client: Client) =>
  client.callToolRaw('echo', {}).then(
    () => 'done',
    (error: unknown) => (isJsonObject(error) ? error['code'] : error instanceof Error && 'code' in error ? error.code : error),
  )

test('sessions whose clients vanished make room, the longest silent first; one that is in use is ended for nobody', async () => {
  const relay = await open({ ownUpstreams: 4 })
  const [streaming, socket] = [await relay.client('http'), await relay.client('websocket')]
  expect([await echo(streaming), await echo(socket)]).toEqual(['done', 'done'])
  const [first, second] = [await relay.session(), await relay.session()]
  expect([first.first, second.first, (await relay.session()).first]).toEqual(['done', 'done', OVERLOADED])
  relay.later(MINUTE_MS / 2)
  expect(await second.call()).toBe('done')
  relay.later(MINUTE_MS / 2)
  const third = await relay.session()
  expect(third.first).toBe('done')
  expect([await first.call(), await second.call(), await echo(streaming), await echo(socket)]).toEqual([
    404,
    'done',
    'done',
    'done',
  ])
  expect((await relay.session()).first).toBe(OVERLOADED)
  relay.later(60 * MINUTE_MS)
  expect([await echo(streaming), await echo(socket)]).toEqual(['done', 'done'])
  expect([(await relay.session()).first, (await relay.session()).first]).toEqual(['done', 'done'])
  expect([await second.call(), await third.call()]).toEqual([404, 404])
  expect(relay.relay.upstreams()).toBe(5)
})

test('a call that goes on without its client keeps no place for ever', async () => {
  const relay = await open({ ownUpstreams: 1 })
  const { headers } = await relay.session()
  const call = rpc(2, 'tools/call', { name: 'hang', arguments: {} })
  const peer = sendRaw(Number(new URL(relay.mcp).port), rawPost(call, headers))
  await until(() => relay.hanging.size === 1)
  peer.socket.destroy()
  expect((await relay.session()).first).toBe(OVERLOADED)
  const nextMinute = async () => {
    relay.later(MINUTE_MS)
    return (await relay.session()).first
  }
  await expect.poll(nextMinute).toBe('done')
  const [hung] = relay.hanging
  await until(() => hung?.signal.aborted === true)
})

test('a caller has a share: who has used it up makes room among their own, and others find a place', async () => {
  const relay = await open({ ownUpstreams: 4, ownUpstreamsPerCaller: 2 })
  const other = await relay.session('other')
  relay.later(MINUTE_MS)
  const mine = [await relay.session(), await relay.session()]
  expect([mine[0]?.first, mine[1]?.first, (await relay.session()).first]).toEqual(['done', 'done', OVERLOADED])
  expect((await relay.session('third')).first).toBe('done')
  relay.later(MINUTE_MS)
  expect((await relay.session()).first).toBe('done')
  expect([await other.call(), await mine[0]?.call()]).toEqual(['done', 404])
})

test('a modern call whose client does not come back with the answer makes room, one whose client waits does not', async () => {
  const relay = await open({ ownUpstreams: 1, unattendedMs: 0 })
  const client = await relay.client('http', 'modern')
  const abort = new AbortController()
  const waiting = client.callToolRaw('hang', {}, { signal: abort.signal })
  await until(() => relay.hanging.size === 1)
  expect(await echo(client)).toBe(OVERLOADED)
  abort.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
  await expect.poll(() => relay.relay.upstreams()).toBe(1)
  const ask = { name: 'ask', arguments: {} }
  const { result } = await client.exchange('tools/call', ask)
  expect(result.inputRequests).toMatchObject({ q0: { method: 'elicitation/create' } })
  expect(await echo(client)).toBe('done')
  const answer = { ...ask, requestState: result.requestState, inputResponses: { q0: { action: 'accept', content: {} } } }
  await expect(client.exchange('tools/call', answer)).rejects.toMatchObject({ message: expect.stringContaining('is over') })
})

test('who ends a session with DELETE leaves its place at once', async () => {
  const relay = await open({ ownUpstreams: 1 })
  const { headers } = await relay.session()
  expect((await send(relay.mcp, 'DELETE', null, headers)).status).toBe(200)
  expect((await relay.session()).first).toBe('done')
})

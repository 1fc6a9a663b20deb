import { afterEach, expect, test } from 'vitest'
import { type Client, connectClient, httpTransport } from '../client/index.ts'
import type { Call, Service } from '../service.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { type Relay, openRelay } from './relay.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A legacy server whose tool asks, and then takes as long as the test wants. */
function openAskingService() {
  const answered: unknown[] = []
  const finish = Promise.withResolvers<void>()
  const cancelled: unknown[] = []
  const service: Service = {
    info: { name: 'asks', version: '1' },
    capabilities: { tools: {} },
    call: async (method, _params, call: Call) => {
      if (method === 'tools/list') return { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }
      call.signal.addEventListener('abort', () => cancelled.push(call.id))
      const requestedSchema = { type: 'object', properties: {} }
      answered.push((await call.ask('elicitation/create', { message: 'sure?', requestedSchema })).action)
      await finish.promise
      return { content: [{ type: 'text', text: 'done' }] }
    },
  }
  return { service, answered, cancelled, finish: () => finish.resolve() }
}

async function open(service: Service): Promise<{ client: Client; relay: Relay }> {
  const upstream = await openTestServer(service, { open: true })
  const relay = await openRelay({
    era: 'legacy',
    clientInfo: { name: 'relay', version: '1' },
    connect: async () => httpTransport({ url: upstream.mcp }),
  })
  const server = await openTestServer(relay, { open: true, limits: { callsPerCaller: 2 } })
  const client = await connectClient(httpTransport({ url: server.mcp }), {
    clientInfo: { name: 'test', version: '1' },
    era: 'modern',
    capabilities: { elicitation: {} },
  })
  closing.push(async () => {
    await client.close()
    await server[Symbol.asyncDispose]()
    await relay.close()
    await upstream[Symbol.asyncDispose]()
  })
  return { client, relay }
}
const CALL = { name: 'ask', arguments: {} }

test('a state that is sent twice at once is answered once, and the other request ends', async () => {
  const asking = openAskingService()
  const { client, relay } = await open(asking.service)
  const { result } = await client.exchange('tools/call', CALL)
  const retry = { ...CALL, requestState: result.requestState, inputResponses: { q0: { action: 'accept' } } }
  const earlier = client.exchange('tools/call', retry)
  await expect.poll(() => asking.answered).toEqual(['accept'])
  const later = client.exchange('tools/call', retry)
  await expect(earlier).rejects.toMatchObject({ code: -32600, message: expect.stringContaining('sent again') })
  asking.finish()
  expect((await later).result).toMatchObject({ content: [{ text: 'done' }] })
  expect(asking).toMatchObject({ answered: ['accept'], cancelled: [] })
  await expect.poll(() => relay.upstreams()).toBe(1)
})

test('however often a state is sent again, no more than one request of it waits', async () => {
  const asking = openAskingService()
  const { client } = await open(asking.service)
  const { result } = await client.exchange('tools/call', CALL)
  const retry = { ...CALL, requestState: result.requestState, inputResponses: { q0: { action: 'accept' } } }
  let waiting = client.exchange('tools/call', retry)
  await expect.poll(() => asking.answered).toEqual(['accept'])
  for (let round = 0; round < 4; round += 1) {
    const later = client.exchange('tools/call', retry)
    await expect(waiting).rejects.toMatchObject({ message: expect.stringContaining('sent again') })
    waiting = later
  }
  asking.finish()
  expect((await waiting).result).toMatchObject({ content: [{ text: 'done' }] })
})

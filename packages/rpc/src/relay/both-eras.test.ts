import { afterEach, expect, test } from 'vitest'
import { type Client, connectClient, httpTransport, webSocketTransport } from '../client/index.ts'
import type { EraChoice } from '../client/negotiate.ts'
import type { Era } from '../revision.ts'
import type { Call, Service } from '../service.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openRelay } from './relay.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A server in both eras that says what it was called with, and what each era finds it to be. */
function tellingService(): Service {
  const call = (method: string, _params: object, { era, answers, state, client }: Call) => {
    if (method === 'tools/list') return { tools: [{ name: 'any', inputSchema: { type: 'object' } }] }
    const told = { era, answers: answers ?? null, state: state ?? null, by: client.info?.name ?? null }
    return { content: [{ type: 'text', text: JSON.stringify(told) }] }
  }
  const inEra = (era: Era): Service => ({
    info: { name: `told-${era}`, version: '1' },
    capabilities: era === 'legacy' ? { tools: {}, logging: {} } : { tools: {} },
    call,
  })
  const sides = { legacy: inEra('legacy'), modern: inEra('modern') }
  return { ...sides.modern, forEra: (era) => sides[era] }
}

async function openBefore(era: EraChoice): Promise<{ mcp: string; ws: string; upstreams: () => number }> {
  const upstream = await openTestServer(tellingService(), { open: true })
  const relay = await openRelay({
    era,
    clientInfo: { name: 'relay', version: '1' },
    connect: async () => httpTransport({ url: upstream.mcp }),
  })
  const server = await openTestServer(relay, { open: true })
  closing.push(async () => {
    await server[Symbol.asyncDispose]()
    await relay.close()
    await upstream[Symbol.asyncDispose]()
  })
  return { mcp: server.mcp, ws: server.ws, upstreams: () => relay.upstreams() }
}

async function clientOf(url: string, era: Era): Promise<Client> {
  const transport = url.startsWith('ws') ? webSocketTransport({ url }) : httpTransport({ url })
  const client = await connectClient(transport, { clientInfo: { name: 'test', version: '1' }, era })
  closing.push(() => client.close())
  return client
}

const toldBy = (result: unknown) => JSON.parse(JSON.parse(JSON.stringify(result)).content[0].text)

test.for(['mcp', 'ws'] as const)('on %s a server in both eras is to each client what it is in theirs', async (wire) => {
  const served = await openBefore('auto')
  for (const era of ['legacy', 'modern'] as const) {
    const client = await clientOf(served[wire], era)
    expect(client.server.info.name).toBe(`told-${era}`)
    expect(client.server.capabilities['logging']).toEqual(era === 'legacy' ? {} : undefined)
    expect(toldBy(await client.callToolRaw('any', {}))).toMatchObject({ era })
  }
  expect(served.upstreams()).toBe(2)
})

test.for(['legacy', 'modern'] as const)('an era that was chosen, %s, is spoken for all clients', async (chosen) => {
  const served = await openBefore(chosen)
  for (const era of ['legacy', 'modern'] as const) {
    const client = await clientOf(served.mcp, era)
    expect(client.server.info.name).toBe(`told-${chosen}`)
    expect(toldBy(await client.callToolRaw('any', {}))).toMatchObject({ era: chosen })
  }
  expect(served.upstreams()).toBe(1)
})

test('answers that come without a state reach the server', async () => {
  const served = await openBefore('auto')
  const client = await clientOf(served.mcp, 'modern')
  const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } }
  const { result } = await client.exchange('tools/call', { name: 'any', arguments: {}, inputResponses })
  expect(toldBy(result)).toEqual({ era: 'modern', answers: inputResponses, state: null, by: 'test' })
})

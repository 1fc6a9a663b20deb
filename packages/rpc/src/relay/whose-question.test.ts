import { isJsonObject } from '@parley/protocol'
import { afterEach, expect, test } from 'vitest'
import { openSdk1Http } from '../client/fixture/sdk1-server.ts'
import { spawnServer } from '../client/fixture/spawn-server.ts'
import { type Client, connectClient, httpTransport } from '../client/index.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { type RelayOptions, openRelay } from './relay.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function overHttp(): Promise<RelayOptions['connect']> {
  const server = await openSdk1Http()
  closing.push(() => server[Symbol.asyncDispose]())
  return async () => httpTransport({ url: server.url })
}
async function onPipe(): Promise<RelayOptions['connect']> {
  return async () => {
    const spawned = spawnServer('../../client/fixture/sdk1-stdio-main.ts')
    closing.push(() => spawned[Symbol.asyncDispose]())
    return spawned.transport
  }
}

/** All clients show the same token, as those of one proxy do. */
async function clientsOf(dial: RelayOptions['connect'], count: number): Promise<Client[]> {
  const relay = await openRelay({ connect: dial, clientInfo: { name: 'relay', version: '1' } })
  const server = await openTestServer(relay)
  closing.push(async () => {
    await server[Symbol.asyncDispose]()
    await relay.close()
  })
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = await connectClient(httpTransport({ url: server.mcp, token: 'the one' }), {
        clientInfo: { name: 'test', version: '1' },
        era: 'modern',
        capabilities: { elicitation: {} },
      })
      closing.push(() => client.close())
      return client
    }),
  )
}

/** What a call is asked, and what comes of it when that is answered with the name of whoever called. */
async function askedAs(client: Client | undefined, who: string, calls: number): Promise<unknown> {
  const params = { name: 'ask_aside', arguments: { who, calls } }
  const first = await client?.exchange('tools/call', params)
  const requests = first?.result.inputRequests
  if (!isJsonObject(requests)) return first?.result
  const inputResponses = Object.fromEntries(
    Object.keys(requests).map((key) => [key, { action: 'accept', content: { name: `from ${who}` } }]),
  )
  const last = await client?.exchange('tools/call', { ...params, requestState: first?.result.requestState, inputResponses })
  return { asked: requests, result: last?.result }
}
const whatIsRight = (who: string) => ({
  asked: { q0: expect.objectContaining({ params: expect.objectContaining({ message: `for ${who}` }) }) },
  result: expect.objectContaining({
    content: [{ type: 'text', text: `{"action":"accept","content":{"name":"from ${who}"}}` }],
  }),
})

test('a server that does not say for which call it asks reaches the client of that call', async () => {
  const [ada, bob] = await clientsOf(await overHttp(), 2)
  expect(await Promise.all([askedAs(ada, 'Ada', 2), askedAs(bob, 'Bob', 2)])).toEqual([whatIsRight('Ada'), whatIsRight('Bob')])
})

test.for([
  ['over HTTP', overHttp],
  ['on a pipe', onPipe],
] as const)('what a server %s asks after its call was answered is asked of nobody else', async ([_wire, dial]) => {
  const [ada, bob] = await clientsOf(await dial(), 2)
  await ada?.callToolRaw('ask_later', { who: 'Ada' })
  expect(await askedAs(bob, 'Bob', 1)).toEqual(whatIsRight('Bob'))
})

import { randomUUID } from 'node:crypto'
import { type Call, type Client, type Service, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, openTestGateway, request } from '../fixture/test-gateway.ts'

const kept = keeping()

/** A compositor’s stand-in: says which agent it is, who called, and can be watched. */
function serviceOf(agentId: string, by: string, watched = new Set<() => void>()): Service {
  return {
    info: { name: 'stand-in', version: '1' },
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    call: async (method, params, call: Call) => {
      if (method === 'tools/list') return { tools: [{ name: `tool-of-${agentId}`, inputSchema: { type: 'object' } }] }
      if (method === 'resources/list') return { resources: [] }
      if (params['name'] === 'hang')
        await new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(new Error('cancelled'))))
      if (params['name'] === 'progress') for (let at = 1; at <= 3; at += 1) call.progress(at, 3)
      return { content: [{ type: 'text', text: JSON.stringify({ agentId, by, caller: call.caller.key }) }] }
    },
    watch: (_uri, changed) => {
      watched.add(changed)
      return () => void watched.delete(changed)
    },
  }
}

async function agentAt(gw: TestGateway): Promise<{ id: string; token: string }> {
  const id = String((await gw.admin('agent.create')).structuredContent?.['agent_id'])
  return { id, token: String((await gw.admin('agent.token', { agent_id: id })).structuredContent?.['token']) }
}

/** Claims whatever is to be awake, until the test ends. */
function takeAll(host: TestHost): void {
  void (async () => {
    for (;;) await host.call('host.claim_next', { wait_ms: 5_000 })
  })().catch(() => undefined)
}

async function clientOf(gw: TestGateway, token: string, wire: 'http' | 'ws', era: 'legacy' | 'modern'): Promise<Client> {
  const transport =
    wire === 'http' ? httpTransport({ url: gw.gateway.mcp, token }) : webSocketTransport({ url: gw.gateway.ws, token })
  const client = await connectClient(transport, { clientInfo: { name: 'test', version: '1' }, era })
  kept({ [Symbol.asyncDispose]: () => client.close() })
  return client
}
const told = (result: unknown) => JSON.parse(JSON.parse(JSON.stringify(result)).content[0].text)

test.for([
  ['http', 'legacy'],
  ['http', 'modern'],
  ['ws', 'legacy'],
  ['ws', 'modern'],
] as const)('by %s in the %s era an agent’s token reaches its compositor, and no other', async ([wire, era]) => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  host.serve = (id) => serviceOf(id, 'h1')
  takeAll(host)
  const [one, other] = [await agentAt(gw), await agentAt(gw)]
  for (const agent of [one, other]) {
    const client = await clientOf(gw, agent.token, wire, era)
    expect(client.server.info).toMatchObject({ name: 'parley', role: 'agent' })
    expect((await client.listTools()).map(({ name }) => name)).toEqual([`tool-of-${agent.id}`])
    expect(told(await client.callToolRaw('any', {}))).toMatchObject({ agentId: agent.id, by: 'h1' })
    const seen: number[] = []
    await client.callToolRaw('progress', {}, { onProgress: ({ progress }) => seen.push(progress) })
    expect(seen).toEqual([1, 2, 3])
    expect((await gw.admin('agent.get', { agent_id: agent.id })).structuredContent).toMatchObject({ status: 'awake', host: 'h1' })
  }
  const lines = await gw.admin('audit.search', { action: 'tools/call' })
  expect(JSON.stringify(lines.structuredContent)).toContain('"target":"any"')
})

test('two sessions of one token are two callers to the host, and say the same key', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  host.serve = (id) => serviceOf(id, 'h1')
  takeAll(host)
  const { token } = await agentAt(gw)
  const clients = [await clientOf(gw, token, 'ws', 'legacy'), await clientOf(gw, token, 'ws', 'legacy')]
  const callers = await Promise.all(clients.map(async (client) => JSON.parse(told(await client.callToolRaw('any', {})).caller)))
  expect(callers[0].key).toBe(callers[1].key)
  expect(callers[0].link).not.toBe(callers[1].link)
})

test('without a host it is 503 with a time to come back, and the agent waits for one', async () => {
  const gw = kept(await openTestGateway({ limits: { wakeMs: 20 } }))
  const { id, token } = await agentAt(gw)
  const { status, headers, body } = await request(gw.gateway.url, token, 'tools/list')
  expect({ status, retry: headers.get('retry-after') }).toEqual({ status: 503, retry: '2' })
  expect(JSON.stringify(body)).toContain('no host has taken this agent yet')
  expect((await gw.admin('agent.get', { agent_id: id })).structuredContent).toMatchObject({ status: 'waking' })
})

test('an agent whose host is gone is 503 again, and a session that was open goes on with the next host', async () => {
  const gw = kept(await openTestGateway({ limits: { wakeMs: 50 } }))
  const first = kept(await TestHost.open(gw, 'h1'))
  first.serve = (id) => serviceOf(id, 'h1')
  const { token } = await agentAt(gw)
  const claiming = first.claim(30_000)
  // A busy machine may take longer than that to open the way.
  await expect.poll(async () => (await request(gw.gateway.url, token, 'tools/list')).status, { timeout: 60_000 }).toBe(200)
  const client = await clientOf(gw, token, 'ws', 'legacy')
  expect(told(await client.callToolRaw('any', {}))).toMatchObject({ by: 'h1' })
  await first.call('host.release', await claiming)
  first.kill()
  const answer = async () => {
    const { status, headers } = await request(gw.gateway.url, token, 'tools/list')
    return { status, retry: headers.get('retry-after') }
  }
  await expect.poll(answer, { timeout: 30_000 }).toEqual({ status: 503, retry: '2' })
  expect(await answer()).toEqual({ status: 503, retry: '2' })
  const second = kept(await TestHost.open(gw, 'h2'))
  second.serve = (id) => serviceOf(id, 'h2')
  takeAll(second)
  await expect.poll(async () => (await answer()).status, { timeout: 60_000 }).toBe(200)
  await expect.poll(() => client.callToolRaw('any', {}).then((result) => told(result).by, String), { timeout: 60_000 }).toBe('h2')
})

test('a host that is asked before it has heard that it holds the agent is asked again', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  host.serve = (id) => serviceOf(id, 'h1')
  host.refusals = 2
  takeAll(host)
  const { token } = await agentAt(gw)
  // A busy machine may take longer than one request waits for it.
  await expect.poll(async () => (await request(gw.gateway.url, token, 'tools/list')).status, { timeout: 60_000 }).toBe(200)
  expect(host.refusals).toBe(0)
})

test('a host that lets go of an agent, as when it stops, is nothing to warn of; one that breaks off is', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  host.serve = (id) => serviceOf(id, 'h1')
  takeAll(host)
  const { token } = await agentAt(gw)
  const isReached = async () => (await request(gw.gateway.url, token, 'tools/list')).status
  await expect.poll(isReached, { timeout: 60_000 }).toBe(200)
  const gone = () => gw.logged.filter((line) => line.includes('the upstream server is gone'))
  expect(host.endTunnels('the agent is let go of')).toBe(1)
  // The way is dialled again when it is needed.
  const another = async () => (await isReached()) === 200 && host.endTunnels('it broke')
  await expect.poll(another, { timeout: 60_000 }).toBe(1)
  await expect.poll(gone, { timeout: 60_000 }).toEqual([expect.stringContaining('the upstream server is gone: it broke')])
})

test('a host that is killed loses the agent to the next one, and a call under way is not sent again', async () => {
  const gw = kept(await openTestGateway())
  const first = kept(await TestHost.open(gw, 'h1'))
  let sent = 0
  first.serve = (id) => {
    const service = serviceOf(id, 'h1')
    return {
      ...service,
      call: (method, params, call) => {
        if (params['name'] === 'hang') sent += 1
        return service.call(method, params, call)
      },
    }
  }
  const { id, token } = await agentAt(gw)
  const claiming = first.claim()
  const client = await clientOf(gw, token, 'ws', 'legacy')
  const claim = await claiming
  expect(told(await client.callToolRaw('any', {}))).toMatchObject({ by: 'h1' })
  const hanging = client.callToolRaw('hang', {}).then(String, String)
  await expect.poll(() => sent).toBe(1)
  const second = kept(await TestHost.open(gw, 'h2'))
  second.serve = (agentId) => serviceOf(agentId, 'h2')
  await first.call('host.release', claim)
  first.kill()
  takeAll(second)
  expect(await hanging).toContain('may or may not have run')
  await expect.poll(() => client.callToolRaw('any', {}).then((result) => told(result).by, String), { timeout: 30_000 }).toBe('h2')
  expect(sent).toBe(1)
  expect((await gw.admin('agent.get', { agent_id: id })).structuredContent).toMatchObject({ host: 'h2' })
})

test('a way that is open stays open, however short the wait for it may be', async () => {
  const wakeMs = 1_000
  const gw = kept(await openTestGateway({ limits: { wakeMs } }))
  const host = kept(await TestHost.open(gw))
  let tunnels = 0
  host.serve = (id) => {
    tunnels += 1
    return serviceOf(id, 'h1')
  }
  takeAll(host)
  const { token } = await agentAt(gw)
  // A busy machine may take longer than that to open it.
  await expect.poll(async () => (await request(gw.gateway.url, token, 'tools/list')).status, { timeout: 60_000 }).toBe(200)
  const before = tunnels
  const client = await clientOf(gw, token, 'http', 'modern')
  const until = performance.now() + 2 * wakeMs
  while (performance.now() < until) await client.callToolRaw('any', {})
  expect(tunnels).toBe(before)
})

test('a deleted agent’s token is refused and what it opened is cut', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  host.serve = (id) => serviceOf(id, 'h1')
  takeAll(host)
  const { id, token } = await agentAt(gw)
  const client = await clientOf(gw, token, 'ws', 'legacy')
  await client.callToolRaw('any', {})
  await gw.admin('agent.delete', { agent_id: id })
  await client.closed
  expect((await request(gw.gateway.url, token, 'tools/list')).status).toBe(401)
})

test('a watch of a client is one watch at the host, and ends with the client', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  const watched = new Set<() => void>()
  host.serve = (id) => serviceOf(id, 'h1', watched)
  takeAll(host)
  const { token } = await agentAt(gw)
  const clients = [await clientOf(gw, token, 'ws', 'legacy'), await clientOf(gw, token, 'http', 'modern')]
  const heard = [0, 0]
  const uri = `test://${randomUUID()}`
  for (const [at, client] of clients.entries()) await client.subscribe(uri, () => (heard[at] = (heard[at] ?? 0) + 1))
  await expect.poll(() => watched.size).toBe(1)
  for (const changed of watched) changed()
  await expect.poll(() => heard.every((count) => count > 0)).toBe(true)
  for (const client of clients) await client.close()
  await expect.poll(() => watched.size).toBe(0)
})

test('nobody at an agent for a while closes the way to it, and it is opened again when somebody comes', async () => {
  const gw = kept(await openTestGateway({ limits: { quietMs: 10 } }))
  const host = kept(await TestHost.open(gw))
  let tunnels = 0
  host.serve = (id) => {
    tunnels += 1
    return serviceOf(id, 'h1')
  }
  takeAll(host)
  const { token } = await agentAt(gw)
  expect((await request(gw.gateway.url, token, 'tools/list')).status).toBe(200)
  await expect
    .poll(async () => {
      await request(gw.gateway.url, token, 'tools/list')
      return tunnels
    })
    .toBeGreaterThan(1)
})

import type { JsonObject } from '@parley/protocol'
import { type Call, type Client, type Service, connectClient, httpTransport } from '@parley/rpc'
import { TASKS_CAPABILITY } from '@parley/task'
import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, openTestGateway } from '../fixture/test-gateway.ts'

const kept = keeping()

/** An agent whose calls are held in its host until the test lets them go. */
async function worldOf() {
  const gw = kept(await openTestGateway({ limits: { wire: { stillHeldMs: 20, streamAfterMs: 600_000 } } }))
  const host = kept(await TestHost.open(gw))
  const waiting: (() => void)[] = []
  const cancelled: string[] = []
  const onHeld: { act: (call: Call) => void } = { act: () => undefined }
  const service: Service = {
    info: { name: 'stand-in', version: '1' },
    capabilities: { tools: {} },
    call: (method, params, call) => {
      if (method === 'tools/list') return { tools: [] }
      call.held('waits for a person to decide', 'unsent')
      onHeld.act(call)
      return new Promise((resolve) => {
        call.signal.addEventListener('abort', () => cancelled.push(JSON.stringify(params['name'])))
        waiting.push(() => resolve({ content: [{ type: 'text', text: `did ${JSON.stringify(params['name'])}` }] }))
      })
    },
  }
  host.serve = () => service
  void (async () => {
    for (;;) await host.call('host.claim_next', { wait_ms: 5_000 })
  })().catch(() => undefined)
  const agent_id = (await gw.admin('agent.create')).structuredContent?.['agent_id']
  const tokenOf = async () => String((await gw.admin('agent.token', { agent_id })).structuredContent?.['token'])
  return { gw, host, waiting, cancelled, tokenOf, onHeld }
}

async function clientOf(gw: TestGateway, token: string, capabilities: JsonObject): Promise<Client> {
  const transport = httpTransport({ url: gw.gateway.mcp, token })
  const client = await connectClient(transport, { clientInfo: { name: 'test', version: '1' }, era: 'modern', capabilities })
  kept({ [Symbol.asyncDispose]: () => client.close() })
  return client
}

test('a call that waits in the host is a task at once for who declares them, of that token alone', async () => {
  const { gw, waiting, cancelled, tokenOf } = await worldOf()
  const token = await tokenOf()
  const client = await clientOf(gw, token, TASKS_CAPABILITY)
  expect(client.server.capabilities).toMatchObject(TASKS_CAPABILITY)
  const { taskId, ...task } = await client.request('tools/call', { name: 'write', arguments: {} })
  expect(task).toMatchObject({ resultType: 'task', status: 'working', statusMessage: 'waits for a person to decide' })
  const id = { taskId }
  const other = await clientOf(gw, await tokenOf(), TASKS_CAPABILITY)
  await expect(other.request('tasks/get', id)).rejects.toMatchObject({ code: -32_602 })
  await client.close()
  // Another connection of the same token goes on.
  const again = await clientOf(gw, token, TASKS_CAPABILITY)
  expect(await again.request('tasks/get', id)).toMatchObject({ status: 'working' })
  waiting.shift()?.()
  await expect
    .poll(() => again.request('tasks/get', id))
    .toMatchObject({ status: 'completed', result: { content: [{ text: 'did "write"' }] } })
  expect(cancelled).toEqual([])
  const { taskId: second } = await again.request('tools/call', { name: 'erase', arguments: {} })
  await again.request('tasks/cancel', { taskId: second })
  await expect.poll(() => cancelled).toEqual(['"erase"'])
})

test.each(['legacy', 'modern'] as const)(
  'a %s client without tasks gets a stream at once, kept alive by progress',
  async (era) => {
    const { gw, waiting, tokenOf } = await worldOf()
    const transport = httpTransport({ url: gw.gateway.mcp, token: await tokenOf() })
    const client = await connectClient(transport, { clientInfo: { name: 'test', version: '1' }, era })
    kept({ [Symbol.asyncDispose]: () => client.close() })
    const heard: (string | undefined)[] = []
    const called = client.callToolRaw('write', {}, { onProgress: ({ message }) => heard.push(message) })
    await expect.poll(() => heard.length).toBeGreaterThan(3)
    expect(new Set(heard)).toEqual(new Set(['waits for a person to decide']))
    waiting.shift()?.()
    expect(await called).toMatchObject({ content: [{ text: 'did "write"' }] })
  },
)

test.each([
  ['unsent', undefined, /a person is asked about this call, and nothing was sent yet.*Make the same call again/],
  ['sent since', (call: Call) => call.goesOn(), /may or may not have run/],
] as const)('a call that is held, %s, says so when the way to its host is lost', async (_name, then, words) => {
  const { gw, host, tokenOf, onHeld } = await worldOf()
  onHeld.act = (call) => then?.(call)
  const client = await clientOf(gw, await tokenOf(), {})
  let heard = 0
  const call = client.callToolRaw('write', {}, { onProgress: () => void heard++ }).then(String, String)
  // The gateway knows by then that it is held.
  await expect.poll(() => heard).toBeGreaterThan(3)
  host.kill()
  expect(await call).toMatch(words)
})

import { expect, test } from 'vitest'
import { connectClient } from './client/client.ts'
import { memoryPair, memoryTransport } from './client/link/memory-transport.ts'
import { serveMemory } from './memory.ts'
import { openProbe, until } from './fixture/probe-service.ts'

test.each(['legacy', 'modern'] as const)('a client and a service meet in memory, %s', async (era) => {
  const probe = openProbe()
  const { client: near, server: far } = memoryPair()
  serveMemory(far, probe.service, { key: 'me' })
  const client = await connectClient(memoryTransport(near), { clientInfo: { name: 't', version: '1' }, era })
  expect(client.era).toBe(era)
  expect(await client.request('tools/call', { name: 'echo', arguments: { a: 1 } })).toMatchObject({ structuredContent: { a: 1 } })
  let changes = 0
  const unsubscribe = await client.subscribe('test://a', () => {
    changes += 1
  })
  probe.change('test://a')
  await until(() => changes === 1)
  await unsubscribe()
  await client.close()
  await until(() => probe.watchers() === 0)
})

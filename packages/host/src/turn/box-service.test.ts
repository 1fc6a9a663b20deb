import { connectClient, memoryPair, memoryTransport, serveMemory } from '@parley/rpc'
import { expect, test } from 'vitest'
import { BOX_CALLER, boxService } from './box-service.ts'
import { openTurnWorld } from './fixture/turn-world.ts'

test('a command finds no tool whose effect outlives it, and calls none', async () => {
  await using world = await openTurnWorld()
  const { client, server } = memoryPair()
  serveMemory(server, boxService(world.compositor), BOX_CALLER)
  const connected = await connectClient(memoryTransport(client), { clientInfo: { name: 't', version: '1' } })
  const names = (await connected.listTools()).map(({ name }) => name)
  expect(names).toContain('resources_read')
  for (const name of ['resources_subscribe', 'resources_unsubscribe', 'policy_propose', 'policy_withdraw', 'loop_yield']) {
    expect(names).not.toContain(name)
    await expect(connected.callTool(name, { uri: 'test://a' })).rejects.toThrow('for the model alone')
  }
  await connected.close()
})

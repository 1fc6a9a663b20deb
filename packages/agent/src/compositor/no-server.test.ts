import { type ClientTransport, memoryPair, memoryTransport } from '@parley/rpc'
import { expect, test } from 'vitest'
import { openTestCompositor } from './fixture/test-compositor.ts'

/** A program that reads messages and does this with each. */
function program(heard: (text: string, say: (text: string) => void) => void): ClientTransport {
  const { client, server } = memoryPair()
  server.listen(
    (text) => heard(text, (said) => server.send(said)),
    () => {},
  )
  return memoryTransport(client)
}

test('a program that never answers is told of with what it said beside messages', async () => {
  await using world = await openTestCompositor({ limits: { startMs: 30 } })
  const silent = (): ClientTransport => ({ ...program(() => {}), said: () => '; it said last: no way to the registry' })
  world.mount(silent, { name: 'silent', era: 'legacy', eager: true })
  await expect
    .poll(() => world.compositor.mounts()[0]?.last_error)
    .toBe('initialize was not answered within 30 ms; it said last: no way to the registry')
})

test.each(['legacy', 'modern'] as const)('a program that repeats what it reads is called no MCP server, %s', async (era) => {
  await using world = await openTestCompositor()
  world.mount(() => program((text, say) => say(text)), { name: 'cat', era, eager: true })
  await expect
    .poll(() => world.compositor.mounts()[0]?.last_error)
    .toMatch(/^the program answers with our own message \((initialize|server\/discover)\), so it is no MCP server$/)
})

import { type Client, connectClient, httpTransport } from '@parley/rpc'
import { startPostgres } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { AgentsWorld, type SoakAgent } from './agents-world.ts'

/** Far beyond a lease, which has to run out in between. */
const MANY_PROCESSES = { timeout: 180_000 }
const SLOW = { timeout: 90_000 }

test(
  'two gateways, two hosts: either gateway reaches an agent, one host holds it, and the other goes on when it dies',
  MANY_PROCESSES,
  async () => {
    await using postgres = await startPostgres()
    await using world = await AgentsWorld.open({ database: postgres.url, gateways: 2, hosts: 2, agents: 1 })
    const [agent] = world.agents
    if (agent === undefined) throw new Error('there is no agent')
    await using clients = new AsyncDisposableStack()
    const dial = async (gateway: number): Promise<Client> => {
      const transport = httpTransport({ url: world.mcp(gateway), token: agent.token })
      const client = await connectClient(transport, { clientInfo: { name: 'test', version: '1' } })
      clients.defer(() => client.close())
      return client
    }
    const [one, other] = [await dial(0), await dial(1)]
    const called = async (client: Client, call: string): Promise<unknown> =>
      (await client.callToolRaw('m_effect', { call }).catch(() => undefined))?.['content']
    const done = (call: string) => [{ type: 'text', text: `done ${call}` }]
    expect(await called(one, 'through-one')).toEqual(done('through-one'))
    expect(await called(other, 'through-other')).toEqual(done('through-other'))
    expect(hostsOf(agent)).toHaveLength(1)
    const [holder = ''] = hostsOf(agent)
    const before = agent.pids()
    expect(before).not.toEqual([])

    await world.killHost(Number(/^host-(\d)/.exec(holder)?.[1]))
    // Each try is a call of its own: one that was lost with its host is not sent again.
    for (const [name, client] of Object.entries({ other, one })) {
      let tries = 0
      await expect
        .poll(() => called(client, `${name}-again-${(tries += 1)}`), SLOW)
        .toEqual([{ type: 'text', text: expect.stringContaining(`done ${name}-again-`) }])
    }
    const lines = agent.lines()
    const effects = lines.flatMap((line) => (line.step === 'effect' ? [line.call] : []))
    expect(new Set(effects).size).toBe(effects.length)
    const taken = hostsOf(agent).filter((host) => host !== holder)
    expect(taken).toEqual([expect.not.stringMatching(holder.slice(0, 'host-0'.length))])
    expect(agent.pids().filter((pid) => before.includes(pid))).toEqual([])
  },
)

/** The hosts that have run its mount, in order. */
function hostsOf(agent: SoakAgent): readonly string[] {
  return [...new Set(agent.lines().flatMap((line) => (line.step === 'start' ? [line.host] : [])))]
}

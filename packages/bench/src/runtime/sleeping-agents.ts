import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentSettings, MountSettings } from '@parley/protocol'
import { openStore } from '@parley/store'
import { treeUse } from '../measure/process-tree.ts'
import { openOwnGateway } from '../own/open-gateway.ts'
import type { Rounds } from '../rounds.ts'
import { Runtime } from './open-runtime.ts'

const AGENTS = 10_000
const AT_ONCE = 100
const MEBIBYTE = 1024 * 1024
const WHOSE = `${AGENTS} sleeping agents`

/** What agents cost that nobody uses: memory of the gateway, and processes of gateway and host. */
export async function sleepingAgentsRound(rounds: Rounds): Promise<void> {
  const [none, many] = [await useWith(0), await useWith(AGENTS)]
  rounds.add(WHOSE, 'more_memory', 'MiB', (many.gatewayBytes - none.gatewayBytes) / MEBIBYTE)
  rounds.add(WHOSE, 'more_processes', 'processes', many.processes - none.processes)
}

async function useWith(agents: number): Promise<{ readonly gatewayBytes: number; readonly processes: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sleeping-'))
  // Once without agents, so that there is an admin to own them.
  const first = await openOwnGateway({ folder })
  await first.program.stop()
  await addAgents(folder, agents)
  await using open = await Runtime.open({ folder })
  // Somebody looks at them once: what that takes is counted.
  await open.admin.callTool('agent.list', { limit: 200 })
  const [gateway, host] = [await treeUse(open.gateway.program.pid), await treeUse(open.host.pid)]
  return { gatewayBytes: gateway.residentBytes, processes: gateway.processes + host.processes }
}

/** Straight into the store, each with a mount, and past the bound of a person: 10,000 are those of an installation. */
async function addAgents(folder: string, count: number): Promise<void> {
  const store = await openStore({ url: `sqlite:${join(folder, 'parley.db')}` })
  try {
    const owner = await store.users.byName('admin')
    if (owner === undefined) throw new Error('there is no admin')
    const settings = AgentSettings.parse({ instructions: 'Be brief.', model: null, engine: 'mini' })
    const mount = { name: 'only', sealed: 'sealed', shown: '{"kind":"stdio"}', options: MountSettings.parse({}) }
    for (let made = 0; made < count; made += AT_ONCE)
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) =>
          store.agents.add({
            ownerId: owner.id,
            name: `sleeper-${made + at}`,
            base: 'sleeper',
            kind: 'external',
            preset: 'default',
            settings,
            mounts: [mount],
            maxAgents: count,
          }),
        ),
      )
  } finally {
    await store.close()
  }
}

import type { SteadyClient } from '@parley/client'
import type { AgentId } from '@parley/protocol'
import type { Io } from '@parley/command-line'

/** Nothing stands in the transcript of an external agent: whoever reads nothing is told why, and where to look. */
export async function tellIfExternal(caller: SteadyClient, agent_id: AgentId, io: Pick<Io, 'err'>): Promise<void> {
  const { kind, name } = await caller.call('agent.get', { agent_id })
  if (kind === 'external')
    io.err(`${name} is external: its turns are its own program's; parley agent calls ${name} shows what it called\n`)
}

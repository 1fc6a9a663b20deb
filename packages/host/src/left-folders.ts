import { AGENT_LIMITS, type AgentId, messageOf } from '@parley/protocol'
import type { GatewayCall } from './gateway-calls.ts'
import type { AgentFolders } from './mount/agent-folders.ts'

export interface LeftFolders {
  readonly folders: AgentFolders
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Whether this host holds it, or is taking it. */
  readonly isHere: (id: AgentId) => boolean
  readonly call: GatewayCall
  readonly signal: AbortSignal
}

/** Removes what is left on this host of agents that are no more: deleted while it was away, or while another held them. */
export async function removeLeft({ folders, log, isHere, call, signal }: LeftFolders): Promise<void> {
  try {
    const left = (await folders.list()).filter((id) => !isHere(id))
    for (let at = 0; at < left.length; at += AGENT_LIMITS.knownIds) {
      const agent_ids = left.slice(at, at + AGENT_LIMITS.knownIds)
      const { installation, known } = await call('host.agents_known', { agent_ids }, signal)
      if (!(await folders.areOf(installation)))
        return log('warn', 'the data folder holds agents of another installation: nothing of them is removed')
      for (const id of agent_ids) if (!known.includes(id)) await removeFolder(id, { folders, log })
    }
  } catch (error) {
    if (!signal.aborted) log('warn', `what is left of agents that were deleted cannot be removed: ${messageOf(error)}`)
  }
}

export async function removeFolder(id: AgentId, { folders, log }: Pick<LeftFolders, 'folders' | 'log'>): Promise<void> {
  try {
    await folders.remove(id)
  } catch (error) {
    log('warn', `the folder of ${id} cannot be removed: ${messageOf(error)}`)
  }
}

import type { SteadyClient } from '@parley/client'
import { type AgentId, missingDownload, type Mount, type ServerSpec } from '@parley/protocol'

/** What of a mount was typed how, where the gateway speaks of fields. */
export const MOUNT_WORDS = {
  'server.place': '--place',
  'server.place.executor': '--place',
  'server.network': '--network',
  'server.folder': '--folder',
  'server.url': 'SERVER',
} as const

/** What whoever mounts this should know at once: it shows when the agent wakes, and hardly says why. */
export function mountNotes(server: ServerSpec): readonly string[] {
  if (server.kind === 'http') return []
  const { command, folder, place } = server
  const isRelative = command.includes('/') && !command.startsWith('/')
  return [
    missingDownload(server),
    isRelative
      ? `${command} is looked for in ${folder ?? 'the mount’s own folder'}, wherever you are: a whole path is safe`
      : undefined,
    folder === undefined || place.kind === 'executor'
      ? undefined
      : `the host must have been started with a --root that holds ${folder}, as by parley up --root ${folder}`,
  ].filter((note) => note !== undefined)
}

/** How many mounts there are, and how many of them do not work. */
export function mountsText(agent: string, mounts: readonly Pick<Mount, 'state'>[]): string {
  const failed = mounts.filter(({ state }) => state?.state === 'failed' || state?.state === 'restarting')
  const all = String(mounts.length)
  return failed.length === 0 ? all : `${all}, ${failed.length} failed: parley mount list ${agent} says why`
}

/** What its person calls it. */
export async function agentName(caller: SteadyClient, agent_id: AgentId): Promise<string> {
  return (await caller.call('agent.get', { agent_id })).name
}

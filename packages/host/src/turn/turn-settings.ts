import { realpath } from 'node:fs/promises'
import type { Reach } from '@parley/agent'
import type { EngineName, ToolOutput } from '@parley/protocol'
import { agentFolders } from '../mount/agent-folders.ts'
import { mountFolder } from '../mount/mount-folder.ts'
import type { TurnPorts } from './turn-ports.ts'

/** What the gateway has of an agent. */
export type AgentSpec = ToolOutput<'host.agent_get'>

/** What a conversation is opened with. A turn for which it is different goes on in it, opened anew. */
export interface EngineSettings {
  readonly engine: EngineName
  readonly model: string
  readonly instructions: string
  /** Where it really is. */
  readonly folder: string
  readonly reach: Reach
  /** What stands for the tools of its mounts as they are now. */
  readonly tools: string
}

/** What the agent is told, and what its mounts say of themselves. */
export const instructionsOf = ({ instructions }: Pick<AgentSpec, 'instructions'>, banner: string | undefined): string =>
  [instructions, banner ?? ''].filter((text) => text !== '').join('\n\n')

/** A Codex asks nobody about what it runs inside of its box, so it may only read, unless policies allow it to run as it likes. */
export const reachOf = (engine: EngineName, mayRun: (program: string) => boolean): Reach =>
  engine === 'codex' && !mayRun(engine) ? 'read-only' : 'workspace-write'

export const isSame = (one: EngineSettings, other: EngineSettings): boolean => JSON.stringify(one) === JSON.stringify(other)

type AgentFolderSpec = Pick<AgentSpec, 'agent_id' | 'folder' | 'folder_refused' | 'folder_granted'>

/** The folder that an agent works in, as it really is: its own, or the one that it was given. Throws why it has none. */
export async function folderOf(
  { agent_id, folder, folder_refused, folder_granted: granted }: AgentFolderSpec,
  { dataFolder, roots }: Pick<TurnPorts, 'dataFolder' | 'roots'>,
): Promise<string> {
  if (folder_refused !== null) throw new Error(folder_refused)
  if (folder !== null) return mountFolder({ folder, granted }, roots)
  return realpath(await agentFolders(dataFolder).makeWork(agent_id))
}

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentId, MountName } from '@parley/protocol'

const OWNER_ONLY = 0o700
/** Names the installation whose agents these are. */
const INSTALLATION_FILE = '.installation'

/** What a host keeps on its disk of agents: a folder for each, and in it one that the agent works in and one for each mount. */
export interface AgentFolders {
  /** The folder of a mount, which is made. Apart from what the agent works in, whatever the mount is called. */
  make(id: AgentId, mount: string): Promise<string>
  /** The folder that the agent works in where it was given no other, which is made. */
  makeWork(id: AgentId): Promise<string>
  list(): Promise<readonly AgentId[]>
  /** Whether they are of this installation; those that nobody has asked about yet are. A host may be pointed at another one. */
  areOf(installation: string): Promise<boolean>
  remove(id: AgentId): Promise<void>
}

export function agentFolders(dataFolder: string): AgentFolders {
  const all = join(dataFolder, 'agents')
  return {
    make: async (id, mount) => {
      const folder = join(all, AgentId.parse(id), 'mounts', MountName.parse(mount))
      await mkdir(folder, { recursive: true, mode: OWNER_ONLY })
      return folder
    },
    makeWork: async (id) => {
      const folder = join(all, AgentId.parse(id), 'work')
      await mkdir(folder, { recursive: true, mode: OWNER_ONLY })
      return folder
    },
    list: async () => {
      const entries = await readdir(all).catch(unlessMissing)
      return (entries ?? []).flatMap((entry) => AgentId.safeParse(entry).data ?? [])
    },
    areOf: async (installation) => {
      const file = join(all, INSTALLATION_FILE)
      const known = await readFile(file, 'utf8').catch(unlessMissing)
      if (known === undefined) await writeFile(file, installation, { mode: 0o600 })
      return known === undefined || known === installation
    },
    // Links in it are removed and not followed.
    remove: (id) => rm(join(all, AgentId.parse(id)), { recursive: true, force: true }),
  }
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}

import { tmpdir } from 'node:os'
import type { ConnectMount, MountServer } from '@parley/agent'
import { LazyProcesses, localBackend, startMcpServer } from '@parley/executor'
import { type ClientTransport, connectClient, httpTransport } from '@parley/rpc'
import { openEnvironments } from '../process/environments.ts'
import { serverLog } from '../process/server-log.ts'
import { ownVersion } from '../version.ts'

/** Ways to the servers that conversations mount. */
export interface MountWays {
  readonly connect: ConnectMount
  /** Ends the servers that were started here. */
  close(): Promise<void>
}

export interface MountWayOptions {
  /** Hears what servers say beside their answers. */
  readonly complain: (text: string) => void
  /** Who we say we are to servers. */
  readonly clientName: string
  /** Where servers that name an environment run. */
  readonly environmentsFile?: string
}

/** What a server gets to end by itself. */
const STOP_MS = 2_000
const SERVERS_MAX = 256

/**
 * Connects to mounted servers. Nothing is spawned, not even the spawner, before the first that is a process. One that names an environment runs
 * there, if a file of environments was given.
 */
export function openMounts({ complain, clientName, environmentsFile }: MountWayOptions): MountWays {
  const processes = new LazyProcesses(SERVERS_MAX)
  const here = localBackend({ processes })
  const environments = environmentsFile === undefined ? undefined : openEnvironments(environmentsFile, processes, complain)
  const transportTo = (server: MountServer): ClientTransport | Promise<ClientTransport> => {
    switch (server.kind) {
      case 'linked':
        return server.open()
      case 'http':
        return httpTransport({ url: server.url, headers: { ...server.headers } })
      case 'stdio': {
        const { command, args, env, folder = tmpdir(), environment } = server
        const spec = { command, args, env, cwd: folder }
        if (environment === undefined) return startMcpServer(spec, here, serverLog(complain))
        if (environments === undefined) throw new TypeError(`there is no environment ${environment} here`)
        return environments.place(environment).then((place) => startMcpServer(spec, place, serverLog(complain)))
      }
    }
  }
  return {
    connect: async ({ server }, signal) =>
      connectClient(await transportTo(server), { clientInfo: { name: clientName, version: ownVersion() }, signal }),
    close: async () => {
      await environments?.close()
      await processes.close(STOP_MS)
    },
  }
}

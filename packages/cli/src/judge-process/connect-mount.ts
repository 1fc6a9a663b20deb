import type { ConnectMount, MountServer } from '@parley/agent'
import { type Processes, childTransport, openProcesses } from '@parley/executor'
import { type ClientTransport, connectClient, httpTransport } from '@parley/rpc'
import { ownVersion } from '../version.ts'

/** Ways to the servers that conversations mount. */
export interface MountWays {
  readonly connect: ConnectMount
  /** Ends the servers that were started here. */
  close(): Promise<void>
}

/** What a server gets to end by itself. */
const STOP_MS = 2_000

/** Connects to mounted servers. Nothing is spawned, not even the spawner, before the first that is a process. */
export function openMounts(complain: (text: string) => void): MountWays {
  let opening: Promise<Processes> | undefined
  const transportTo = (server: MountServer): ClientTransport | Promise<ClientTransport> => {
    switch (server.kind) {
      case 'linked':
        return server.open()
      case 'http':
        return httpTransport({ url: server.url, headers: { ...server.headers } })
      case 'stdio': {
        const { command, args, env, folder } = server
        const spec = { command, args, env, ...(folder === undefined ? {} : { cwd: folder }) }
        opening ??= openProcesses()
        return opening.then((processes) => childTransport(processes, spec, complain))
      }
    }
  }
  return {
    connect: async ({ server }, signal) =>
      connectClient(await transportTo(server), { clientInfo: { name: 'parley-judge', version: ownVersion() }, signal }),
    close: async () => {
      const processes = await opening?.catch(() => undefined)
      await processes?.close(STOP_MS)
    },
  }
}

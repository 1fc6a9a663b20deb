import { type Caller, memoryPair, memoryTransport, serveMemory, type Service } from '@parley/rpc'
import type { MountServer } from './mount.ts'

/** A service of this process as an engine mounts it. */
export function linkedServer(service: Service, caller: Caller): MountServer {
  return {
    kind: 'linked',
    open: () => {
      const { client, server } = memoryPair()
      serveMemory(server, service, caller)
      return memoryTransport(client)
    },
  }
}

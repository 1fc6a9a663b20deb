import type { MemoryEnd } from './client/link/memory-transport.ts'
import { loneWire } from './core/served-wire.ts'
import { LinkServer } from './core/link-server.ts'
import type { Caller, Service } from './service.ts'

/** Serves one caller on an end of a pair in memory: the same server as on the wires, without a socket. */
export function serveMemory<C extends Caller>(end: MemoryEnd, service: Service<C>, caller: C): void {
  const server = new LinkServer<C>({
    served: loneWire({ wire: 'memory', service, caller }),
    caller,
    outlet: {
      send: (text) => {
        end.send(text)
        return true
      },
      drained: () => Promise.resolve(),
      close: (reason) => end.close(reason),
    },
  })
  end.listen(
    (text) => server.receive(text),
    (reason) => server.closed(reason),
  )
}

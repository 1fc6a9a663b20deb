import { randomBytes } from 'node:crypto'
import type { MemoryEnd } from './client/memory-transport.ts'
import { BodyRoom } from './core/body-room.ts'
import { CallerTable } from './core/callers.ts'
import { ChannelServer } from './core/channel-server.ts'
import type { Host } from './core/host.ts'
import { StateSeal } from './core/request-state.ts'
import { Turns } from './core/turns.ts'
import { openReplayRoom, openUnreadRoom } from './core/unread-room.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Caller, Service } from './service.ts'

/** Serves one caller on an end of a pair in memory: the same server as on the wires, without a socket. */
export function serveMemory<C extends Caller>(end: MemoryEnd, service: Service<C>, caller: C): void {
  const host: Host<C> = {
    wire: 'memory',
    door: { authenticate: () => caller, serviceFor: () => service },
    limits: DEFAULT_LIMITS,
    observer: {},
    seal: new StateSeal(randomBytes(32), DEFAULT_LIMITS.requestStateMs, Date.now),
    callers: new CallerTable(),
    bodies: new BodyRoom(DEFAULT_LIMITS),
    unread: openUnreadRoom(DEFAULT_LIMITS),
    replays: openReplayRoom(DEFAULT_LIMITS),
    turns: new Turns(DEFAULT_LIMITS),
    now: Date.now,
    active: { calls: 0 },
  }
  const server = new ChannelServer<C>({
    host,
    caller,
    channel: {
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

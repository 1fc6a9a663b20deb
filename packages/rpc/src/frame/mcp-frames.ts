import type { JsonObject } from '@parley/protocol/wire'
import type { ClientLink, ClientTransport } from '../client/link/client-link.ts'
import { LinkServer } from '../core/link-server.ts'
import { loneWire } from '../core/served-wire.ts'
import type { Limits } from '../limits.ts'
import type { Observer } from '../observer.ts'
import type { Caller, Service } from '../service.ts'
import type { TunnelEnd } from '../tunnel/tunnel-end.ts'
import { TUNNEL_PIECE_BYTES } from '../tunnel/tunnel-end.ts'
import { DEFAULT_FRAME_LIMITS, type FrameLimits, type FrameLink } from './frame-link.ts'
import { webSocketFrames } from './web-socket-frames.ts'

/** The server’s end of a tunnel as a link, instead of being joined with another end. */
export function tunnelFrames(end: TunnelEnd, limits: Partial<FrameLimits> = {}): FrameLink {
  return webSocketFrames(end.take(), { ...DEFAULT_FRAME_LIMITS, pieceBytes: TUNNEL_PIECE_BYTES, ...limits })
}

/** A client of whoever serves MCP on the other end of a link: one message a text. */
export function frameTransport(link: FrameLink): ClientTransport {
  return {
    kind: 'websocket',
    open: (sink, _limits, warn): ClientLink => {
      link.open({
        text: (text) => void sink.receive(text),
        fault: warn,
        ended: (reason) => sink.ended({ code: undefined, reason }),
      })
      return {
        kind: 'websocket',
        send: (text) => link.send(text),
        bufferedBytes: () => link.bufferedBytes(),
        close: async () => link.close(),
      }
    },
  }
}

export interface FrameServerOptions<C extends Caller> {
  readonly link: FrameLink
  readonly service: Service<C>
  readonly caller: C
  /** Whom a request is made for, where whoever sends it speaks for many. Modern era alone. */
  readonly callerIn?: (meta: JsonObject) => C
  readonly limits?: Partial<Limits>
  readonly observer?: Observer<C>
}

/** Serves MCP on a link until it ends. */
export function serveFrames<C extends Caller>(options: FrameServerOptions<C>): void {
  const { link, service, caller, callerIn, limits, observer } = options
  const served = loneWire<C>({ wire: 'websocket', service, caller, limits, observer, callerIn })
  const { streamBufferBytes, answerBytes } = served.limits
  const send = (text: string, belowBytes: number): boolean => {
    if (link.bufferedBytes() > belowBytes) return false
    link.send(text)
    return true
  }
  const server = new LinkServer<C>({
    served,
    caller,
    outlet: {
      send: (text) => send(text, streamBufferBytes),
      // Whoever is told much while it waits must still get what it waits for.
      answer: (text) => send(text, streamBufferBytes + answerBytes),
      drained: () => link.drained(streamBufferBytes),
      close: (reason) => link.close(reason),
    },
  })
  link.open({
    text: (text) => server.receive(text),
    fault: () => undefined,
    ended: (reason) => server.closed(reason),
  })
}

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { Connections, connectionOf } from '../http/connections.ts'
import { ResponseOver } from '../http/response-over.ts'
import { createServer, listen, urlOf } from '../http/listen.ts'
import { reject } from '../http/reject-upgrade.ts'
import type { ListenAt } from '../http/server-options.ts'
import { DEFAULT_FRAME_LIMITS, type FrameLimits, type FrameLink } from './frame-link.ts'
import { webSocketFrames } from './web-socket-frames.ts'

export interface FrameListenerOptions {
  readonly listen: ListenAt
  /** What a bearer must show; without one everybody who can connect comes in. */
  readonly token?: string
  readonly limits?: Partial<FrameLimits>
  /** Somebody came in. Open the link before this returns. */
  readonly onLink: (link: FrameLink) => void
}

export interface FrameListener {
  /** `ws://…` or `wss://…`; for a socket file `unix:PATH`. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Takes WebSockets for texts in both directions. `GET /readyz` answers 200; a page of a browser, which says where it comes from,
 * is refused whatever it shows.
 */
export async function listenFrames(options: FrameListenerOptions): Promise<FrameListener> {
  const limits = { ...DEFAULT_FRAME_LIMITS, ...options.limits }
  const expected = options.token === undefined ? undefined : digest(options.token)
  const links = new Set<FrameLink>()
  const connections = new Connections({ ...limits, inFlightRequests: 1, stalledReaderMs: limits.openMs })
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: limits.frameBytes,
  })
  const server = createServer(options.listen, limits.openMs, (request, response) => {
    if (!connections.asked(request.socket, new ResponseOver(response))) return void request.socket.destroy()
    const isReady = request.url === '/readyz' && (request.method === 'GET' || request.method === 'HEAD')
    response.writeHead(isReady ? 200 : 426, { 'content-type': 'text/plain', ...(isReady ? {} : { upgrade: 'websocket' }) })
    response.end(request.method === 'HEAD' ? undefined : isReady ? 'ready\n' : 'this serves WebSockets\n')
  })
  server.on('connection', (socket) => connections.take(socket))
  server.on('secureConnection', (socket: Socket) => connections.secured(socket))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined)
    const refusal = refusalOf(request, expected) ?? (links.size >= limits.links ? 503 : undefined)
    if (refusal !== undefined) return reject(socket, refusal, '', refusal === 401 ? { 'www-authenticate': 'Bearer' } : {})
    connectionOf(socket)?.upgraded()
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      const link = webSocketFrames(accepted, limits)
      links.add(link)
      accepted.once('close', () => links.delete(link))
      options.onLink(link)
    })
  })
  await listen(server, options.listen)
  return {
    url: 'port' in options.listen ? urlOf(server, options.listen).replace(/^http/, 'ws') : `unix:${options.listen.socketPath}`,
    close: async () => {
      for (const link of links) link.close('the server ends')
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** The status of the refusal, if it is refused. */
function refusalOf({ headers }: IncomingMessage, expected: Buffer | undefined): number | undefined {
  if (headers.origin !== undefined) return 403
  if (expected === undefined) return undefined
  const shown = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  return shown !== undefined && timingSafeEqual(digest(shown), expected) ? undefined : 401
}

/** Of one length whatever the token's, so that comparing takes the same time for all. */
const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { openedSocket } from '../client/link/opened-socket.ts'
import { DEFAULT_FRAME_LIMITS, type FrameLimits, type FrameLink } from './frame-link.ts'
import { webSocketFrames } from './web-socket-frames.ts'

export interface DialFramesOptions {
  /** `ws://…` or `wss://…`, or `unix:PATH` for a socket file. */
  readonly url: string
  /** What is asked for behind a socket file; `/` when left out. */
  readonly path?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly limits?: Partial<FrameLimits>
}

const UNIX = 'unix:'

/** Opens a WebSocket for texts in both directions. Throws `WireError`: `unauthorized`, `http_status` or `unreachable`. */
export function dialFrames({ url, path = '/', token, headers, limits: given }: DialFramesOptions): Promise<FrameLink> {
  const limits = { ...DEFAULT_FRAME_LIMITS, ...given }
  const isFile = url.startsWith(UNIX)
  const socket = new WebSocket(isFile ? `ws://localhost${path}` : url, {
    ...(isFile ? { createConnection: () => connect(url.slice(UNIX.length)) } : {}),
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
    autoPong: false,
    handshakeTimeout: limits.openMs,
  })
  return openedSocket(socket, { name: url, url: isFile ? undefined : new URL(url) }, () => webSocketFrames(socket, limits))
}

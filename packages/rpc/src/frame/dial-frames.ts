import { WebSocket } from 'ws'
import { connectReason } from '../client/link/connect-reason.ts'
import { WireError } from '../wire-error.ts'
import { DEFAULT_FRAME_LIMITS, type FrameLimits, type FrameLink } from './frame-link.ts'
import { webSocketFrames } from './web-socket-frames.ts'

export interface DialFramesOptions {
  /** `ws://…` or `wss://…`, or `unix:PATH` for a socket file. */
  readonly url: string
  readonly token?: string
  readonly limits?: Partial<FrameLimits>
}

const UNIX = 'unix:'

/** Opens a WebSocket for texts in both directions. Throws `WireError`: `unauthorized`, `http_status` or `unreachable`. */
export function dialFrames({ url, token, limits: given }: DialFramesOptions): Promise<FrameLink> {
  const limits = { ...DEFAULT_FRAME_LIMITS, ...given }
  const isFile = url.startsWith(UNIX)
  const socket = new WebSocket(isFile ? `ws+unix:${url.slice(UNIX.length)}:/` : url, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
    autoPong: false,
    handshakeTimeout: limits.openMs,
  })
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(webSocketFrames(socket, limits)))
    socket.once('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0
      const code = status === 401 || status === 403 ? 'unauthorized' : 'http_status'
      reject(new WireError(code, `${url} answered ${status} instead of opening a WebSocket`, { status }))
      response.resume()
      socket.terminate()
    })
    socket.on('error', (cause) => {
      const reason = connectReason(cause, isFile ? undefined : new URL(url))
      reject(new WireError('unreachable', `${url} did not open: ${reason}`, { cause }))
    })
  })
}

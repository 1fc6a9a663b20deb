import type { IncomingMessage } from 'node:http'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@parley/protocol/wire'
import { WebSocket } from 'ws'
import { connectReason } from '../client/link/connect-reason.ts'
import { WireError } from '../wire-error.ts'
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
/** What is read of a refusal. */
const REFUSAL_CHARS = 8_192

/** Opens a WebSocket for texts in both directions. Throws `WireError`: `unauthorized`, `http_status` or `unreachable`. */
export function dialFrames({ url, path = '/', token, headers, limits: given }: DialFramesOptions): Promise<FrameLink> {
  const limits = { ...DEFAULT_FRAME_LIMITS, ...given }
  const isFile = url.startsWith(UNIX)
  const socket = new WebSocket(isFile ? `ws+unix:${url.slice(UNIX.length)}:${path}` : url, {
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
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
      void saidIn(response).then((said) => {
        reject(new WireError(code, said ?? `${url} answered ${status} instead of opening a WebSocket`, { status }))
        socket.terminate()
      })
    })
    socket.on('error', (cause) => {
      const reason = connectReason(cause, isFile ? undefined : new URL(url))
      reject(new WireError('unreachable', `${url} did not open: ${reason}`, { cause }))
    })
  })
}

/** The words of a server of ours, where there are any. */
async function saidIn(response: IncomingMessage): Promise<string | undefined> {
  try {
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk)
      if (text.length > REFUSAL_CHARS) return undefined
    }
    const { error } = objectIn(parseJson(text))
    const { message } = objectIn(error)
    return typeof message === 'string' && message !== '' ? message : undefined
  } catch {
    return undefined
  }
}

const objectIn = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

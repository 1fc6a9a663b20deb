import { TUNNEL_PATH } from '@parley/protocol'
import { type DialFramesOptions, dialFrames, type FrameLink, TUNNEL_PIECE_BYTES } from '@parley/rpc/frame'

/** Opens one end of a tunnel at a gateway: `http://host:port`, `https://…`, or `unix:PATH` for its socket file. */
export function dialTunnel(
  gateway: string,
  options: Pick<DialFramesOptions, 'token' | 'headers'> & { readonly executor?: string },
): Promise<FrameLink> {
  const { executor, ...rest } = options
  const path = executor === undefined ? TUNNEL_PATH : `${TUNNEL_PATH}?executor=${encodeURIComponent(executor)}`
  const isFile = gateway.startsWith('unix:')
  const url = isFile ? gateway : `${gateway.replace(/^http/, 'ws').replace(/\/+$/, '')}${path}`
  return dialFrames({ ...rest, url, path, limits: { pieceBytes: TUNNEL_PIECE_BYTES } })
}

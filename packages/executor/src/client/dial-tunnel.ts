import { type AgentClaim, TUNNEL_PATH } from '@parley/protocol'
import { type DialFramesOptions, dialFrames, type FrameLink, TUNNEL_PIECE_BYTES, WireError } from '@parley/rpc/frame'

export interface TunnelOptions extends Pick<DialFramesOptions, 'token' | 'headers'> {
  /** The executor to reach, by its name. Left out by a worker that dials back. */
  readonly executor?: string
  /** The agent that a host holds and reaches the executor for. */
  readonly claim?: AgentClaim
}

/** Opens one end of a tunnel at a gateway: `http://host:port`, `https://…`, or `unix:PATH` for its socket file. */
export async function dialTunnel(gateway: string, options: TunnelOptions): Promise<FrameLink> {
  const { executor, claim, ...rest } = options
  const query = new URLSearchParams({ ...(executor === undefined ? {} : { executor }), ...claim }).toString()
  const path = query === '' ? TUNNEL_PATH : `${TUNNEL_PATH}?${query}`
  const isFile = gateway.startsWith('unix:')
  const url = isFile ? gateway : `${gateway.replace(/^http/, 'ws').replace(/\/+$/, '')}${path}`
  try {
    return await dialFrames({ ...rest, url, path, limits: { pieceBytes: TUNNEL_PIECE_BYTES } })
  } catch (error) {
    // A gateway says in whole sentences why not; by which status, and that it was to be a WebSocket, is nothing to people.
    if (!(error instanceof WireError) || error.said === undefined) throw error
    throw new WireError(error.code, error.said, { ...(error.status === undefined ? {} : { status: error.status }), cause: error })
  }
}

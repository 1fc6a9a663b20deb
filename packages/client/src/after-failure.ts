import { RPC_CODES, RpcError, ToolError, type ToolErrorCode } from '@parley/protocol'
import { WireError, type WireErrorCode } from '@parley/rpc/browser'

/**
 * What a failure calls for, of a call as of a try to connect.
 * - `reconnect`: the connection is not to be trusted any more. Another one, and then again.
 * - `wait`: whoever answered cannot do it now. Again after a pause, on the same connection.
 * - `few`: a fault of the gateway's own, which may pass or not. Like `wait`, but only a few times.
 * - `refused`: the token is not taken. What follows depends on who is speaking (`Patience.refused`).
 * - `final`: asked again it would be the same.
 */
export type AfterFailure = 'reconnect' | 'wait' | 'few' | 'refused' | 'final'

/** The one table of failures that are worth another try. A new code does not compile before it stands here. */
const AFTER_WIRE: Readonly<Record<WireErrorCode, AfterFailure | 'by-status'>> = {
  closed: 'reconnect',
  timeout: 'reconnect',
  aborted: 'final',
  // A bound of our own: the answers that are under way make room.
  overloaded: 'wait',
  too_large: 'final',
  bad_message: 'final',
  stream_lost: 'reconnect',
  // A new session is open already, but who follows or is told something has to ask for it again.
  session_lost: 'reconnect',
  http_status: 'by-status',
  unauthorized: 'refused',
  unreachable: 'reconnect',
  unsupported_version: 'final',
  cannot_answer: 'final',
  too_many_rounds: 'final',
}

const AFTER_TOOL: Readonly<Record<ToolErrorCode, AfterFailure>> = {
  invalid_argument: 'final',
  not_found: 'final',
  already_exists: 'final',
  forbidden: 'final',
  conflict: 'final',
  quota_exceeded: 'final',
  rate_limited: 'wait',
  lease_lost: 'final',
  no_session: 'final',
  unavailable: 'wait',
  internal: 'few',
}

/** What a proxy before the gateway says while the gateway starts again; some say 404 for as long as nobody is behind them. */
const PASSING_STATUS: ReadonlySet<number> = new Set([404, 408, 425])
const TOO_MANY = 429
const SERVER_FAULTS = 500

export function afterFailure(error: unknown): AfterFailure {
  if (error instanceof WireError) {
    const after = AFTER_WIRE[error.code]
    return after === 'by-status' ? afterStatus(error.status) : after
  }
  if (error instanceof ToolError) return AFTER_TOOL[error.code]
  return error instanceof RpcError && error.code === RPC_CODES.overloaded ? 'wait' : 'final'
}

function afterStatus(status: number | undefined): AfterFailure {
  if (status === undefined || PASSING_STATUS.has(status) || status >= SERVER_FAULTS) return 'reconnect'
  return status === TOO_MANY ? 'wait' : 'final'
}

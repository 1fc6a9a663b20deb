/**
 * Why a message did not get through, on our side of the wire. What the peer itself said is an `RpcError`.
 * - `closed`: the connection ended; connect again.
 * - `timeout`: no answer in time; the peer was told to stop.
 * - `aborted`: the caller's own signal.
 * - `overloaded`: a bound of this client is reached; wait for answers first.
 * - `too_large`: a message beyond `messageBytes`.
 * - `bad_message`: the peer broke the protocol.
 * - `stream_lost`: the answer's stream broke and cannot be resumed; the request may or may not have run.
 * - `session_lost`: the server forgot the session; a new one is open, and the caller decides whether to repeat.
 * - `http_status`: an HTTP status that carries no JSON-RPC error; see `status`.
 * - `unauthorized`: 401 or 403.
 * - `unreachable`: no connection could be made.
 * - `unsupported_version`: no revision in common.
 * - `cannot_answer`: the server asked for something that no handler answers.
 * - `too_many_rounds`: the server kept asking.
 */
export type WireErrorCode =
  | 'closed'
  | 'timeout'
  | 'aborted'
  | 'overloaded'
  | 'too_large'
  | 'bad_message'
  | 'stream_lost'
  | 'session_lost'
  | 'http_status'
  | 'unauthorized'
  | 'unreachable'
  | 'unsupported_version'
  | 'cannot_answer'
  | 'too_many_rounds'

/** A failure of the wire that stays local. Switch on `code`. */
export class WireError extends Error {
  readonly code: WireErrorCode
  readonly status: number | undefined
  /** What the peer itself said of a refusal, without who it is and by which status: `message` has all of it. */
  readonly said: string | undefined
  constructor(code: WireErrorCode, message: string, more: { status?: number; said?: string | undefined; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'WireError'
    this.code = code
    this.status = more.status
    this.said = more.said
  }
}

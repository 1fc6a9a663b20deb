import { FOREIGN_BOUNDS, type ParseBounds } from '@parley/protocol/wire'

/** Every bound of a client connection, by name. Of a message's values and depth: looked at before it is parsed. */
export interface ClientLimits extends ParseBounds {
  /** The largest message, in bytes, in either direction. */
  readonly messageBytes: number
  /** Requests of ours that may wait for an answer. */
  readonly pendingRequests: number
  /** Requests of the server that we answer at one time. */
  readonly pendingAsks: number
  /** Bytes that may wait for a server that does not read. */
  readonly bufferedBytes: number
  /** How long a request waits; progress starts the clock again, up to `longestRequestMs`. */
  readonly requestTimeoutMs: number
  readonly longestRequestMs: number
  /** How long a shared pipe or socket may leave the probe for the modern era unanswered. */
  readonly probeTimeoutMs: number
  /** Rounds of `input_required` that one call may take, and the pause before a round without questions. */
  readonly inputRounds: number
  readonly inputPauseMs: number
  /** First and longest wait before a lost stream is opened again, unless the server says otherwise. */
  readonly reconnectMs: number
  readonly reconnectMaxMs: number
  /** The longest wait that a server may ask for with `retry:`. */
  readonly retryMaxMs: number
  /** Tries in a row to resume the stream of one request. */
  readonly resumeAttempts: number
  /** A stream without a byte for this long is taken for dead and opened again. */
  readonly silentStreamMs: number
  /** A WebSocket that is silent this long is pinged, and cut when the answer does not come as soon. */
  readonly keepAliveMs: number
  /** Resources watched at one time. */
  readonly subscriptions: number
  /** Pages that a list may have. */
  readonly listPages: number
  /** How long `close` waits for the server to take note. */
  readonly closeMs: number
}

export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  ...FOREIGN_BOUNDS,
  messageBytes: 16 * 1024 * 1024,
  pendingRequests: 1_024,
  pendingAsks: 32,
  bufferedBytes: 32 * 1024 * 1024,
  requestTimeoutMs: 60_000,
  longestRequestMs: 60 * 60_000,
  probeTimeoutMs: 5_000,
  inputRounds: 10,
  inputPauseMs: 250,
  reconnectMs: 1_000,
  reconnectMaxMs: 30_000,
  retryMaxMs: 60_000,
  resumeAttempts: 5,
  silentStreamMs: 5 * 60_000,
  keepAliveMs: 30_000,
  subscriptions: 1_024,
  listPages: 1_000,
  closeMs: 2_000,
}

/** Every bound of a relay, by name. */
export interface RelayLimits {
  /** Upstream connections besides the shared one: for sessions that can be asked something, and for such calls of modern clients. */
  readonly ownUpstreams: number
  /** How many of them one caller may have, so that others find one. */
  readonly ownUpstreamsPerCaller: number
  /**
   * One at whose other end nobody has been for so long (no stream, no socket, no request) is ended where there is no room for
   * another. A client that only sends requests is quiet between them, so this is longer than it mostly is.
   */
  readonly unattendedMs: number
  /** Calls of modern clients that wait upstream for an answer, and how long each may wait for it. */
  readonly parkedCalls: number
  readonly parkedMs: number
  /** How long one call may take upstream. */
  readonly callMs: number
  /** How long a modern server may take to say whether it speaks with legacy clients too. */
  readonly eraProbeMs: number
  /** First and longest wait before an upstream that ended is dialled again. */
  readonly reconnectMs: number
  readonly reconnectMaxMs: number
}

export const DEFAULT_RELAY_LIMITS: RelayLimits = {
  ownUpstreams: 32,
  ownUpstreamsPerCaller: 16,
  unattendedMs: 60_000,
  parkedCalls: 256,
  parkedMs: 10 * 60_000,
  callMs: 60 * 60_000,
  eraProbeMs: 10_000,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
}
